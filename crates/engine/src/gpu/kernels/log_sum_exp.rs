//! Computes log-probabilities from logits, one tile of the vocabulary at a time.

use super::{one_dimensional, workgroup_per_item};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        token: usize,
        length: usize,
    }
}

/// A tile of logits and the positions to which it belongs.
pub struct LogSumExp<'a> {
    /// `[n, length]`.
    pub logits: &'a Buffer,
    /// Target tokens of all positions.
    pub targets: &'a Buffer,
    /// `[positions, 4]`: largest logit, sum of exp(logit - largest), target's logit, and the sum of `kl_divergence`.
    pub state: &'a Buffer,
    /// The first position.
    pub first: usize,
    pub n: usize,
    /// First token of the vocabulary in the tile. Tiles come in order, from token 0 on.
    pub token: usize,
    pub length: usize,
}

/// Adds the tile to the state of its positions.
pub fn record<'a>(recording: &mut Recording<'a>, args: &LogSumExp<'a>) {
    let &LogSumExp { logits, targets, state, first, n, token, length } = args;
    let kernel = kernel(recording.gpu().variant);
    recording.dispatch(kernel, Params { n, first, token, length }, &[logits, targets, state], [n, 1]);
}

/// ln of the sum of exp(logit), from one position's state.
pub fn log_sum_exp(state: &[f32]) -> f64 {
    f64::from(state[0]) + f64::from(state[1]).ln()
}

/// ln p of the target from one position's state.
pub fn log_prob(state: &[f32]) -> f64 {
    f64::from(state[2] - state[0]) - f64::from(state[1]).ln()
}

pub fn kernel(variant: &Variant) -> Kernel {
    let kernel = if variant.shares_memory { workgroup_per_item("log_sum_exp_shared") } else { one_dimensional("log_sum_exp") };
    kernel.with_params(Params::WGSL)
}

/// ln of the sum of exp(logit) by the definition, in float64.
pub fn reference(logits: &[f32]) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    f64::from(largest) + logits.iter().map(|&logit| f64::from(logit - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus_and_interpreters, random};

    /// One token is likely. All others are so unlikely that each rounds up when it is added to the likely one. With a single f32 sum, the
    /// error would be 0.01 nat.
    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn large_vocabulary_keeps_its_small_terms() {
        const VOCAB: usize = 262_144;
        for gpu in gpus_and_interpreters().await {
            let length = gpu.variant.vocab_tile;
            let mut logits = vec![7e-8_f32.ln(); VOCAB];
            logits[5] = 0.0;
            let targets = gpu.buffer_with("targets", &[5]);
            let state = gpu.buffer("state", 4);
            let tiles: Vec<Buffer> = logits.chunks(length).map(|tile| gpu.buffer_with_f32("logits", tile)).collect();
            for (i, tile) in tiles.iter().enumerate() {
                let mut recording = Recording::new(&gpu);
                let token = i * length;
                record(&mut recording, &LogSumExp { logits: tile, targets: &targets, state: &state, first: 0, n: 1, token, length });
                recording.run();
            }
            let state = gpu.read_f32(&state, 4).await.unwrap();
            let (ours, reference) = (log_prob(&state), -reference(&logits));
            assert!((ours - reference).abs() < 3e-5, "{}: {ours} {reference}", gpu.variant.name);
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn log_probs_over_tiles_match_whole_vocabulary() {
        const VOCAB: usize = 150;
        for gpu in gpus_and_interpreters().await {
            for n in [1, 63, 64, 65] {
                let logits: Vec<f32> = random(n * VOCAB, 8).iter().map(|value| 30.0 * value).collect();
                let targets: Vec<u32> = (0..n as u32).map(|i| i * 31 % VOCAB as u32).collect();
                let all_targets = gpu.buffer_with("targets", &[&[0], &targets[..]].concat());
                let state = gpu.buffer("state", 4 * (n + 1));
                for (token, length) in [(0, 64), (64, 65), (129, 21)] {
                    let tile: Vec<f32> = logits.chunks(VOCAB).flat_map(|row| row[token..token + length].to_vec()).collect();
                    let tile = gpu.buffer_with_f32("logits", &tile);
                    let mut recording = Recording::new(&gpu);
                    record(&mut recording, &LogSumExp { logits: &tile, targets: &all_targets, state: &state, first: 1, n, token, length });
                    recording.run();
                }
                let state = gpu.read_f32(&state, 4 * (n + 1)).await.unwrap();
                for (i, &target) in targets.iter().enumerate() {
                    let logits = &logits[i * VOCAB..][..VOCAB];
                    let (ours, reference) = (log_prob(&state[4 * (i + 1)..]), f64::from(logits[target as usize]) - reference(logits));
                    assert!((ours - reference).abs() < 2e-5, "{ours} {reference}");
                }
            }
        }
    }
}
