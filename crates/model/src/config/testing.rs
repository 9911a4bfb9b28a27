//! Configurations for tests.

use super::Config;
use crate::arch;

/// The configuration of a model with these heads; everything else is arbitrary.
pub fn config(architecture: &str, n_heads: usize, n_kv_heads: usize, head_dim: usize) -> Config {
    Config {
        architecture: arch::by_name(architecture).expect("a known architecture"),
        n_layers: 1,
        n_unused_layers: 0,
        dim: 64,
        ffn_dim: 64,
        n_heads,
        n_kv_heads,
        head_dim,
        rotated_dim: head_dim,
        vocab_size: 64,
        context_length: 64,
        norm_epsilon: 1e-5,
        rope_base: 10_000.0,
        rope_scale: 1.0,
        unrotated_every: 0,
        window: None,
        recurrence: None,
        attention_scale: (head_dim as f64).powf(-0.5),
        residual_scale: 1.0,
        embedding_scale: 1.0,
        logit_scale: 1.0,
    }
}
