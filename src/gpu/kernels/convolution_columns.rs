//! What a gated short convolution keeps of each row, for itself and for the rows after it: see [`super::convolution`].

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
        /// f32 of a row of x.
        stride: usize,
        /// How many f32 after one factor the other begins.
        factor: usize,
    }
}

/// `n` rows from `first` on.
pub struct ConvolutionColumns<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub channels: usize,
    /// `[n, b and c and x, channels]`.
    pub projected: &'a Buffer,
    /// `[slots, channels]`, written at each row's slot: b x.
    pub cache: &'a Buffer,
}

pub fn record<'a>(recording: &mut Recording<'a>, args: &ConvolutionColumns<'a>) {
    let &ConvolutionColumns { rows, first, n, channels, projected, cache } = args;
    let params = Params { n, first, channels, stride: 3 * channels, factor: 2 * channels };
    recording.dispatch(kernel(), params, &[rows, projected, cache], [channels, n]);
}

pub fn kernel() -> Kernel {
    two_dimensional("convolution_columns").with_params(Params::WGSL)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{SENTINEL, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn each_row_is_kept_at_its_slot() {
        for gpu in gpus_and_interpreters().await {
            for (n, channels) in [(1, 1), (3, 15), (4, 16), (5, 17), (19, 55)] {
                let projected = random(3 * n * channels, 1);
                // Slots backwards, after a row that is not to be computed.
                let rows: Vec<Row> = (0..=n as u32).map(|i| Row { slot: n as u32 - i, ..Row::default() }).collect();
                let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
                let input = gpu.buffer_with_f32("projected", &projected);
                let cache = gpu.buffer_with_f32("cache", &vec![SENTINEL; (n + 1) * channels]);
                let mut recording = Recording::new(&gpu);
                record(&mut recording, &ConvolutionColumns { rows: &rows, first: 1, n, channels, projected: &input, cache: &cache });
                recording.run();
                let got = gpu.read_f32(&cache, (n + 1) * channels).await.unwrap();
                let row = |row: &[f32]| (0..channels).map(|c| row[c] * row[2 * channels + c]).collect::<Vec<f32>>();
                let kept: Vec<f32> = projected.chunks(3 * channels).rev().flat_map(row).collect();
                assert_eq!(got, [kept, vec![SENTINEL; channels]].concat());
            }
        }
    }
}
