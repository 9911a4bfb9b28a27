//! Prepares queries, keys and values for attention: bias, RMSNorm, rotary embedding (RoPE, Su et al. 2021), key-value cache.

use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::arch::{Architecture, QkNorm, Rope};
use glasscage_model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        n_heads: usize,
        n_kv_heads: usize,
        head_dim: usize,
        /// Number of values of a head that rotate, starting with the first.
        rotated_dim: usize,
        /// f32 values of a head in the cache: see [`cached_head`].
        cached_head: usize,
        epsilon: f32,
    }
}

/// Arguments for the heads of `n` rows, starting at row `first`.
pub struct QkvRopeCache<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    /// Same shape as a row of `qkv`. Not read if the model has no biases.
    pub bias: &'a Buffer,
    /// Norm of a query head, then of a key head. Not read if the model has none.
    pub norms: &'a Buffer,
    /// `[positions, rotated_dim / 2]` of (cos, sin).
    pub angles: &'a Buffer,
    /// `[n, (n_heads + 2 n_kv_heads) head_dim]`; queries are rotated in place.
    pub qkv: &'a Buffer,
    /// `[slots, key and value, n_kv_heads, padded head_dim]`, written at each row's slot.
    pub cache: &'a Buffer,
}

/// f32 values of a head in a cache, rounded up to whole vec4.
pub fn cached_head(config: &Config) -> usize {
    config.head_dim.next_multiple_of(4)
}

/// f32 values of a slot in a cache: keys and values of all heads of one layer.
pub fn cached_slot(config: &Config) -> usize {
    2 * config.n_kv_heads * cached_head(config)
}

/// f32 values of a row of queries, keys and values.
pub fn qkv_width(config: &Config) -> usize {
    (config.n_heads + 2 * config.n_kv_heads) * config.head_dim
}

/// Updates the queries in `qkv`, and stores keys and values in the cache.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, args: &QkvRopeCache<'a>) {
    let &QkvRopeCache { rows, first, n, bias, norms, angles, qkv, cache } = args;
    let &Config { n_heads, n_kv_heads, head_dim, rotated_dim, norm_epsilon, .. } = config;
    let kernel = kernel(config.architecture);
    let params =
        Params { n, first, n_heads, n_kv_heads, head_dim, rotated_dim, cached_head: cached_head(config), epsilon: norm_epsilon as f32 };
    recording.dispatch(kernel, params, &[rows, bias, norms, angles, qkv, cache], [n_heads + 2 * n_kv_heads, n]);
}

pub fn kernel(architecture: &Architecture) -> Kernel {
    two_dimensional("qkv_rope_cache")
        .with_bool("BIAS", architecture.qkv_bias)
        .with_bool("NORM", architecture.qk_norm == QkNorm::Heads)
        .with_bool("INTERLEAVED", architecture.rope == Rope::Interleaved)
        .with_params(Params::WGSL)
}

