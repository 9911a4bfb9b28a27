//! Root mean square normalization of all query heads together, and of all key heads together, as in `olmo2`.

use super::qkv_rope_cache::qkv_width;
use super::{two_dimensional, workgroup_per_item};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        /// f32 values in a row of qkv, in its queries, and in its keys.
        stride: usize,
        q_width: usize,
        k_width: usize,
        epsilon: f32,
    }
}

/// Queries and keys of `n` rows.
pub struct WholeNorm<'a> {
    pub n: usize,
    /// Norm weights of all queries, then of all keys of a row.
    pub norms: &'a Buffer,
    /// `[n, qkv_width]`; queries and keys are normalized in place.
    pub qkv: &'a Buffer,
}

pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, args: &WholeNorm<'a>) {
    let &WholeNorm { n, norms, qkv } = args;
    let [q_width, k_width] = [config.n_heads, config.n_kv_heads].map(|heads| heads * config.head_dim);
    let params = Params { n, stride: qkv_width(config), q_width, k_width, epsilon: config.norm_epsilon as f32 };
    recording.dispatch(kernel(recording.gpu().variant), params, &[norms, qkv], [2, n]);
}

pub fn kernel(variant: &Variant) -> Kernel {
    let kernel = if variant.shares_memory { workgroup_per_item("qk_norm_shared") } else { two_dimensional("qk_norm") };
    kernel.with_params(Params::WGSL)
}

/// One row by the definition, in float64.
pub fn reference(config: &Config, row: &[f32], norms: &[f32]) -> Vec<f32> {
    let [q, k] = [config.n_heads, config.n_kv_heads].map(|heads| heads * config.head_dim);
    let normalized = |from: usize, to: usize| super::rms_norm::reference(&row[from..to], &norms[from..to], config.norm_epsilon);
    [normalized(0, q), normalized(q, q + k), row[q + k..].to_vec()].concat()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, config, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn queries_and_keys_are_normalized_over_heads() {
        for gpu in gpus_and_interpreters().await {
            for (head_dim, n) in [(2, 1), (6, 3), (48, 4), (64, 5), (20, 67)] {
                let config = config("olmo2", 4, 2, head_dim);
                let width = qkv_width(&config);
                let (qkv, norms) = (random(n * width, 1), random(6 * head_dim, 2));
                let buffer = gpu.buffer_with_f32("qkv", &[&qkv[..], &[SENTINEL; 64]].concat());
                let norms_buffer = gpu.buffer_with_f32("norms", &norms);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &config, &WholeNorm { n, norms: &norms_buffer, qkv: &buffer });
                recording.run();
                let got = gpu.read_f32(&buffer, n * width + 64).await.unwrap();
                let expected: Vec<f32> = qkv.chunks(width).flat_map(|row| reference(&config, row, &norms)).collect();
                assert_close(gpu.variant.name, &got[..n * width], &expected, 1e-5);
                assert!(got[n * width..].iter().all(|&value| value == SENTINEL));
            }
        }
    }
}
