//! SwiGLU, the gate of the feed-forward network, or GEGLU (Shazeer 2020).

use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::arch::Gate;

wgsl_struct! {
    struct Params {
        n: usize,
        ffn_dim: usize,
        /// Stride of a row of y, in f32 values.
        stride: usize,
    }
}

/// y[r, i] = silu(gate[r, i]) up[r, i], or gelu instead of silu. `gate_up` is `[n, gate and up, ffn_dim]`, y is `[n, stride]`.
pub fn record<'a>(recording: &mut Recording<'a>, gate: Gate, gate_up: &'a Buffer, y: &'a Buffer, n: usize, ffn_dim: usize, stride: usize) {
    recording.dispatch(kernel(gate), Params { n, ffn_dim, stride }, &[gate_up, y], [ffn_dim, n]);
}

pub fn kernel(gate: Gate) -> Kernel {
    two_dimensional("swiglu").with_bool("GELU", gate == Gate::Gelu).with_params(Params::WGSL)
}

/// One value by the definition, in float64.
pub fn reference(kind: Gate, gate: f32, up: f32) -> f32 {
    let (gate, up) = (f64::from(gate), f64::from(up));
    let gated = match kind {
        Gate::Silu => gate / (1.0 + (-gate).exp()),
        Gate::Gelu => 0.5 * gate * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (gate + 0.044715 * gate.powi(3))).tanh()),
    };
    (gated * up) as f32
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters, random};

    const KINDS: [Gate; 2] = [Gate::Silu, Gate::Gelu];

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn gated_values_match_reference() {
        for gpu in gpus_and_interpreters().await {
            for (kind, n, ffn_dim) in
                [(1, 1), (3, 15), (4, 16), (5, 17), (19, 55)].into_iter().flat_map(|(n, dim)| KINDS.map(|kind| (kind, n, dim)))
            {
                let stride = super::super::padded(ffn_dim);
                let mut values = random(2 * n * ffn_dim, 6);
                // exp(-gate) overflows or vanishes for these values. The result must still be a number.
                values[0] = 200.0;
                values[ffn_dim - 1] = -200.0;
                let expected = values.chunks(2 * ffn_dim).flat_map(|row| {
                    row[..ffn_dim].iter().zip(&row[ffn_dim..]).map(|(&gate, &up)| reference(kind, gate, up)).collect::<Vec<_>>()
                });
                let gate_up = gpu.buffer_with_f32("gate_up", &values);
                let y = gpu.buffer_with_f32("y", &vec![SENTINEL; n * stride]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, kind, &gate_up, &y, n, ffn_dim, stride);
                recording.run();
                let y = gpu.read_f32(&y, n * stride).await.unwrap();
                let got: Vec<f32> = y.chunks(stride).flat_map(|row| row[..ffn_dim].to_vec()).collect();
                assert_close("swiglu", &got, &expected.collect::<Vec<_>>(), 1e-5);
                assert_eq!(y.iter().filter(|&&value| value == SENTINEL).count(), y.len() - n * ffn_dim);
            }
        }
    }
}
