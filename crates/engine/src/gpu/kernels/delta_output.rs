//! Normalizes and gates the outputs of a Gated DeltaNet layer, per head.

use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::DeltaNet;

wgsl_struct! {
    struct Params {
        n: usize,
        n_heads: usize,
        head_dim: usize,
        y_stride: usize,
        /// Stride of a row of gates, and column of its first gate, in f32 values.
        gate_stride: usize,
        gate_first: usize,
        epsilon: f32,
    }
}

/// Arguments for `n` rows.
#[derive(Clone, Copy)]
pub struct DeltaOutput<'a> {
    pub n: usize,
    /// `[head_dim]`.
    pub norm: &'a Buffer,
    pub epsilon: f64,
    /// `[n, gate_stride]`, starting at column `gate_first`.
    pub gates: &'a Buffer,
    pub gate_stride: usize,
    pub gate_first: usize,
    /// `[n, y_stride]`, changed in place.
    pub y: &'a Buffer,
    pub y_stride: usize,
}

pub fn record<'a>(recording: &mut Recording<'a>, sizes: DeltaNet, args: &DeltaOutput<'a>) {
    let &DeltaOutput { n, norm, epsilon, gates, gate_stride, gate_first, y, y_stride } = args;
    let (n_heads, head_dim) = (sizes.n_value_heads, sizes.head_dim);
    let params = Params { n, n_heads, head_dim, y_stride, gate_stride, gate_first, epsilon: epsilon as f32 };
    recording.dispatch(kernel(), params, &[norm, gates, y], [n_heads, n]);
}

pub fn kernel() -> Kernel {
    two_dimensional("delta_output").with_params(Params::WGSL)
}

/// One row by the definition, in float64.
pub fn reference(y: &[f32], norm: &[f32], epsilon: f64, gates: &[f32]) -> Vec<f32> {
    let normalized = y.chunks(norm.len()).flat_map(|head| super::rms_norm::reference(head, norm, epsilon));
    let silu = |gate: f32| f64::from(gate) / (1.0 + (-f64::from(gate)).exp());
    normalized.zip(gates).map(|(value, &gate)| (f64::from(value) * silu(gate)) as f32).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{assert_close, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn heads_are_normalized_and_gated() {
        for gpu in gpus_and_interpreters().await {
            for (n, n_heads, head_dim) in [(1, 1, 4), (3, 15, 8), (4, 16, 12), (5, 17, 4), (19, 3, 20)] {
                let sizes = DeltaNet { n_key_heads: 1, n_value_heads: n_heads, head_dim };
                let (width, epsilon) = (sizes.value_width(), 1e-3);
                let (y_stride, gate_stride, gate_first) = (width + 3, width + 7, 5);
                let (y, norm, mut gates) = (random(n * y_stride, 1), random(head_dim, 2), random(n * gate_stride, 3));
                (gates[gate_first], gates[gate_first + 1]) = (-200.0, 200.0);
                let [y_buffer, norm_buffer, gate_buffer] = [&y, &norm, &gates].map(|values| gpu.buffer_with_f32("input", values));
                let (norm_of, gates_of) = (&norm_buffer, &gate_buffer);
                let args = DeltaOutput { n, norm: norm_of, epsilon, gates: gates_of, gate_stride, gate_first, y: &y_buffer, y_stride };
                let mut recording = Recording::new(&gpu);
                record(&mut recording, sizes, &args);
                recording.run();
                let got = gpu.read_f32(&y_buffer, y.len()).await.unwrap();
                for ((got, y), gates) in got.chunks(y_stride).zip(y.chunks(y_stride)).zip(gates.chunks(gate_stride)) {
                    let expected = reference(&y[..width], &norm, epsilon, &gates[gate_first..gate_first + width]);
                    assert_close("gated", &got[..width], &expected, 1e-5);
                    assert_eq!(got[width..], y[width..]);
                }
            }
        }
    }
}
