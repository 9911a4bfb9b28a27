//! Caches the values of each row that later rows read. For a gated short convolution, these are products (see [`super::convolution`]).

use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        channels: usize,
        /// Stride of a row of x, in f32 values.
        stride: usize,
        /// Distance between the two factors in f32 values. Not read if there is only one.
        factor: usize,
        /// Number of slots in the cache. Rows reuse them in turn.
        ring: usize,
    }
}

/// More slots than any cache has.
pub const NO_RING: usize = 1 << 30;

/// Arguments for `n` rows, starting at row `first`.
pub struct ConvolutionColumns<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub channels: usize,
    /// `[n, stride]`.
    pub projected: &'a Buffer,
    pub stride: usize,
    /// If set, each channel is multiplied by the value this many places after it.
    pub factor: Option<usize>,
    /// `[slots, channels]`, written at each row's slot. Contains b x for rows of b, c and x.
    pub cache: &'a Buffer,
    /// Number of slots in the cache. Rows reuse them in turn.
    pub ring: usize,
}

impl<'a> ConvolutionColumns<'a> {
    /// Caches the products b x of rows that consist of b, c and x with `channels` values each.
    pub fn product(rows: &'a Buffer, first: usize, n: usize, channels: usize, projected: &'a Buffer, cache: &'a Buffer) -> Self {
        Self { rows, first, n, channels, projected, stride: 3 * channels, factor: Some(2 * channels), cache, ring: NO_RING }
    }
}

pub fn record<'a>(recording: &mut Recording<'a>, args: &ConvolutionColumns<'a>) {
    let &ConvolutionColumns { rows, first, n, channels, projected, stride, factor, cache, ring } = args;
    let params = Params { n, first, channels, stride, factor: factor.unwrap_or(0), ring };
    recording.dispatch(kernel(factor.is_some()), params, &[rows, projected, cache], [channels, n]);
}

/// The kernel that caches products, or projected values as they are.
pub fn kernel(is_product: bool) -> Kernel {
    two_dimensional("convolution_columns").with_bool("PRODUCT", is_product).with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{SENTINEL, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn row_is_cached_in_its_slot() {
        for gpu in gpus_and_interpreters().await {
            for (n, channels) in [(1, 1), (3, 15), (4, 16), (5, 17), (19, 55)] {
                let projected = random(3 * n * channels, 1);
                // Slots in reverse order. The first row is not computed.
                let rows: Vec<Row> = (0..=n as u32).map(|i| Row { slot: n as u32 - i, ..Row::default() }).collect();
                let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
                let input = gpu.buffer_with_f32("projected", &projected);
                let cache = gpu.buffer_with_f32("cache", &vec![SENTINEL; (n + 1) * channels]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &ConvolutionColumns::product(&rows, 1, n, channels, &input, &cache));
                recording.run();
                let got = gpu.read_f32(&cache, (n + 1) * channels).await.unwrap();
                let row = |row: &[f32]| (0..channels).map(|c| row[c] * row[2 * channels + c]).collect::<Vec<f32>>();
                let kept: Vec<f32> = projected.chunks(3 * channels).rev().flat_map(row).collect();
                assert_eq!(got, [kept, vec![SENTINEL; channels]].concat());
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn last_rows_stay_in_small_ring() {
        for gpu in gpus_and_interpreters().await {
            let (n, channels, stride, ring) = (9, 5, 7, 4);
            let projected = random(n * stride, 1);
            let rows: Vec<Row> = (0..n as u32).map(|i| Row { slot: 2 + i, ..Row::default() }).collect();
            let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
            let (input, cache) = (gpu.buffer_with_f32("projected", &projected), gpu.buffer("cache", ring * channels));
            let mut recording = Recording::new(&gpu);
            let columns =
                ConvolutionColumns { stride, factor: None, ring, ..ConvolutionColumns::product(&rows, 0, n, channels, &input, &cache) };
            record(&mut recording, &columns);
            recording.run();
            let got = gpu.read_f32(&cache, ring * channels).await.unwrap();
            for r in n - ring..n {
                assert_eq!(got[(2 + r) % ring * channels..][..channels], projected[r * stride..][..channels]);
            }
        }
    }
}
