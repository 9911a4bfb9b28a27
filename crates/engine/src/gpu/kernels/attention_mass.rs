//! Sums attention weights and information flow over ranges of the text while computing them. Never stores attention maps.

use std::ops::Range;

use super::attention::operations_per_row;
use super::qkv_rope_cache::{cached_head, cached_slot, qkv_width};
use super::{padded, two_dimensional, workgroup_per_item};
use crate::gpu::buffer::Buffer;
use crate::gpu::device::Gpu;
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
        /// Stride of a row of qkv, and of a row of outputs, in f32 values.
        q_stride: usize,
        output_stride: usize,
        /// Scale of the scores: see [`Config::attention_scale`].
        scale: f32,
        /// Maximum number of keys that a row attends to. Not read if the layer has no window.
        window: usize,
        first_target: usize,
        n_targets: usize,
        n_ranges: usize,
    }
}

/// Sums of attention weights and flow over all layers, per target, head and range: see [`crate::lm::Readout`].
pub struct AttentionSums {
    /// Positions of the targets. The row before a target predicts it.
    targets: Range<usize>,
    /// `[n_ranges]` of (start, end).
    ranges: Buffer,
    n_ranges: usize,
    /// `[targets, n_heads, n_ranges]` of (weight, flow).
    sums: Buffer,
}

impl AttentionSums {
    pub fn new(gpu: &Gpu, config: &Config, targets: Range<usize>, ranges: &[Range<usize>]) -> Self {
        let words: Vec<u32> = ranges.iter().flat_map(|range| [range.start as u32, range.end as u32]).collect();
        let sums = gpu.buffer("attention sums", n_sums(config, targets.len(), ranges.len()));
        Self { ranges: gpu.buffer_with("ranges", &words), n_ranges: ranges.len(), sums, targets }
    }

    /// Number of f32 values in [`AttentionSums::buffer`].
    pub fn length(&self, config: &Config) -> usize {
        n_sums(config, self.targets.len(), self.n_ranges)
    }

    /// `[targets, n_heads, n_ranges]` of (weight, flow).
    pub fn buffer(&self) -> &Buffer {
        &self.sums
    }

    /// Like [`AttentionSums::buffer`], but consumes `self`.
    pub fn into_buffer(self) -> Buffer {
        self.sums
    }

    /// Sums over heads the values that were read back. Returns weights and flow, each `[targets, n_ranges]`.
    pub fn over_heads(&self, config: &Config, sums: &[f32]) -> (Vec<f64>, Vec<f64>) {
        let of_range = |heads: &[f32], r: usize| heads[r..].iter().step_by(2 * self.n_ranges).map(|&sum| f64::from(sum)).sum::<f64>();
        let targets = sums.chunks(2 * config.n_heads * self.n_ranges);
        targets.flat_map(|heads| (0..self.n_ranges).map(move |r| (of_range(heads, 2 * r), of_range(heads, 2 * r + 1)))).unzip()
    }
}

/// Two f32 values for each target, head and range. In a browser the product may exceed `usize`; no GPU has a buffer of the largest length.
fn n_sums(config: &Config, n_targets: usize, n_ranges: usize) -> usize {
    [n_targets, config.n_heads, n_ranges].into_iter().fold(2, usize::saturating_mul)
}

/// Arguments for `n` rows of the text, starting at row `first`. `qkv` and `text` are those of [`super::attention::Attention`], and
/// `outputs` is its y.
pub struct AttentionMass<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    /// Maximum number of keys in this layer's window: the row's own key and the keys directly before it.
    pub window: Option<usize>,
    pub qkv: &'a Buffer,
    pub text: &'a Buffer,
    pub outputs: &'a Buffer,
}

