//! Finds the most likely tokens at each of several positions, one tile of the vocabulary at a time.

use super::{one_dimensional, workgroup_per_item};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;
use crate::lm::N_TOP_TOKENS;
use glasscage_model::tokenizer::TokenId;

/// Words of one position's entries.
pub const N_WORDS: usize = 2 * N_TOP_TOKENS;
const NO_TOKEN: u32 = u32::MAX;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        token: usize,
        length: usize,
    }
}

/// A tile of logits and the positions to which it belongs.
pub struct TopTokens<'a> {
    /// `[n, length]`.
    pub logits: &'a Buffer,
    /// `[positions, N_TOP_TOKENS, 2]`: bits of the logit, and its token; the most likely token first.
    pub entries: &'a Buffer,
    /// The first position.
    pub first: usize,
    pub n: usize,
    /// First token of the vocabulary in the tile. Tiles come in order, from token 0 on.
    pub token: usize,
    pub length: usize,
}

/// Updates the most likely tokens of the positions with the tile.
pub fn record<'a>(recording: &mut Recording<'a>, args: &TopTokens<'a>) {
    let &TopTokens { logits, entries, first, n, token, length } = args;
    let kernel = kernel(recording.gpu().variant);
    recording.dispatch(kernel, Params { n, first, token, length }, &[logits, entries], [n, 1]);
}

/// Tokens and logits from one position's entries, the most likely first.
pub fn top_tokens(entries: &[u32]) -> impl Iterator<Item = (TokenId, f32)> {
    let (entries, _) = entries.as_chunks::<2>();
    entries.iter().filter(|entry| entry[1] != NO_TOKEN).map(|&[logit, token]| (token, f32::from_bits(logit)))
}

pub fn kernel(variant: &Variant) -> Kernel {
    let kernel = if variant.shares_memory { workgroup_per_item("top_tokens_shared") } else { one_dimensional("top_tokens") };
    kernel.with_u32("KEPT", N_TOP_TOKENS).with_params(Params::WGSL)
}

/// Entries of one position by sorting its logits.
pub fn reference(logits: &[f32]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..logits.len()).filter(|&token| logits[token].is_finite()).collect();
    order.sort_by(|&a, &b| logits[b].partial_cmp(&logits[a]).expect("finite logits have an order").then(a.cmp(&b)));
    let entry = |token: &usize| [logits[*token].to_bits(), *token as u32];
    let entries = order.iter().map(entry).chain(std::iter::repeat([0, NO_TOKEN]));
    entries.take(N_TOP_TOKENS).flatten().collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus_and_interpreters, random};

    /// Compares the entries of `n` rows of logits with the reference. The vocabulary comes in `tiles`.
    async fn check(n: usize, logits: &[f32], tiles: &[(usize, usize)]) {
        const SENTINEL: u32 = 0x5e5e_5e5e;
        let vocab_size = logits.len() / n;
        for gpu in gpus_and_interpreters().await {
            let entries = gpu.buffer_with("entries", &vec![SENTINEL; N_WORDS * (n + 2)]);
            for &(token, length) in tiles {
                let tile: Vec<f32> = logits.chunks(vocab_size).flat_map(|row| row[token..token + length].to_vec()).collect();
                let tile = gpu.buffer_with_f32("logits", &tile);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &TopTokens { logits: &tile, entries: &entries, first: 1, n, token, length });
                recording.run();
            }
            let found = gpu.read(&entries, N_WORDS * (n + 2)).await.unwrap();
            for (row, logits) in logits.chunks(vocab_size).enumerate() {
                assert_eq!(found[N_WORDS * (row + 1)..][..N_WORDS], reference(logits), "row {row} of {n}, {}", gpu.variant.name);
            }
            assert_eq!([&found[..N_WORDS], &found[N_WORDS * (n + 1)..]].concat(), [SENTINEL; 2 * N_WORDS], "{}", gpu.variant.name);
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn top_tokens_over_tiles_match_sorted_vocabulary() {
        for n in [1, 63, 64, 65] {
            check(n, &random(n * 150, 9), &[(0, 64), (64, 65), (129, 21)]).await;
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn lower_token_comes_first_of_equal_logits() {
        // Three different logits, so that ties cross the tiles; zeros have both signs.
        let logits: Vec<f32> = (0..3 * 140).map(|i| [1.0, 0.0, -0.0, -2.0, 1.0, 0.5][i * 7 % 6]).collect();
        check(3, &logits, &[(0, 64), (64, 65), (129, 11)]).await;
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn missing_tokens_and_non_finite_logits_have_no_entry() {
        check(2, &random(2 * 4, 3), &[(0, 1), (1, 3)]).await;
        let mut logits = random(2 * 90, 4);
        for (at, value) in [(0, f32::NAN), (7, f32::INFINITY), (89, f32::NEG_INFINITY), (90, f32::NEG_INFINITY), (170, f32::NAN)] {
            logits[at] = value;
        }
        check(2, &logits, &[(0, 45), (45, 45)]).await;
        check(1, &[f32::NAN; 70], &[(0, 64), (64, 6)]).await;
    }
}
