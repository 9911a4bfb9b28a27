//! Root mean square normalization (Zhang and Sennrich 2019).

use super::{RowView, one_dimensional, workgroup_per_item};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        y_first: usize,
        dim: usize,
        stride: usize,
        epsilon: f32,
    }
}

/// y[r] (+)= weight * x[r] / sqrt(mean(x[r]^2) + epsilon) for `n` rows of `dim` values.
#[derive(Clone, Copy)]
pub struct RmsNorm<'a> {
    /// The stride is a multiple of 4. Values after `dim` are zero.
    pub x: RowView<'a>,
    pub weight: &'a Buffer,
    /// Has the same stride as x.
    pub y: RowView<'a>,
    pub n: usize,
    pub dim: usize,
    pub epsilon: f64,
    /// Whether the result is added to `y` instead of replacing it.
    pub add: bool,
}

pub fn record<'a>(recording: &mut Recording<'a>, norm: &RmsNorm<'a>) {
    let &RmsNorm { x, weight, y, n, dim, epsilon, add } = norm;
    let kernel = kernel(recording.gpu().variant, add);
    recording.dispatch(
        kernel,
        Params { n, first: x.first, y_first: y.first, dim, stride: x.stride, epsilon: epsilon as f32 },
        &[x.buffer, weight, y.buffer],
        [n, 1],
    );
}

/// The kernel that writes rows, or adds to them.
pub fn kernel(variant: &Variant, add: bool) -> Kernel {
    let kernel = if variant.shares_memory { workgroup_per_item("rms_norm_shared") } else { one_dimensional("rms_norm") };
    kernel.with_bool("ADD", add).with_params(Params::WGSL)
}

/// One row by the definition, in float64.
pub fn reference(x: &[f32], weight: &[f32], epsilon: f64) -> Vec<f32> {
    let mean = x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / x.len() as f64;
    x.iter().zip(weight).map(|(&x, &w)| (f64::from(w) * f64::from(x) / (mean + epsilon).sqrt()) as f32).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_match_reference() {
        for gpu in gpus_and_interpreters().await {
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
                let x = RowView::new(&x, stride).starting_at(1);
                let norm = RmsNorm { x, weight: &w, y: RowView::new(&y, stride), n, dim, epsilon: 1e-5, add: false };
                record(&mut recording, &norm);
                // Add the norm to all rows except the first, which doubles them.
                let others = RmsNorm { x: x.starting_at(2), y: norm.y.starting_at(1), n: n - 1, add: true, ..norm };
                if n > 1 {
                    record(&mut recording, &others);
                }
                recording.run();
                let y = gpu.read_f32(&y, (n + 1) * stride).await.unwrap();
                for (row, values) in values.chunks(dim).enumerate() {
                    let times = if row == 0 { 1.0 } else { 2.0 };
                    let expected: Vec<f32> = reference(values, &weight, 1e-5).iter().map(|value| times * value).collect();
                    assert_close("rms_norm", &y[row * stride..][..dim], &expected, 1e-5);
                }
                assert_eq!(y.iter().filter(|&&value| value == SENTINEL).count(), y.len() - n * dim);
            }
        }
    }
}
