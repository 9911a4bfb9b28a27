//! Causal attention with grouped queries (Ainslie et al. 2023) over a prefix of the text and the row's own suffix.

use std::ops::Range;

use super::qkv_rope_cache::{cached_head, cached_slot, qkv_width};
use super::{MAX_INVOCATIONS, padded, two_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        n_heads: usize,
        n_kv_heads: usize,
        head_dim: usize,
        /// Stride of a row of qkv, and of a row of y, in f32 values.
        q_stride: usize,
        y_stride: usize,
        /// Scale of the scores: see [`Config::attention_scale`].
        scale: f32,
        /// Maximum number of keys that a row attends to. Not read if the layer has no window.
        window: usize,
    }
}

/// Attention of `n` rows, starting at row `first`.
pub struct Attention<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    /// Maximum number of keys that a row attends to. Used only to estimate the work.
    pub n_keys: usize,
    /// Maximum number of keys in this layer's window: the row's own key and the keys directly before it.
    pub window: Option<usize>,
    /// `[n, qkv_width]`, queries first.
    pub qkv: &'a Buffer,
    /// Keys and values of the text: `[slots, key and value, n_kv_heads, padded head_dim]`.
    pub text: &'a Buffer,
    /// Keys and values of the suffixes.
    pub suffix: &'a Buffer,
    /// `[n, n_heads head_dim]` padded to 16.
    pub y: &'a Buffer,
}

/// `y[r, h] = sum over s of softmax(scale q[r, h] . k[s]) v[s]`.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, attention: &Attention<'a>) {
    let &Attention { rows, first, n, n_keys, window, qkv, text, suffix, y } = attention;
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let kernel = kernel(recording.gpu().variant, cached_head(config) / 4, window.is_some());
    let items = if kernel.name == TILES { [n_kv_heads, n * (n_heads / n_kv_heads)] } else { [n_heads, n] };
    let (q_stride, y_stride, scale) = (qkv_width(config), padded(n_heads * head_dim), config.attention_scale as f32);
    let (n_keys, window) = (window.map_or(n_keys, |window| window.min(n_keys)), window.unwrap_or(0));
    let params = Params { n, first, n_heads, n_kv_heads, head_dim, q_stride, y_stride, scale, window };
    let operations = operations_per_row(config, n_keys) * n as f64;
    recording.dispatch_of(operations, kernel, params.into(), &[rows, qkv, text, suffix, y], items);
}

/// Operations for a row that attends to `n_keys` keys: products with each key, and with each value.
pub fn operations_per_row(config: &Config, n_keys: usize) -> f64 {
    4.0 * (config.n_heads * config.head_dim * n_keys) as f64
}

const TILES: &str = "attention_tiles";
/// More slices do not fit in the memory of a workgroup.
const MAX_SLICES: usize = 16;

/// The kernel for heads of `vecs` vec4 in the cache.
pub fn kernel(variant: &Variant, vecs: usize, has_window: bool) -> Kernel {
    let slices = vecs.div_ceil(4);
    let kernel = if !variant.shares_memory || slices > MAX_SLICES {
        two_dimensional("attention")
    } else {
        let queries = (MAX_INVOCATIONS / slices).min(32);
        Kernel::new(TILES, [1, queries]).with_u32("QUERIES", queries).with_u32("SLICES", slices)
    };
    kernel.with_u32("VECS", vecs).with_bool("WINDOW", has_window).with_params(Params::WGSL)
}

/// softmax(scale q k^T) v for one head over `slots` of (key, value). Follows the definition, in float64.
pub fn reference(scale: f64, q: &[f32], slots: &[(&[f32], &[f32])]) -> Vec<f32> {
    let dot = |k: &[f32]| q.iter().zip(k).map(|(&q, &k)| f64::from(q) * f64::from(k)).sum::<f64>();
    let weights: Vec<f64> = slots.iter().map(|(k, _)| (dot(k) * scale).exp()).collect();
    let total: f64 = weights.iter().sum();
    (0..q.len()).map(|i| (slots.iter().zip(&weights).map(|((_, v), w)| w * f64::from(v[i])).sum::<f64>() / total) as f32).collect()
}