/// Adds one layer's weights and flow to the sums.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, args: &AttentionMass<'a>, sums: &'a AttentionSums) {
    let &AttentionMass { rows, first, n, window, qkv, text, outputs } = args;
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let &AttentionSums { ref targets, ref ranges, n_ranges, ref sums } = sums;
    let kernel = kernel(recording.gpu().variant, cached_head(config) / 4, window.is_some());
    let (q_stride, output_stride, scale) = (qkv_width(config), padded(n_heads * head_dim), config.attention_scale as f32);
    let window = window.unwrap_or(0);
    let (first_target, n_targets) = (targets.start, targets.len());
    let params =
        Params { n, first, n_heads, n_kv_heads, head_dim, q_stride, output_stride, scale, window, first_target, n_targets, n_ranges };
    let operations = operations_per_row(config, targets.end) * n as f64;
    recording.dispatch_of(operations, kernel, params.into(), &[rows, qkv, text, ranges, outputs, sums], [n_heads, n]);
}

/// The kernel for heads of `vecs` vec4 in the cache.
pub fn kernel(variant: &Variant, vecs: usize, has_window: bool) -> Kernel {
    let kernel = if variant.shares_memory {
        workgroup_per_item("attention_mass_shared").with_u32("Q_LENGTH", 4 * vecs)
    } else {
        two_dimensional("attention_mass")
    };
    kernel.with_u32("VECS", vecs).with_bool("WINDOW", has_window).with_params(Params::WGSL)
}

/// Reference for one row that attends to the first `seen` slots of a text, in float64.
pub struct Reference<'a> {
    pub config: &'a Config,
    pub q: &'a [f32],
    pub text: &'a [f32],
    pub seen: usize,
    /// If set, only the last `window` slots count.
    pub window: Option<usize>,
}

