//! How much GPU memory a model needs, from its header alone.

use super::format::row_words;
use super::kernels::padded;
use super::memories::length_of_passes;
use super::mixer_sizes::MixerSizes;
use super::variant::Variant;
use super::weights::shape;
use crate::model::config::Config;
use crate::model::gguf::Gguf;

/// The length of text that is assumed, in tokens.
const TOKENS: usize = 512;
/// Passes at once, where layers remember them.
const PASSES: usize = 16;

/// Bytes for the weights, the keys and values of a text of 512 tokens, and the temporaries of a layer and the LM head. A test checks
/// that it is within a third of what a run on such a text takes.
pub fn estimate(gguf: &Gguf, config: &Config, variant: &Variant) -> u64 {
    let weights: usize = gguf
        .tensors
        .iter()
        .map(|tensor| {
            let (rows, columns) = shape(tensor);
            rows * row_words(tensor.quant, columns)
        })
        .sum();
    let MixerSizes { projected, prepared, products, mixed, .. } = MixerSizes::largest(config);
    let row = projected + prepared + products + mixed + 2 * config.ffn_dim + padded(config.ffn_dim);
    let block = variant.block_rows.min(TOKENS);
    let layer = block * (row + 4 * padded(config.dim));
    let head = block * variant.vocab_tile.min(config.vocab_size) + config.vocab_size;
    let suffixes = TOKENS * (MixerSizes::largest_slot(config, false) + padded(config.dim));
    4 * (weights + of_text(config, TOKENS, PASSES) + suffixes + layer + head) as u64
}

/// f32 of what layers keep of a text, and of so many passes that begin in it where layers remember them.
fn of_text(config: &Config, tokens: usize, passes: usize) -> usize {
    let of_layer = |layer| match MixerSizes::of(config, layer) {
        MixerSizes { memory: 0, slot, .. } => tokens * slot,
        MixerSizes { slot, .. } => tokens * padded(config.dim) + config.taps() * slot,
    };
    let columns = tokens * MixerSizes::largest_slot(config, true);
    (0..config.n_layers).map(of_layer).sum::<usize>() + columns + length_of_passes(config, passes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing;
    use crate::model::config::{DeltaNet, Recurrence};

    /// Three layers in four have a memory with 16 heads of 128 values, as in Qwen 3.5 of 0.8 billion parameters.
    fn config_of_0_8b(has_memories: bool) -> Config {
        let net = DeltaNet { n_key_heads: 16, n_value_heads: 16, head_dim: 128 };
        let layers = (1..=24).map(|layer| has_memories && layer % 4 != 0).collect();
        let recurrence = Some(Recurrence { taps: 4, layers, delta_net: Some(net) });
        Config { n_layers: 24, dim: 1024, ffn_dim: 3584, recurrence, ..testing::config("qwen35", 8, 2, 256) }
    }

    #[test]
    fn twenty_sources_of_a_model_with_memories_take_a_few_tens_of_megabytes() {
        let megabytes = |config: &Config, tokens, passes| 4e-6 * of_text(config, tokens, passes) as f64;
        let (attention, memories) = (config_of_0_8b(false), config_of_0_8b(true));
        assert_eq!(megabytes(&attention, 300, 20).round(), 29.0);
        // What is projected of the tokens in 18 layers (22), their columns in one (7), a few in all (2), keys and values in 6 (7), states
        // of the text in 18 layers (19) and of the passes in one (21).
        assert_eq!(megabytes(&memories, 300, 20).round(), 79.0);
        // Of a longer text, for each token what attention everywhere would take, nearly.
        let per_token = |config: &Config| megabytes(config, 4000, 20) - megabytes(config, 3000, 20);
        assert!(per_token(&memories) < 1.3 * per_token(&attention));
    }
}
