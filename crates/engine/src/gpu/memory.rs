//! Estimates how much GPU memory a model needs, from the header of its file.

use super::format::row_words;
use super::kernels::padded;
use super::mixer_sizes::MixerSizes;
use super::recurrent_states::length_of_passes;
use super::variant::Variant;
use super::weights::shape;
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;

/// Assumed length of the text, in tokens.
const TOKENS: usize = 512;
/// Passes that are computed together in models with recurrent layers.
const PASSES: usize = 16;

/// Estimated bytes for the weights, the keys and values of a text of 512 tokens, and the temporary buffers of a layer and the LM head. A
/// test checks that the estimate is within a third of what such a run allocates. Sums have 64 bits, because they may exceed the 32 bits of
/// WebAssembly.
pub fn estimate(gguf: &Gguf, config: &Config, variant: &Variant) -> u64 {
    let weights: u64 = gguf
        .tensors
        .iter()
        .map(|tensor| {
            let (rows, columns) = shape(tensor);
            rows as u64 * row_words(tensor.quant, columns) as u64
        })
        .sum();
    let MixerSizes { projected, prepared, products, mixed, .. } = MixerSizes::largest(config);
    let row = projected + prepared + products + mixed + 2 * config.ffn_dim + padded(config.ffn_dim);
    let block = variant.block_rows.min(TOKENS);
    let layer = block as u64 * (row + 4 * padded(config.dim)) as u64;
    let head = block as u64 * variant.vocab_tile.min(config.vocab_size) as u64 + config.vocab_size as u64;
    let suffixes = TOKENS as u64 * (MixerSizes::largest_slot(config, false) + padded(config.dim)) as u64;
    4 * (weights + of_text(config, TOKENS, PASSES) + suffixes + layer + head)
}

/// f32 values in the caches of a text, and in the recurrent states of `passes` passes that begin inside it.
fn of_text(config: &Config, tokens: usize, passes: usize) -> u64 {
    let product = |a: usize, b: usize| a as u64 * b as u64;
    let of_layer = |layer| match MixerSizes::of(config, layer) {
        MixerSizes { state: 0, slot, .. } => product(tokens, slot),
        MixerSizes { slot, .. } => product(tokens, padded(config.dim)) + product(config.taps(), slot),
    };
    let columns = product(tokens, MixerSizes::largest_slot(config, true));
    (0..config.n_layers).map(of_layer).sum::<u64>() + columns + length_of_passes(config, passes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing;
    use glasscage_model::config::{DeltaNet, Recurrence};

    /// Three of four layers are recurrent, with 16 heads of 128 values, as in Qwen 3.5 0.8B.
    fn config_of_0_8b(has_recurrent_layers: bool) -> Config {
        let net = DeltaNet { n_key_heads: 16, n_value_heads: 16, head_dim: 128 };
        let layers = (1..=24).map(|layer| has_recurrent_layers && layer % 4 != 0).collect();
        let recurrence = Some(Recurrence { taps: 4, layers, delta_net: Some(net) });
        Config { n_layers: 24, dim: 1024, ffn_dim: 3584, recurrence, ..testing::config("qwen35", 8, 2, 256) }
    }

    #[test]
    fn recurrent_states_of_twenty_passes_take_79_mb() {
        let megabytes = |config: &Config, tokens, passes| 4e-6 * of_text(config, tokens, passes) as f64;
        let (attention, recurrent) = (config_of_0_8b(false), config_of_0_8b(true));
        assert_eq!(megabytes(&attention, 300, 20).round(), 29.0);
        // Cached inputs of the tokens in 18 layers (22), their convolution inputs in one layer (7), the last few in all layers (2), keys
        // and values in 6 layers (7), states of the text in 18 layers (19) and of the passes in one layer (21).
        assert_eq!(megabytes(&recurrent, 300, 20).round(), 79.0);
        // Each token of a longer text takes little more than with attention in all layers.
        let per_token = |config: &Config| megabytes(config, 4000, 20) - megabytes(config, 3000, 20);
        assert!(per_token(&recurrent) < 1.3 * per_token(&attention));
    }
}
