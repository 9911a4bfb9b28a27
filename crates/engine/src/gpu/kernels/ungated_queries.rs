//! Copies queries, keys and values from projections in which gates follow the queries of each head: see [`super::gated_heads`].

use super::qkv_rope_cache::qkv_width;
use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        n_heads: usize,
        head_dim: usize,
        width: usize,
    }
}

/// `projected` is `[n, (2 n_heads + 2 n_kv_heads) head_dim]`, qkv is `[n, qkv_width]`.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, n: usize, projected: &'a Buffer, qkv: &'a Buffer) {
    let (&Config { n_heads, head_dim, .. }, width) = (config, qkv_width(config));
    recording.dispatch(kernel(), Params { n, n_heads, head_dim, width }, &[projected, qkv], [width, n]);
}

pub fn kernel() -> Kernel {
    two_dimensional("ungated_queries").with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::testing::{SENTINEL, config, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn gates_are_removed() {
        for gpu in gpus_and_interpreters().await {
            for (n, n_heads, n_kv_heads, dim) in [(1, 1, 1, 2), (3, 4, 2, 6), (5, 3, 1, 10)] {
                let config = config("qwen35", n_heads, n_kv_heads, dim);
                let (from, to) = (dim * 2 * (n_heads + n_kv_heads), qkv_width(&config));
                let projected = random(n * from, 1);
                let (input, qkv) = (gpu.buffer_with_f32("projected", &projected), gpu.buffer_with_f32("qkv", &vec![SENTINEL; n * to + 3]));
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &config, n, &input, &qkv);
                recording.run();
                let row = |row: &[f32]| {
                    let is_gate = |head: usize| head < 2 * n_heads && head % 2 == 1;
                    row.chunks(dim)
                        .enumerate()
                        .filter(|(head, _)| !is_gate(*head))
                        .flat_map(|(_, head)| head.to_vec())
                        .collect::<Vec<f32>>()
                };
                let expected: Vec<f32> = projected.chunks(from).flat_map(row).chain([SENTINEL; 3]).collect();
                assert_eq!(gpu.read_f32(&qkv, n * to + 3).await.unwrap(), expected);
            }
        }
    }
}