/// Keys and values of the slots `range` for query head `h`.
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
    use crate::gpu::testing::{assert_close, config, gpus, gpus_and_interpreters, random};

    /// Returns y, `[rows, padded n_heads head_dim]`.
    async fn run(gpu: &Gpu, config: &Config, rows: &[Row], window: Option<u32>, [qkv, text, suffix]: [&[f32]; 3]) -> Vec<f32> {
        // The first row is not computed.
        let rows_buffer = gpu.buffer_with("rows", &[Row::default().words().to_vec(), Row::all_words(rows)].concat());
        let [qkv, text, suffix] = [qkv, text, suffix].map(|values| gpu.buffer_with_f32("input", values));
        let length = rows.len() * padded(config.n_heads * config.head_dim);
        let y = gpu.buffer("y", length);
        let (n, window) = (rows.len(), window.map(|window| window as usize));
        let (rows, qkv, text, suffix, y) = (&rows_buffer, &qkv, &text, &suffix, &y);
        let args = Attention { rows, first: 1, n, n_keys: 1, window, qkv, text, suffix, y };
        let mut recording = Recording::new(gpu);
        record(&mut recording, config, &args);
        recording.run();
        gpu.read_f32(y, length).await.unwrap()
    }

    fn row(&[prefix_end, suffix_start, suffix_end]: &[u32; 3]) -> Row {
        Row { position: prefix_end + suffix_end - suffix_start - 1, prefix_end, suffix_start, suffix_end, ..Row::default() }
    }

    /// Checks rows that attend to parts of the text and of suffixes, given as `[prefix_end, suffix_start, suffix_end]`.
    async fn check(gpus: &[Gpu], head_dim: usize, ranges: &[[u32; 3]], window: Option<u32>) {
        let config = config("qwen3", 6, 2, head_dim);
        let (slot, width, stride) = (cached_slot(&config), qkv_width(&config), padded(6 * head_dim));
        let (qkv, text, suffix) = (random(ranges.len() * width, 1), random(300 * slot, 2), random(300 * slot, 3));
        let rows: Vec<Row> = ranges.iter().map(row).collect();
        for gpu in gpus {
            let y = run(gpu, &config, &rows, window, [&qkv, &text, &suffix]).await;
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
    async fn row_attends_to_text_and_own_suffix() {
        let gpus = gpus_and_interpreters().await;
        for head_dim in [2, 6, 48, 64, 128, 260] {
            let ranges = [[1, 0, 0], [0, 5, 6], [63, 0, 0], [64, 0, 1], [65, 3, 130], [199, 100, 299], [0, 0, 64]];
            check(&gpus, head_dim, &ranges, None).await;
        }
        for window in [1, 64, 150, 10_000] {
            check(&gpus, 6, &[[1, 0, 0], [65, 3, 130], [199, 100, 299]], Some(window)).await;
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_that_do_not_fill_workgroup_are_right() {
        let gpus = gpus_and_interpreters().await;
        // A workgroup has 32 queries, three per row, or 16 queries if heads are large.
        for n in [10, 11, 21, 22] {
            check(&gpus, 6, &(0..n).map(|i| [20, 7, 8 + i]).collect::<Vec<_>>(), None).await;
        }
        check(&gpus, 6, &(0..22).map(|i| [i + 1, 0, 0]).collect::<Vec<_>>(), Some(9)).await;
        check(&gpus, 256, &(0..6).map(|i| [9, 1, 2 + i]).collect::<Vec<_>>(), None).await;
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn bits_do_not_depend_on_other_rows() {
        const SHIFT: u32 = 5;
        let config = config("qwen3", 6, 2, 48);
        let (slot, width) = (cached_slot(&config), qkv_width(&config));
        // Rows of a text, and of two suffixes.
        let text_rows = (60..73).map(|end| [end, 0, 0]);
        let ranges = text_rows.chain((1..13).map(|end| [30, 0, end])).chain((13..40).map(|end| [41, 12, end]));
        let rows: Vec<Row> = ranges.map(|range| row(&range)).collect();
        let (qkv, text, suffix) = (random(rows.len() * width, 1), random(80 * slot, 2), random(50 * slot, 3));
        let shift = |row: &Row| Row { suffix_start: row.suffix_start + SHIFT, suffix_end: row.suffix_end + SHIFT, ..*row };
        let shifted = [&random(SHIFT as usize * slot, 4)[..], &suffix].concat();
        for (gpu, window) in gpus().await.iter().flat_map(|gpu| [None, Some(20)].map(|window| (gpu, window))) {
            let whole = run(gpu, &config, &rows, window, [&qkv, &text, &suffix]).await;
            for block in [1, 5, 16] {
                let mut blocks = Vec::new();
                for (rows, qkv) in rows.chunks(block).zip(qkv.chunks(block * width)) {
                    let rows: Vec<Row> = rows.iter().map(shift).collect();
                    blocks.extend(run(gpu, &config, &rows, window, [qkv, &text, &shifted]).await);
                }
                assert!(whole.iter().zip(&blocks).all(|(a, b)| a.to_bits() == b.to_bits()), "{} {block}", gpu.variant.name);
            }
        }
    }
}
