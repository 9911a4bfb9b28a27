//! Finds the most likely allowed token of each of several rows, one tile of the vocabulary at a time.

use super::one_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        token: usize,
        length: usize,
    }
}

/// A tile of logits and the rows to which it belongs.
pub struct MaskedArgmax<'a> {
    /// `[n, length]`.
    pub logits: &'a Buffer,
    /// One forbidden token for each row.
    pub excluded: &'a Buffer,
    /// Tokens that are forbidden in all rows: see [`token_bitmap`].
    pub forbidden: &'a Buffer,
    /// `[rows, 2]`: bits of the largest logit, and its token. Unchanged if no token is allowed. If a logit is infinite or NaN: infinity
    /// and no token.
    pub best: &'a Buffer,
    /// The first row.
    pub first: usize,
    pub n: usize,
    /// First token of the vocabulary in the tile. Tiles come in order, from token 0 on.
    pub token: usize,
    pub length: usize,
}

/// Updates the best tokens of the rows with the tile.
pub fn record<'a>(recording: &mut Recording<'a>, args: &MaskedArgmax<'a>) {
    let &MaskedArgmax { logits, excluded, forbidden, best, first, n, token, length } = args;
    recording.dispatch(kernel(), Params { n, first, token, length }, &[logits, excluded, forbidden, best], [n, 1]);
}

/// One bit per token of the vocabulary, set for the tokens in `tokens`.
pub fn token_bitmap(tokens: &[u32], vocab_size: usize) -> Vec<u32> {
    let mut bits = vec![0; vocab_size.div_ceil(32)];
    tokens.iter().for_each(|&token| bits[token as usize / 32] |= 1 << (token % 32));
    bits
}

pub fn kernel() -> Kernel {
    one_dimensional("masked_argmax").with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn row_gets_most_likely_allowed_token() {
        const VOCAB: usize = 150;
        for gpu in gpus_and_interpreters().await {
            for n in [1, 63, 64, 65] {
                let logits = random(n * VOCAB, 5);
                let order = |row: usize| {
                    let mut tokens: Vec<u32> = (0..VOCAB as u32).collect();
                    tokens.sort_by(|&a, &b| logits[row * VOCAB + b as usize].total_cmp(&logits[row * VOCAB + a as usize]));
                    tokens
                };
                let excluded: Vec<u32> = std::iter::once(0).chain((0..n).map(|row| order(row)[0])).collect();
                let forbidden = [order(0)[1], 7];
                let [excluded_buffer, forbidden_buffer] =
                    [&excluded, &token_bitmap(&forbidden, VOCAB)].map(|words| gpu.buffer_with("words", words));
                let best = gpu.buffer("best", 2 * (n + 1));
                for (token, length) in [(0, 64), (64, 65), (129, 21)] {
                    let tile: Vec<f32> = logits.chunks(VOCAB).flat_map(|row| row[token..token + length].to_vec()).collect();
                    let tile = gpu.buffer_with_f32("logits", &tile);
                    let mut recording = Recording::new(&gpu);
                    let (excluded, forbidden) = (&excluded_buffer, &forbidden_buffer);
                    record(&mut recording, &MaskedArgmax { logits: &tile, excluded, forbidden, best: &best, first: 1, n, token, length });
                    recording.run();
                }
                let best = gpu.read(&best, 2 * (n + 1)).await.unwrap();
                for row in 0..n {
                    let allowed = order(row).into_iter().find(|token| !forbidden.contains(token) && excluded[row + 1] != *token).unwrap();
                    assert_eq!(best[2 * (row + 1)..][..2], [logits[row * VOCAB + allowed as usize].to_bits(), allowed]);
                }
                assert_eq!(best[..2], [0, 0]);
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn non_finite_logit_is_reported() {
        for gpu in gpus_and_interpreters().await {
            // NaN in the first tile, in the second tile, in no tile.
            for (bad, is_found) in [(3, false), (80, false), (200, true)] {
                let mut logits = random(200, 6);
                if let Some(logit) = logits.get_mut(bad) {
                    *logit = f32::NAN;
                }
                let [excluded, forbidden] = [0, 0].map(|word| gpu.buffer_with("words", &[word; 7]));
                let best = gpu.buffer_with("best", &[f32::NEG_INFINITY.to_bits(), u32::MAX]);
                for (token, length) in [(0, 64), (64, 64), (128, 72)] {
                    let logits = gpu.buffer_with_f32("logits", &logits[token..token + length]);
                    let mut recording = Recording::new(&gpu);
                    let (excluded, forbidden, best) = (&excluded, &forbidden, &best);
                    record(&mut recording, &MaskedArgmax { logits: &logits, excluded, forbidden, best, first: 0, n: 1, token, length });
                    recording.run();
                }
                assert_eq!(gpu.read(&best, 2).await.unwrap()[1] != u32::MAX, is_found, "{bad} {}", gpu.variant.name);
            }
        }
    }
}
