//! Queries, keys and values made ready for attention: bias, norm, rotation (Su et al. 2021), cache.

use super::rectangle;
use crate::gpu::device::Buffer;
use crate::gpu::recording::Recording;
use crate::model::arch::Rope;
use crate::model::config::Config;

/// Of `n` rows from `first` on.
pub struct Heads<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    /// As a row of `qkv`; anything where the model has none.
    pub bias: &'a Buffer,
    /// Of a query head, then of a key head; anything where the model has none.
    pub norms: &'a Buffer,
    /// `[positions, head_dim / 2]` of (cos, sin).
    pub angles: &'a Buffer,
    /// `[n, (n_heads + 2 n_kv_heads) head_dim]`; queries are rotated in place.
    pub qkv: &'a Buffer,
    /// `[slots, key and value, n_kv_heads, padded head_dim]`, written at each row's slot.
    pub cache: &'a Buffer,
}

/// f32 of a head in a cache: a whole number of vec4.
pub fn cached_head(config: &Config) -> usize {
    config.head_dim.next_multiple_of(4)
}

/// f32 of a slot in a cache: key and value of every head.
pub fn cached_slot(config: &Config) -> usize {
    2 * config.n_kv_heads * cached_head(config)
}

/// f32 of a row of queries, keys and values.
pub fn qkv_width(config: &Config) -> usize {
    (config.n_heads + 2 * config.n_kv_heads) * config.head_dim
}

pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, heads: &Heads<'a>) {
    let &Heads { rows, first, n, bias, norms, angles, qkv, cache } = heads;
    let kernel = rectangle("heads")
        .flag("BIAS", config.architecture.qkv_bias)
        .flag("NORM", config.architecture.qk_norm)
        .flag("INTERLEAVED", config.architecture.rope == Rope::Interleaved);
    let sizes = [n, first, config.n_heads, config.n_kv_heads, config.head_dim, cached_head(config)].map(|number| number as u32);
    let parameters = [&sizes[..], &[(config.norm_epsilon as f32).to_bits()]].concat();
    recording.dispatch(&kernel, &parameters, &[rows, bias, norms, angles, qkv, cache], [config.n_heads + 2 * config.n_kv_heads, n]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{assert_close, config, gpus, random};
    use crate::model::arch::ARCHITECTURES;

    /// One head of q or k.
    fn twin(config: &Config, head: &[f32], norm: &[f32], angles: &[f32]) -> Vec<f32> {
        let dim = head.len();
        let mut head: Vec<f64> = head.iter().map(|&value| value.into()).collect();
        if config.architecture.qk_norm {
            let mean = head.iter().map(|value| value * value).sum::<f64>() / dim as f64;
            head.iter_mut().zip(norm).for_each(|(value, &weight)| *value *= f64::from(weight) / (mean + config.norm_epsilon).sqrt());
        }
        let mut rotated = vec![0.0; dim];
        for i in 0..dim / 2 {
            let (a, b) = match config.architecture.rope {
                Rope::Interleaved => (2 * i, 2 * i + 1),
                Rope::Halves => (i, i + dim / 2),
            };
            let (cos, sin) = (f64::from(angles[2 * i]), f64::from(angles[2 * i + 1]));
            rotated[a] = (head[a] * cos - head[b] * sin) as f32;
            rotated[b] = (head[a] * sin + head[b] * cos) as f32;
        }
        rotated
    }

    async fn check(config: &Config, n: usize) {
        let dim = config.head_dim;
        let width = qkv_width(config);
        let (qkv, bias, norms, angles) = (random(n * width, 1), random(width, 2), random(2 * dim, 3), random(50 * dim, 4));
        let rows: Vec<Row> = (0..n as u32 + 1).map(|i| Row { position: i * 7 % 50, slot: n as u32 - i, ..Row::default() }).collect();
        for gpu in gpus().await {
            let buffers = [&qkv, &bias, &norms, &angles].map(|values| gpu.buffer_with_f32("input", values));
            let row_buffer = gpu.buffer_with("rows", &Row::words(&rows));
            let cache = gpu.buffer("cache", (n + 1) * cached_slot(config));
            let heads = Heads {
                rows: &row_buffer,
                first: 1,
                n,
                bias: &buffers[1],
                norms: &buffers[2],
                angles: &buffers[3],
                qkv: &buffers[0],
                cache: &cache,
            };
            let mut recording = Recording::new(&gpu);
            record(&mut recording, config, &heads);
            recording.run();
            let got_qkv = gpu.read_f32(&buffers[0], n * width).await.unwrap();
            let got_cache = gpu.read_f32(&cache, (n + 1) * cached_slot(config)).await.unwrap();
            for (i, row) in rows[1..].iter().enumerate() {
                let with_bias = |column: usize| qkv[i * width + column] + if config.architecture.qkv_bias { bias[column] } else { 0.0 };
                for head in 0..config.n_heads + 2 * config.n_kv_heads {
                    let values: Vec<f32> = (head * dim..(head + 1) * dim).map(with_bias).collect();
                    let angles = &angles[row.position as usize * dim..][..dim];
                    let cached = |kv_head: usize| {
                        let at = row.slot as usize * cached_slot(config) + kv_head * cached_head(config);
                        got_cache[at..at + dim].to_vec()
                    };
                    let (got, expected) = match head.checked_sub(config.n_heads) {
                        None => (got_qkv[i * width + head * dim..][..dim].to_vec(), twin(config, &values, &norms[..dim], angles)),
                        Some(kv) if kv < config.n_kv_heads => (cached(kv), twin(config, &values, &norms[dim..], angles)),
                        Some(kv) => (cached(kv), values),
                    };
                    assert_close(config.architecture.name, &got, &expected, 1e-5);
                }
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn heads_are_biased_normalised_rotated_and_cached() {
        for architecture in ARCHITECTURES {
            for (head_dim, n) in [(2, 1), (6, 3), (48, 4), (64, 5), (20, 67)] {
                check(&config(architecture.name, 4, 2, head_dim), n).await;
            }
        }
    }
}