impl Reference<'_> {
    /// The key or the value of slot `s` for query head `h`.
    fn read(&self, s: usize, h: usize, is_value: bool) -> impl Iterator<Item = f64> {
        let Config { n_heads, n_kv_heads, head_dim, .. } = *self.config;
        let head = h / (n_heads / n_kv_heads) + if is_value { n_kv_heads } else { 0 };
        self.text[s * cached_slot(self.config) + head * cached_head(self.config)..][..head_dim].iter().map(|&x| f64::from(x))
    }

    /// alpha = softmax(scale q k^T) of head `h`, `[seen]`.
    fn weights(&self, h: usize) -> Vec<f64> {
        let dim = self.config.head_dim;
        let q = || self.q[h * dim..][..dim].iter().map(|&q| f64::from(q));
        let score = |s: usize| q().zip(self.read(s, h, false)).map(|(q, k)| q * k).sum::<f64>() * self.config.attention_scale;
        let first = self.seen - self.window.unwrap_or(self.seen).min(self.seen);
        let exponentials: Vec<f64> = (0..self.seen).map(|s| if s < first { 0.0 } else { score(s).exp() }).collect();
        exponentials.iter().map(|x| x / exponentials.iter().sum::<f64>()).collect()
    }

    /// Sum of alpha v over some slots for head `h`: `[head_dim]`.
    fn weighted_values(&self, h: usize, slots: Range<usize>) -> Vec<f64> {
        let mut sum = vec![0.0; self.config.head_dim];
        for (s, weight) in self.weights(h).iter().enumerate().filter(|(s, _)| slots.contains(s)) {
            sum.iter_mut().zip(self.read(s, h, true)).for_each(|(sum, v)| *sum += weight * v);
        }
        sum
    }

    /// Outputs of all heads, `[n_heads, head_dim]`.
    pub fn output(&self) -> Vec<f64> {
        (0..self.config.n_heads).flat_map(|h| self.weighted_values(h, 0..self.seen)).collect()
    }

    /// Weight on a range and flow from it, for head `h`. `output` is the result of [`Reference::output`].
    pub fn weight_and_flow(&self, h: usize, range: &Range<usize>, output: &[f64]) -> [f64; 2] {
        let whole: f64 = output.iter().map(|o| o * o).sum();
        let own = &output[h * self.config.head_dim..][..self.config.head_dim];
        let share = self.weighted_values(h, range.clone()).iter().zip(own).map(|(part, o)| part * o).sum::<f64>() / whole;
        let weights = &self.weights(h)[range.start.min(self.seen)..range.end.min(self.seen)];
        [weights.iter().sum(), share.max(0.0).powi(2)]
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::{Row, text_rows};
    use crate::gpu::testing::{SENTINEL, assert_close, config, gpus_and_interpreters, random};

    async fn check(gpus: &[Gpu], head_dim: usize, n: usize, window: Option<usize>) {
        let config = config("qwen3", 6, 2, head_dim);
        let width = qkv_width(&config);
        let (qkv, text) = (random(n * width, 1), random((n + 1) * cached_slot(&config), 2));
        let rows: Vec<Row> = text_rows(&vec![5.into(); n + 1], 0);
        let (targets, ranges) = (n / 2 + 2..n + 2, [0..1, 1..n / 2 + 1, n / 2 + 1..n + 1]);
        // Row r of the dispatch is at position r + 1.
        let of_row = |r: usize| Reference { config: &config, q: &qkv[r * width..][..width], text: &text, seen: r + 2, window };
        let mut outputs = vec![0.0; n * padded(config.n_heads * head_dim)];
        for (r, output) in outputs.chunks_mut(padded(config.n_heads * head_dim)).enumerate() {
            output.iter_mut().zip(of_row(r).output()).for_each(|(o, exact)| *o = exact as f32);
        }
        let over_heads = |row: &Reference<'_>, range: &Range<usize>| {
            let by_head = (0..config.n_heads).map(|h| row.weight_and_flow(h, range, &row.output()));
            by_head.fold([0.0; 2], |sum, [weight, flow]| [sum[0] + weight, sum[1] + flow])
        };
        let exact: Vec<[f64; 2]> = targets.clone().flat_map(|t| ranges.each_ref().map(|range| over_heads(&of_row(t - 2), range))).collect();
        for gpu in gpus {
            let [qkv_buffer, text_buffer, output_buffer] = [&qkv, &text, &outputs].map(|values| gpu.buffer_with_f32("input", values));
            let row_buffer = gpu.buffer_with("rows", &Row::all_words(&rows));
            let mut sums = AttentionSums::new(gpu, &config, targets.clone(), &ranges);
            let length = sums.length(&config);
            sums.sums = gpu.buffer_with_f32("sums", &[vec![0.0; length], vec![SENTINEL; 64]].concat());
            let args =
                AttentionMass { rows: &row_buffer, first: 1, n, window, qkv: &qkv_buffer, text: &text_buffer, outputs: &output_buffer };
            let mut recording = Recording::new(gpu);
            // Two layers with the same weights.
            record(&mut recording, &config, &args, &sums);
            record(&mut recording, &config, &args, &sums);
            recording.run();
            let by_head = gpu.read_f32(sums.buffer(), length + 64).await.unwrap();
            assert!(by_head[length..].iter().all(|&value| value == SENTINEL), "{}: wrote outside", gpu.variant.name);
            let (weights, flows) = sums.over_heads(&config, &by_head[..length]);
            for (which, sums) in [weights, flows].iter().enumerate() {
                let got: Vec<f32> = sums.iter().map(|&sum| sum as f32).collect();
                let expected: Vec<f32> = exact.iter().map(|exact| 2.0 * exact[which] as f32).collect();
                assert_close(gpu.variant.name, &got, &expected, 2e-5);
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn weights_and_flow_are_summed() {
        let gpus = gpus_and_interpreters().await;
        for (head_dim, n) in [(2, 1), (6, 3), (48, 4), (64, 5), (20, 67)] {
            check(&gpus, head_dim, n, None).await;
        }
        check(&gpus, 6, 9, Some(4)).await;
    }
}