/// One head of q or k by the definition, in float64. `angles` belong to its position.
pub fn reference(config: &Config, head: &[f32], norm: &[f32], angles: &[f32]) -> Vec<f32> {
    let dim = head.len();
    let mut head: Vec<f64> = head.iter().map(|&value| value.into()).collect();
    if config.architecture.qk_norm == QkNorm::Heads {
        let mean = head.iter().map(|value| value * value).sum::<f64>() / dim as f64;
        head.iter_mut().zip(norm).for_each(|(value, &weight)| *value *= f64::from(weight) / (mean + config.norm_epsilon).sqrt());
    }
    let mut rotated: Vec<f32> = head.iter().map(|&value| value as f32).collect();
    for i in 0..config.rotated_dim / 2 {
        let (a, b) = match config.architecture.rope {
            Rope::Interleaved => (2 * i, 2 * i + 1),
            Rope::Halves => (i, i + config.rotated_dim / 2),
        };
        let (cos, sin) = (f64::from(angles[2 * i]), f64::from(angles[2 * i + 1]));
        rotated[a] = (head[a] * cos - head[b] * sin) as f32;
        rotated[b] = (head[a] * sin + head[b] * cos) as f32;
    }
    rotated
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::device::Gpu;
    use crate::gpu::testing::{assert_close, config, gpus_and_interpreters, random};
    use glasscage_model::arch::ARCHITECTURES;

    /// Inputs of the kernel, except the rows.
    struct Inputs {
        qkv: Vec<f32>,
        bias: Vec<f32>,
        norms: Vec<f32>,
        angles: Vec<f32>,
    }

    /// Returns qkv and the cache after the kernel.
    async fn run(gpu: &Gpu, config: &Config, rows: &[Row], inputs: &Inputs) -> (Vec<f32>, Vec<f32>) {
        let Inputs { qkv, bias, norms, angles } = inputs;
        let [qkv_buffer, bias, norms, angles] = [qkv, bias, norms, angles].map(|values| gpu.buffer_with_f32("input", values));
        let row_buffer = gpu.buffer_with("rows", &Row::all_words(rows));
        let (n, cache_length) = (rows.len() - 1, rows.len() * cached_slot(config));
        let cache = gpu.buffer("cache", cache_length);
        let (rows, bias, norms, angles) = (&row_buffer, &bias, &norms, &angles);
        let mut recording = Recording::new(gpu);
        record(&mut recording, config, &QkvRopeCache { rows, first: 1, n, bias, norms, angles, qkv: &qkv_buffer, cache: &cache });
        recording.run();
        (gpu.read_f32(&qkv_buffer, qkv.len()).await.unwrap(), gpu.read_f32(&cache, cache_length).await.unwrap())
    }

    async fn check(gpus: &[Gpu], config: &Config, n: usize) {
        let (dim, width) = (config.head_dim, qkv_width(config));
        let (qkv, bias, norms, angles) = (random(n * width, 1), random(width, 2), random(2 * dim, 3), random(50 * dim, 4));
        let inputs = Inputs { qkv, bias, norms, angles };
        let rows: Vec<Row> = (0..n as u32 + 1).map(|i| Row { position: i * 7 % 50, slot: n as u32 - i, ..Row::default() }).collect();
        for gpu in gpus {
            let (got_qkv, got_cache) = run(gpu, config, &rows, &inputs).await;
            for ((row, qkv), got_qkv) in rows[1..].iter().zip(inputs.qkv.chunks(width)).zip(got_qkv.chunks(width)) {
                let angles = &inputs.angles[row.position as usize * config.rotated_dim..][..config.rotated_dim];
                let cached = |kv_head: usize| &got_cache[row.slot as usize * cached_slot(config) + kv_head * cached_head(config)..][..dim];
                let with_bias = |column: usize| qkv[column] + if config.architecture.qkv_bias { inputs.bias[column] } else { 0.0 };
                for head in 0..config.n_heads + 2 * config.n_kv_heads {
                    let values: Vec<f32> = (head * dim..(head + 1) * dim).map(with_bias).collect();
                    let (got, expected) = match head.checked_sub(config.n_heads) {
                        None => (&got_qkv[head * dim..][..dim], reference(config, &values, &inputs.norms[..dim], angles)),
                        Some(kv) if kv < config.n_kv_heads => (cached(kv), reference(config, &values, &inputs.norms[dim..], angles)),
                        Some(kv) => (cached(kv), values),
                    };
                    assert_close(config.architecture.name, got, &expected, 1e-5);
                }
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn heads_are_biased_normalized_rotated_and_cached() {
        let gpus = gpus_and_interpreters().await;
        for architecture in ARCHITECTURES {
            for (head_dim, n) in [(2, 1), (6, 3), (48, 4), (64, 5), (20, 67)] {
                check(&gpus, &config(architecture.name, 4, 2, head_dim), n).await;
            }
            if architecture.rotates_part {
                check(&gpus, &Config { rotated_dim: 4, ..config(architecture.name, 4, 2, 20) }, 5).await;
            }
        }
    }
}
