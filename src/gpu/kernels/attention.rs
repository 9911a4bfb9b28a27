//! Causal attention with grouped queries (Ainslie et al. 2023) over a prefix of the text and the row's own suffix.

use std::ops::Range;

use super::qkv_rope_cache::{cached_head, cached_slot, qkv_width};
use super::{LINE, padded, two_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;
use crate::model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        n_heads: usize,
        n_kv_heads: usize,
        head_dim: usize,
        /// f32 of a row of qkv, and of y.
        q_stride: usize,
        y_stride: usize,
        /// Of the scores: see [`Config::attention_scale`].
        scale: f32,
        /// Keys that a row sees at most; any number where it sees all.
        window: usize,
    }
}

/// What `n` rows from `first` on attend to.
pub struct Attention<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    /// That a row sees, at most; decides nothing but the size of submissions.
    pub n_keys: usize,
    /// That it sees at most in this layer, its own and those right before it.
    pub window: Option<usize>,
    /// `[n, qkv_width]`, queries first.
    pub qkv: &'a Buffer,
    /// Keys and values of the text: `[slots, key and value, n_kv_heads, padded head_dim]`.
    pub text: &'a Buffer,
    /// Those of the suffixes.
    pub suffix: &'a Buffer,
    /// `[n, n_heads head_dim]` padded to 16.
    pub y: &'a Buffer,
}

/// `y[r, h] = sum over s of softmax(scale q[r, h] . k[s]) v[s]`.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, attention: &Attention<'a>) {
    let &Attention { rows, first, n, n_keys, window, qkv, text, suffix, y } = attention;
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let kernel = kernel(recording.gpu().variant, cached_head(config) / 4, window.is_some());
    let (q_stride, y_stride, scale) = (qkv_width(config), padded(n_heads * head_dim), config.attention_scale as f32);
    let (n_keys, window) = (window.map_or(n_keys, |window| window.min(n_keys)), window.unwrap_or(0));
    let params = Params { n, first, n_heads, n_kv_heads, head_dim, q_stride, y_stride, scale, window };
    let operations = operations_per_row(config, n_keys) * n as f64;
    recording.dispatch_of(operations, kernel, params.into(), &[rows, qkv, text, suffix, y], [n_heads, n]);
}

/// Of a row that sees so many keys: a product with each key, and one with each value.
pub fn operations_per_row(config: &Config, n_keys: usize) -> f64 {
    4.0 * (config.n_heads * config.head_dim * n_keys) as f64
}

/// For heads of `vecs` vec4 in the cache, in layers with a window or without.
pub fn kernel(variant: &Variant, vecs: usize, has_window: bool) -> Kernel {
    let kernel = if variant.shares_memory {
        let width = LINE.max(vecs.next_power_of_two());
        Kernel::new("attention_shared", [1, 1]).with_u32("WIDTH", width).with_u32("Q_LENGTH", 4 * vecs)
    } else {
        two_dimensional("attention")
    };
    kernel.with_u32("VECS", vecs).with_bool("WINDOW", has_window).with_params(Params::WGSL)
}

/// softmax(scale q k^T) v for one head, over `slots` of (key, value), by the definition in float64.
pub fn reference(scale: f64, q: &[f32], slots: &[(&[f32], &[f32])]) -> Vec<f32> {
    let dot = |k: &[f32]| q.iter().zip(k).map(|(&q, &k)| f64::from(q) * f64::from(k)).sum::<f64>();
    let weights: Vec<f64> = slots.iter().map(|(k, _)| (dot(k) * scale).exp()).collect();
    let total: f64 = weights.iter().sum();
    (0..q.len()).map(|i| (slots.iter().zip(&weights).map(|((_, v), w)| w * f64::from(v[i])).sum::<f64>() / total) as f32).collect()
}

