//! Kullback-Leibler divergence of perturbed predictions from the base text's, KL(base || perturbed), one tile of the vocabulary at a time.

use super::log_sum_exp::{self, log_sum_exp};
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
        length: usize,
    }
}

/// A tile of the logits of several positions, and of the base text's logits at the same positions.
pub struct KlDivergence<'a> {
    /// `[n, length]`.
    pub logits: &'a Buffer,
    /// `[rows, length]`.
    pub base_logits: &'a Buffer,
    /// `[n, 2]`: for each position, its row of `base_logits` and the base text's log-sum-exp as f32 bits.
    pub base: &'a Buffer,
    /// `[positions, 4]`. Adds to the last number of each position. The other numbers come from `log_sum_exp`.
    pub state: &'a Buffer,
    /// The first position.
    pub first: usize,
    pub n: usize,
    pub length: usize,
}

/// `state.w += sum over v of p(v) (z_base(v) - z(v))`, with `p = softmax(z_base)`.
pub fn record<'a>(recording: &mut Recording<'a>, args: &KlDivergence<'a>) {
    let &KlDivergence { logits, base_logits, base, state, first, n, length } = args;
    let kernel = kernel(recording.gpu().variant);
    recording.dispatch(kernel, Params { n, first, length }, &[logits, base_logits, base, state], [n, 1]);
}

/// KL(base || perturbed) in nats from a position's state and the base text's log-sum-exp. Rounding can turn zero into a small negative
/// number: see `Readout::checked`.
pub fn kl_divergence(state: &[f32], base_log_sum_exp: f64) -> f64 {
    f64::from(state[3]) - base_log_sum_exp + log_sum_exp(state)
}

pub fn kernel(variant: &Variant) -> Kernel {
    let kernel = if variant.shares_memory { workgroup_per_item("kl_divergence_shared") } else { one_dimensional("kl_divergence") };
    kernel.with_params(Params::WGSL)
}

/// KL(base || perturbed) in nats by the definition, in float64.
pub fn reference(base: &[f32], logits: &[f32]) -> f64 {
    let log_softmax = |logits: &[f32]| {
        let sum = log_sum_exp::reference(logits);
        logits.iter().map(move |&logit| f64::from(logit) - sum).collect::<Vec<f64>>()
    };
    log_softmax(base).iter().zip(log_softmax(logits)).map(|(p, q)| p.exp() * (p - q)).sum()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn divergence_over_tiles_matches_whole_vocabulary() {
        const VOCAB: usize = 150;
        for gpu in gpus_and_interpreters().await {
            for n in [1, 63, 64, 65] {
                let scaled = |length: usize, seed: u64| random(length, seed).iter().map(|value| 4.0 * value).collect::<Vec<f32>>();
                let (logits, base) = (scaled(n * VOCAB, 8), scaled(7 * VOCAB, 9));
                let sum_exp = |logits: &[f32]| logits.iter().map(|logit| logit.exp()).sum::<f32>();
                let rows: Vec<u32> =
                    (1..n + 1).flat_map(|i| [i as u32 % 7, sum_exp(&base[i % 7 * VOCAB..][..VOCAB]).ln().to_bits()]).collect();
                let rows = gpu.buffer_with("base", &rows);
                let state: Vec<f32> = (0..n + 1)
                    .flat_map(|i| [0.0, if i > 0 { sum_exp(&logits[(i - 1) * VOCAB..][..VOCAB]) } else { 1.0 }, 0.0, 0.0])
                    .collect();
                let state = gpu.buffer_with_f32("state", &state);
                for (start, length) in [(0, 64), (64, 65), (129, 21)] {
                    let tile =
                        |logits: &[f32]| logits.chunks(VOCAB).flat_map(|row| row[start..start + length].to_vec()).collect::<Vec<_>>();
                    let (logits, base_logits) = (gpu.buffer_with_f32("logits", &tile(&logits)), gpu.buffer_with_f32("base", &tile(&base)));
                    let mut recording = Recording::new(&gpu);
                    let tiles =
                        KlDivergence { logits: &logits, base_logits: &base_logits, base: &rows, state: &state, first: 1, n, length };
                    record(&mut recording, &tiles);
                    recording.run();
                }
                let state = gpu.read_f32(&state, 4 * (n + 1)).await.unwrap();
                assert_eq!(state[3], 0.0);
                for i in 1..=n {
                    let base = &base[i % 7 * VOCAB..][..VOCAB];
                    let (ours, reference) = (
                        kl_divergence(&state[4 * i..], f64::from(sum_exp(base).ln())),
                        reference(base, &logits[(i - 1) * VOCAB..][..VOCAB]),
                    );
                    assert!((ours - reference).abs() < 2e-5, "{ours} {reference}");
                }
            }
        }
    }
}
