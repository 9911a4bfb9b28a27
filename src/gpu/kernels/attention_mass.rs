//! Attention weights, summed over ranges of the text as they are computed: attention maps are never stored.

use std::ops::Range;

use super::attention::score_scale;
use super::qkv_rope_cache::{cached_head, qkv_width};
use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::device::Gpu;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use crate::model::config::Config;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        n_heads: usize,
        n_kv_heads: usize,
        head_dim: usize,
        /// f32 of a row of qkv.
        q_stride: usize,
        /// Of the scores: see [`score_scale`].
        scale: f32,
        first_target: usize,
        n_targets: usize,
        n_ranges: usize,
    }
}

/// Sums of attention weights over all layers, per target, head and range.
pub struct AttentionSums {
    /// Positions, each predicted by the row before it.
    targets: Range<usize>,
    /// `[n_ranges]` of (start, end).
    ranges: Buffer,
    n_ranges: usize,
    /// `[targets, n_heads, n_ranges]`.
    sums: Buffer,
}

impl AttentionSums {
    pub fn new(gpu: &Gpu, config: &Config, targets: Range<usize>, ranges: &[Range<usize>]) -> Self {
        let words: Vec<u32> = ranges.iter().flat_map(|range| [range.start as u32, range.end as u32]).collect();
        let sums = gpu.buffer("attention sums", targets.len() * config.n_heads * ranges.len());
        Self { ranges: gpu.buffer_with("ranges", &words), n_ranges: ranges.len(), sums, targets }
    }

    /// How many f32 [`AttentionSums::buffer`] has.
    pub fn length(&self, config: &Config) -> usize {
        self.targets.len() * config.n_heads * self.n_ranges
    }

    /// `[targets, n_heads, n_ranges]`.
    pub fn buffer(&self) -> &Buffer {
        &self.sums
    }

    /// Adds up the heads of what was read back: `[targets, n_ranges]`.
    pub fn over_heads(&self, config: &Config, sums: &[f32]) -> Vec<f64> {
        let over_heads = |heads: &[f32]| {
            (0..self.n_ranges).map(|r| heads[r..].iter().step_by(self.n_ranges).map(|&sum| f64::from(sum)).sum()).collect::<Vec<f64>>()
        };
        sums.chunks(config.n_heads * self.n_ranges).flat_map(over_heads).collect()
    }
}

/// `n` rows of the text from `first` on; `qkv` and `text` as in [`super::attention::Attention`].
pub struct AttentionMass<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub qkv: &'a Buffer,
    pub text: &'a Buffer,
}

/// Adds one layer's weights to the sums.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, args: &AttentionMass<'a>, sums: &'a AttentionSums) {
    let &AttentionMass { rows, first, n, qkv, text } = args;
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let &AttentionSums { ref targets, ref ranges, n_ranges, ref sums } = sums;
    let kernel = two_dimensional("attention_mass").with_u32("VECS", cached_head(config) / 4);
    let (q_stride, scale) = (qkv_width(config), score_scale(head_dim));
    let (first_target, n_targets) = (targets.start, targets.len());
    let params = Params { n, first, n_heads, n_kv_heads, head_dim, q_stride, scale, first_target, n_targets, n_ranges };
    recording.dispatch(kernel, params, &[rows, qkv, text, ranges, sums], [n_heads, n]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::super::qkv_rope_cache::cached_slot;
    use super::*;
    use crate::gpu::batch::{Row, text_rows};
    use crate::gpu::testing::{assert_close, config, gpus, random};

    /// Of one row: softmax(q k^T / sqrt(d)), summed over heads, over `range` of the keys that it sees.
    fn reference(config: &Config, q: &[f32], text: &[f32], seen: usize, range: &Range<usize>) -> f32 {
        let (slot, head, dim) = (cached_slot(config), cached_head(config), config.head_dim);
        let of_head = |h: usize| {
            let key = |s: usize| &text[s * slot + h / (config.n_heads / config.n_kv_heads) * head..][..dim];
            let dot = |s: usize| q[h * dim..][..dim].iter().zip(key(s)).map(|(&q, &k)| f64::from(q) * f64::from(k)).sum::<f64>();
            let weights: Vec<f64> = (0..seen).map(|s| (dot(s) / (dim as f64).sqrt()).exp()).collect();
            weights[range.start.min(seen)..range.end.min(seen)].iter().sum::<f64>() / weights.iter().sum::<f64>()
        };
        (0..config.n_heads).map(of_head).sum::<f64>() as f32
    }

    async fn check(head_dim: usize, n: usize) {
        let config = config("qwen3", 6, 2, head_dim);
        let width = qkv_width(&config);
        let (qkv, text) = (random(n * width, 1), random((n + 1) * cached_slot(&config), 2));
        let rows: Vec<Row> = text_rows(&vec![5.into(); n + 1], 0);
        let (targets, ranges) = (n / 2 + 2..n + 2, [0..1, 1..n / 2 + 1, n / 2 + 1..n + 1]);
        for gpu in gpus().await {
            let [qkv_buffer, text_buffer] = [&qkv, &text].map(|values| gpu.buffer_with_f32("input", values));
            let row_buffer = gpu.buffer_with("rows", &Row::all_words(&rows));
            let sums = AttentionSums::new(&gpu, &config, targets.clone(), &ranges);
            let args = AttentionMass { rows: &row_buffer, first: 1, n, qkv: &qkv_buffer, text: &text_buffer };
            let mut recording = Recording::new(&gpu);
            // Two layers with the same weights.
            record(&mut recording, &config, &args, &sums);
            record(&mut recording, &config, &args, &sums);
            recording.run();
            let by_head = gpu.read_f32(sums.buffer(), sums.length(&config)).await.unwrap();
            let sums: Vec<f32> = sums.over_heads(&config, &by_head).into_iter().map(|sum| sum as f32).collect();
            let of_target = |t: usize| {
                let q = &qkv[(t - 2) * width..][..width];
                ranges.each_ref().map(|range| 2.0 * reference(&config, q, &text, t, range))
            };
            assert_close(gpu.variant.name, &sums, &targets.clone().flat_map(of_target).collect::<Vec<f32>>(), 2e-5);
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn weights_are_summed_over_ranges_heads_and_layers() {
        for (head_dim, n) in [(2, 1), (6, 3), (48, 4), (64, 5), (20, 67)] {
            check(head_dim, n).await;
        }
    }
}
