//! Root mean square normalisation (Zhang and Sennrich 2019).

use super::{line, workgroup_each};
use crate::gpu::device::Buffer;
use crate::gpu::recording::Recording;

/// y[r] = weight * x[first + r] / sqrt(mean(x[first + r]^2) + epsilon) for `n` rows of `dim` values; x and y are `[.., stride]`.
#[derive(Clone, Copy)]
pub struct RmsNorm<'a> {
    pub x: &'a Buffer,
    pub first: usize,
    pub weight: &'a Buffer,
    pub y: &'a Buffer,
    pub n: usize,
    pub dim: usize,
    /// A multiple of 4; what lies beyond `dim` is zero.
    pub stride: usize,
    pub epsilon: f64,
}

pub fn record<'a>(recording: &mut Recording<'a>, norm: &RmsNorm<'a>) {
    let &RmsNorm { x, first, weight, y, n, dim, stride, epsilon } = norm;
    let kernel = if recording.gpu().variant.shares_memory { workgroup_each("rms_norm_shared") } else { line("rms_norm") };
    let parameters = [n as u32, first as u32, dim as u32, stride as u32, (epsilon as f32).to_bits()];
    recording.dispatch(&kernel, &parameters, &[x, weight, y], [n, 1]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus, random};

    fn twin(x: &[f32], weight: &[f32], epsilon: f64) -> Vec<f32> {
        let mean = x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / x.len() as f64;
        x.iter().zip(weight).map(|(&x, &w)| (f64::from(w) * f64::from(x) / (mean + epsilon).sqrt()) as f32).collect()
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_are_normalised_like_the_twin() {
        for gpu in gpus().await {
            for (n, dim) in [(1, 1), (63, 64), (64, 65), (65, 63), (199, 8), (2, 199)] {
                let stride = super::super::padded(dim);
                let (values, weight) = (random(n * dim, 4), random(dim, 5));
                let mut x = vec![0.0; (n + 1) * stride];
                for (row, values) in values.chunks(dim).enumerate() {
                    x[(row + 1) * stride..][..dim].copy_from_slice(values);
                }
                let (x, w) = (gpu.buffer_with_f32("x", &x), gpu.buffer_with_f32("weight", &weight));
                let y = gpu.buffer_with_f32("y", &vec![SENTINEL; (n + 1) * stride]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &RmsNorm { x: &x, first: 1, weight: &w, y: &y, n, dim, stride, epsilon: 1e-5 });
                recording.run();
                let y = gpu.read_f32(&y, (n + 1) * stride).await.unwrap();
                for (row, values) in values.chunks(dim).enumerate() {
                    assert_close("rms_norm", &y[row * stride..][..dim], &twin(values, &weight, 1e-5), 1e-5);
                }
                assert_eq!(y.iter().filter(|&&value| value == SENTINEL).count(), y.len() - n * dim);
            }
        }
    }
}
