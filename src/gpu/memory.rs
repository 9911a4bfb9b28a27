//! How much GPU memory a model needs, from its header alone.

use super::format::row_words;
use super::kernels::padded;
use super::mixer_sizes::MixerSizes;
use super::variant::Variant;
use super::weights::shape;
use crate::model::config::Config;
use crate::model::gguf::Gguf;

/// The length of text that is assumed, in tokens.
const TOKENS: usize = 512;

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
    let MixerSizes { projected, prepared, mixed, slot, memory } = MixerSizes::largest(config);
    let text = TOKENS * (slot + (0..config.n_layers).map(|layer| MixerSizes::of(config, layer).slot).sum::<usize>());
    let memories = (0..config.n_layers).map(|layer| MixerSizes::of(config, layer).memory).sum::<usize>() + memory;
    let row = projected + prepared + mixed + 2 * config.ffn_dim + padded(config.ffn_dim);
    let block = variant.block_rows.min(TOKENS);
    let layer = block * (row + 4 * padded(config.dim));
    let head = block * variant.vocab_tile.min(config.vocab_size) + config.vocab_size;
    4 * (weights + text + memories + layer + head + TOKENS * padded(config.dim)) as u64
}