/// Keys and values of some slots, as head `h` sees them.
pub fn slots<'a>(config: &Config, cache: &'a [f32], h: usize, range: Range<u32>) -> impl Iterator<Item = (&'a [f32], &'a [f32])> {
    let (slot, head, dim) = (cached_slot(config), cached_head(config), config.head_dim);
    let (kv_head, value) = (h / (config.n_heads / config.n_kv_heads), config.n_kv_heads * head);
    let pair = move |key: usize| (&cache[key..key + dim], &cache[key + value..][..dim]);
    range.map(move |s| pair(s as usize * slot + kv_head * head))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::device::Gpu;
    use crate::gpu::testing::{assert_close, config, gpus_and_interpreters, random};

    /// y, `[rows, padded n_heads head_dim]`.
    async fn run(gpu: &Gpu, config: &Config, rows: &[Row], window: Option<u32>, [qkv, text, suffix]: [&Vec<f32>; 3]) -> Vec<f32> {
        // A row that is not to be computed.
        let rows_buffer = gpu.buffer_with("rows", &[Row::default().words().to_vec(), Row::all_words(rows)].concat());
        let [qkv, text, suffix] = [qkv, text, suffix].map(|values| gpu.buffer_with_f32("input", values));
        let length = rows.len() * padded(config.n_heads * config.head_dim);
        let y = gpu.buffer("y", length);
        let (n, window) = (rows.len(), window.map(|window| window as usize));
        let args = Attention { rows: &rows_buffer, first: 1, n, n_keys: 1, window, qkv: &qkv, text: &text, suffix: &suffix, y: &y };
        let mut recording = Recording::new(gpu);
        record(&mut recording, config, &args);
        recording.run();
        gpu.read_f32(&y, length).await.unwrap()
    }

    /// Rows that see parts of the text and of suffixes, as `[prefix_end, suffix_start, suffix_end]`, and in windows less of them.
    async fn check(head_dim: usize, ranges: &[[u32; 3]], window: Option<u32>) {
        let config = config("qwen3", 6, 2, head_dim);
        let (slot, width, stride) = (cached_slot(&config), qkv_width(&config), padded(6 * head_dim));
        let (qkv, text, suffix) = (random(ranges.len() * width, 1), random(300 * slot, 2), random(300 * slot, 3));
        let row = |&[prefix_end, suffix_start, suffix_end]: &[u32; 3]| {
            let position = prefix_end + suffix_end - suffix_start - 1;
            Row { position, prefix_end, suffix_start, suffix_end, ..Row::default() }
        };
        let rows: Vec<Row> = ranges.iter().map(row).collect();
        for gpu in gpus_and_interpreters().await {
            let y = run(&gpu, &config, &rows, window, [&qkv, &text, &suffix]).await;
            for ((row, q), y) in rows.iter().zip(qkv.chunks(width)).zip(y.chunks(stride)) {
                for h in 0..6 {
                    let of_suffix = slots(&config, &suffix, h, row.suffix_start..row.suffix_end);
                    let all: Vec<_> = slots(&config, &text, h, 0..row.prefix_end).chain(of_suffix).collect();
                    let seen = &all[all.len().saturating_sub(window.map_or(all.len(), |window| window as usize))..];
                    let expected = reference(config.attention_scale, &q[h * head_dim..][..head_dim], seen);
                    assert_close(&format!("{row:?} {}", gpu.variant.name), &y[h * head_dim..][..head_dim], &expected, 2e-5);
                }
                assert!(y[6 * head_dim..].iter().all(|&value| value == 0.0));
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn each_row_sees_its_part_of_the_text_and_its_own_suffix() {
        for head_dim in [2, 6, 48, 64, 128] {
            let ranges = [[1, 0, 0], [0, 5, 6], [63, 0, 0], [64, 0, 1], [65, 3, 130], [199, 100, 299], [0, 0, 64]];
            check(head_dim, &ranges, None).await;
        }
        for window in [1, 64, 150, 10_000] {
            check(6, &[[1, 0, 0], [65, 3, 130], [199, 100, 299]], Some(window)).await;
        }
    }
}
