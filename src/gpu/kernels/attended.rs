//! Attention weights, summed over ranges of the text where they arise: whole maps are never kept.

use std::ops::Range;

use super::heads::{cached_head, qkv_width};
use super::rectangle;
use crate::gpu::device::{Buffer, Gpu};
use crate::gpu::recording::Recording;
use crate::model::config::Config;

/// What is summed, over all layers.
pub struct Attended {
    /// Positions, each predicted by the row before it.
    targets: Range<usize>,
    /// `[n_ranges]` of (start, end).
    ranges: Buffer,
    n_ranges: usize,
    /// `[targets, n_heads, n_ranges]`.
    sums: Buffer,
}

impl Attended {
    pub fn new(gpu: &Gpu, config: &Config, targets: Range<usize>, ranges: &[Range<usize>]) -> Self {
        let words: Vec<u32> = ranges.iter().flat_map(|range| [range.start as u32, range.end as u32]).collect();
        let sums = gpu.buffer("attended", targets.len() * config.n_heads * ranges.len());
        Self { ranges: gpu.buffer_with("ranges", &words), n_ranges: ranges.len(), sums, targets }
    }

    /// How many f32 [`Attended::sums`] has.
    pub fn length(&self, config: &Config) -> usize {
        self.targets.len() * config.n_heads * self.n_ranges
    }

    pub fn sums(&self) -> &Buffer {
        &self.sums
    }

    /// The sums over all heads, `[targets, n_ranges]`.
    pub fn over_heads(&self, config: &Config, sums: &[f32]) -> Vec<f64> {
        let of_target = |heads: &[f32]| {
            (0..self.n_ranges).map(|r| heads[r..].iter().step_by(self.n_ranges).map(|&sum| f64::from(sum)).sum()).collect::<Vec<f64>>()
        };
        sums.chunks(config.n_heads * self.n_ranges).flat_map(of_target).collect()
    }
}

/// `n` rows of the text from `first` on; `qkv` and `text` as [`super::attention`] has them.
pub struct Looking<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub qkv: &'a Buffer,
    pub text: &'a Buffer,
}

/// Adds one layer's weights to the sums.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, looking: &Looking<'a>, attended: &'a Attended) {
    let &Looking { rows, first, n, qkv, text } = looking;
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let Attended { targets, ranges, n_ranges, sums } = attended;
    let kernel = rectangle("attended").number("VECS", cached_head(config) / 4);
    let sizes = [n, first, n_heads, n_kv_heads, head_dim, qkv_width(config)].map(|number| number as u32);
    let scale = ((head_dim as f64).powf(-0.5) as f32).to_bits();
    let of_targets = [targets.start, targets.len(), *n_ranges].map(|number| number as u32);
    let parameters = [&sizes[..], &[scale], &of_targets].concat();
    recording.dispatch(&kernel, &parameters, &[rows, qkv, text, ranges, sums], [n_heads, n]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::super::heads::cached_slot;
    use super::*;
    use crate::gpu::batch::{Row, text_rows};
    use crate::gpu::testing::{assert_close, config, gpus, random};

    /// Of one row: softmax(q k^T / sqrt(d)), summed over heads, over `range` of the keys that it sees.
    fn twin(config: &Config, q: &[f32], text: &[f32], seen: usize, range: &Range<usize>) -> f32 {
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
            let row_buffer = gpu.buffer_with("rows", &Row::words(&rows));
            let attended = Attended::new(&gpu, &config, targets.clone(), &ranges);
            let looking = Looking { rows: &row_buffer, first: 1, n, qkv: &qkv_buffer, text: &text_buffer };
            let mut recording = Recording::new(&gpu);
            // Two layers with the same weights.
            record(&mut recording, &config, &looking, &attended);
            record(&mut recording, &config, &looking, &attended);
            recording.run();
            let sums = gpu.read_f32(attended.sums(), attended.length(&config)).await.unwrap();
            let sums: Vec<f32> = attended.over_heads(&config, &sums).into_iter().map(|sum| sum as f32).collect();
            let of_target = |t: usize| {
                let q = &qkv[(t - 2) * width..][..width];
                ranges.each_ref().map(|range| 2.0 * twin(&config, q, &text, t, range))
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
