//! Logits to log-probabilities, one tile of the vocabulary at a time.

use super::{line, workgroup_each};
use crate::gpu::device::Buffer;
use crate::gpu::recording::Recording;

/// A tile of logits and the positions it belongs to.
pub struct Tile<'a> {
    /// `[n, length]`.
    pub logits: &'a Buffer,
    /// Target tokens of all positions.
    pub targets: &'a Buffer,
    /// `[positions, 4]`: largest logit, sum of exp(logit - largest), target's logit.
    pub state: &'a Buffer,
    /// The first position.
    pub first: usize,
    pub n: usize,
    /// The first token of the vocabulary in the tile: tiles come in order, from 0 on.
    pub token: usize,
    pub length: usize,
}

pub fn record<'a>(recording: &mut Recording<'a>, tile: &Tile<'a>) {
    let &Tile { logits, targets, state, first, n, token, length } = tile;
    let kernel = if recording.gpu().variant.shares_memory { workgroup_each("log_sum_exp_shared") } else { line("log_sum_exp") };
    let parameters = [n, first, token, length].map(|number| number as u32);
    recording.dispatch(&kernel, &parameters, &[logits, targets, state], [n, 1]);
}

/// ln p of the target from one position's state.
pub fn log_prob(state: &[f32]) -> f64 {
    f64::from(state[2] - state[0]) - f64::from(state[1]).ln()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus, random};

    fn twin(logits: &[f32], target: usize) -> f64 {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = logits.iter().map(|&logit| f64::from(logit - largest).exp()).sum();
        f64::from(logits[target] - largest) - sum.ln()
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn log_probs_over_tiles_are_those_over_the_whole_vocabulary() {
        const VOCAB: usize = 150;
        for gpu in gpus().await {
            for n in [1, 63, 64, 65] {
                let logits: Vec<f32> = random(n * VOCAB, 8).iter().map(|value| 30.0 * value).collect();
                let targets: Vec<u32> = (0..n as u32).map(|i| i * 31 % VOCAB as u32).collect();
                let all_targets = gpu.buffer_with("targets", &[&[0], &targets[..]].concat());
                let state = gpu.buffer("state", 4 * (n + 1));
                for (token, length) in [(0, 64), (64, 65), (129, 21)] {
                    let tile: Vec<f32> = logits.chunks(VOCAB).flat_map(|row| row[token..token + length].to_vec()).collect();
                    let tile = gpu.buffer_with_f32("logits", &tile);
                    let mut recording = Recording::new(&gpu);
                    record(&mut recording, &Tile { logits: &tile, targets: &all_targets, state: &state, first: 1, n, token, length });
                    recording.run();
                }
                let state = gpu.read_f32(&state, 4 * (n + 1)).await.unwrap();
                for (i, &target) in targets.iter().enumerate() {
                    let (ours, twin) = (log_prob(&state[4 * (i + 1)..]), twin(&logits[i * VOCAB..][..VOCAB], target as usize));
                    assert!((ours - twin).abs() < 2e-5, "{ours} {twin}");
                }
            }
        }
    }
}
