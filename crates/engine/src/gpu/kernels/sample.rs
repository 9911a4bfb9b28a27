//! Samples a token from the logits of one position.

use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use crate::lm::sample::Draw;

const WIDTH: usize = 256;

wgsl_struct! {
    struct Params {
        n: usize,
    }
}

wgsl_struct! {
    /// A [`Draw`] in the layout of the kernel.
    pub struct GpuDraw {
        /// Divisor of the logits, above 0.
        temperature: f32,
        /// Keep only tokens that are at least as likely as the k-th. The size of the vocabulary keeps all.
        top_k: usize,
        /// Among these, keep the smallest set of most likely tokens that holds this share of their probability.
        top_p: f32,
        /// Random number in [0, 1).
        random: f32,
    }
}

impl GpuDraw {
    /// Converts a draw for a vocabulary of `n` tokens.
    pub fn new(draw: &Draw, n: usize) -> Self {
        Self {
            temperature: draw.temperature as f32,
            top_k: draw.top_k.unwrap_or(n).clamp(1, n),
            top_p: draw.top_p.unwrap_or(1.0) as f32,
            random: draw.uniform as f32,
        }
    }
}

/// Writes the token to `chosen[0]`, see [`Draw::token`], and bits of a number to `chosen[1]` that is finite if all logits are finite.
/// `draw` contains a [`GpuDraw`].
pub fn record<'a>(recording: &mut Recording<'a>, logits: &'a Buffer, n: usize, draw: &'a Buffer, chosen: &'a Buffer) {
    recording.dispatch(kernel(), Params { n }, &[logits, draw, chosen], [1, 1]);
}

pub fn kernel() -> Kernel {
    Kernel::new("sample", [1, 1]).with_u32("WIDTH", WIDTH).with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::device::Gpu;
    use crate::gpu::testing::{gpus, gpus_and_interpreters, interpreters, random};

    /// `n` logits between -6 and 6.
    fn spread(n: usize) -> Vec<f32> {
        random(n, n as u64).iter().map(|value| 6.0 * value).collect()
    }

    async fn check(gpu: &Gpu, logits: &[f32], uniforms: &[f64]) {
        let n = logits.len();
        let on_gpu = gpu.buffer_with_f32("logits", logits);
        let limits = [(None, None), (Some(5), None), (None, Some(0.7)), (Some(40), Some(0.9)), (Some(1500), Some(0.8))];
        for (i, (top_k, top_p)) in limits.iter().enumerate() {
            for &uniform in uniforms {
                let draw = Draw { temperature: 0.5 + 0.4 * i as f64, top_k: *top_k, top_p: *top_p, uniform };
                let (words, chosen) = (gpu.buffer_with("draw", &GpuDraw::new(&draw, n).words()), gpu.buffer("chosen", 2));
                let mut recording = Recording::new(gpu);
                record(&mut recording, &on_gpu, n, &words, &chosen);
                recording.run();
                assert_eq!(gpu.read(&chosen, 2).await.unwrap()[0], draw.token(logits), "{n} {draw:?}");
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn sampled_tokens_match_reference() {
        for gpu in gpus().await {
            for n in [1, 255, 256, 257, 1000, 5000] {
                check(&gpu, &spread(n), &[0.0, 0.123, 0.5, 0.77, 0.999_9]).await;
            }
        }
        // All variants use the same kernel.
        for gpu in interpreters().await.iter().take(1) {
            for n in [1, 257, 600] {
                check(gpu, &spread(n), &[0.0, 0.77]).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn ties_are_sampled_like_reference() {
        for gpu in gpus().await {
            // More equal logits than a workgroup keeps; all logits equal; all logits below zero.
            let steps: Vec<f32> = spread(3000).iter().map(|value| value.round() - 9.0).collect();
            for logits in [&steps, &vec![-2.5; 2000]] {
                check(&gpu, logits, &[0.0, 0.3, 0.999]).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn non_finite_logit_is_reported() {
        let mut logits = random(300, 5);
        logits[170] = f32::NAN;
        for gpu in gpus_and_interpreters().await {
            let draw = Draw { temperature: 1.0, top_k: None, top_p: None, uniform: 0.5 };
            let (logits, words, chosen) = (
                gpu.buffer_with_f32("logits", &logits),
                gpu.buffer_with("draw", &GpuDraw::new(&draw, 300).words()),
                gpu.buffer("chosen", 2),
            );
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &logits, 300, &words, &chosen);
            recording.run();
            assert!(!f32::from_bits(gpu.read(&chosen, 2).await.unwrap()[1]).is_finite());
        }
    }
}
