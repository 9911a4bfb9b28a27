//! The output gate of attention: multiplies head outputs by a sigmoid.

use super::{padded, two_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        head_dim: usize,
        /// f32 values of all heads, of a row of projected values, and of a row of y.
        width: usize,
        stride: usize,
        y_stride: usize,
    }
}

/// `projected` is `[n, (2 n_heads + 2 n_kv_heads) head_dim]`. y is `[n, n_heads head_dim]` padded to 16, changed in place.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, n: usize, projected: &'a Buffer, y: &'a Buffer) {
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let width = n_heads * head_dim;
    let params = Params { n, head_dim, width, stride: 2 * (n_heads + n_kv_heads) * head_dim, y_stride: padded(width) };
    recording.dispatch(kernel(), params, &[projected, y], [width, n]);
}

pub fn kernel() -> Kernel {
    two_dimensional("gated_heads").with_params(Params::WGSL)
}

/// One row of y by the definition, in float64. In `projected`, the gates of each head follow its queries.
pub fn reference(projected: &[f32], y: &[f32], head_dim: usize) -> Vec<f32> {
    let gate = |i: usize| 1.0 / (1.0 + (-f64::from(projected[i + (i / head_dim + 1) * head_dim])).exp());
    y.iter().enumerate().map(|(i, &value)| (f64::from(value) * gate(i)) as f32).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{assert_close, config, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn every_head_has_its_gate() {
        for gpu in gpus_and_interpreters().await {
            for (n, n_heads, n_kv_heads, dim) in [(1, 1, 1, 2), (3, 4, 2, 6), (5, 3, 1, 10)] {
                let config = config("qwen35", n_heads, n_kv_heads, dim);
                let (width, from) = (n_heads * dim, 2 * (n_heads + n_kv_heads) * dim);
                let (mut projected, y) = (random(n * from, 1), random(n * padded(width), 2));
                (projected[dim], projected[dim + 1]) = (-200.0, 200.0);
                let (input, buffer) = (gpu.buffer_with_f32("projected", &projected), gpu.buffer_with_f32("y", &y));
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &config, n, &input, &buffer);
                recording.run();
                let got = gpu.read_f32(&buffer, y.len()).await.unwrap();
                for ((got, y), projected) in got.chunks(padded(width)).zip(y.chunks(padded(width))).zip(projected.chunks(from)) {
                    assert_close("gated", &got[..width], &reference(projected, &y[..width], dim), 1e-5);
                    assert_eq!(got[width..], y[width..]);
                }
            }
        }
    }
}
