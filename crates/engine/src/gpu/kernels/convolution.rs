//! The gated short convolution of LFM2 over a prefix of the text and the row's own suffix.

use super::{padded, two_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        channels: usize,
        taps: usize,
        /// Stride of a row of gates, and column of its first gate, in f32 values.
        gate_stride: usize,
        gate_first: usize,
        /// Stride of a row of y, in f32 values.
        y_stride: usize,
    }
}

/// Arguments for `n` rows, starting at row `first`.
pub struct Convolution<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub channels: usize,
    pub taps: usize,
    /// `[channels, taps]`. The last tap is for the row itself.
    pub w: &'a Buffer,
    /// Cached inputs of the text, and of the suffixes: `[slots, channels]`; see [`super::convolution_columns`].
    pub text: &'a Buffer,
    pub suffix: &'a Buffer,
    /// `[n, b and c and x, channels]`. The sums are multiplied by c.
    pub projected: &'a Buffer,
    /// `[n, channels]` padded to 16.
    pub y: &'a Buffer,
}

pub fn record<'a>(recording: &mut Recording<'a>, args: &Convolution<'a>) {
    let &Convolution { rows, first, n, channels, taps, w, text, suffix, projected, y } = args;
    let (gate_stride, gate_first, y_stride) = (3 * channels, channels, padded(channels));
    let params = Params { n, first, channels, taps, gate_stride, gate_first, y_stride };
    recording.dispatch(kernel(), params, &[rows, w, text, suffix, projected, y], [channels, n]);
}

pub fn kernel() -> Kernel {
    two_dimensional("convolution").with_params(Params::WGSL)
}

/// Convolution at the last of `rows`, `[.., channels]`, by the definition in float64.
pub fn reference(w: &[f32], taps: usize, rows: &[&[f32]]) -> Vec<f32> {
    let term = |c: usize, d: usize| f64::from(w[(c + 1) * taps - 1 - d]) * f64::from(rows[rows.len() - 1 - d][c]);
    (0..w.len() / taps).map(|c| (0..taps.min(rows.len())).map(|d| term(c, d)).sum::<f64>() as f32).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters, random};

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn row_reads_suffix_and_text_before_it() {
        // Each is `[prefix_end, suffix_start, suffix_end]`: the start of a text, its middle, and suffixes.
        let ranges = [[1, 0, 0], [2, 0, 0], [9, 0, 0], [9, 2, 3], [9, 2, 4], [9, 2, 8], [0, 3, 4], [1, 3, 5]];
        for gpu in gpus_and_interpreters().await {
            for (channels, taps) in [(1, 1), (15, 2), (16, 3), (17, 4), (55, 3)] {
                let (n, stride) = (ranges.len(), padded(channels));
                let [w, text, suffix, projected] =
                    [(channels * taps, 1), (10 * channels, 2), (10 * channels, 3), (3 * n * channels, 4)].map(|(n, seed)| random(n, seed));
                let row = |[prefix_end, suffix_start, suffix_end]: [u32; 3]| Row { prefix_end, suffix_start, suffix_end, ..Row::default() };
                let rows: Vec<Row> = std::iter::once(Row::default()).chain(ranges.map(row)).collect();
                let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
                let inputs = [&w, &text, &suffix, &projected].map(|values| gpu.buffer_with_f32("input", values));
                let [w_buffer, text_buffer, suffix_buffer, projected_buffer] = &inputs;
                let y = gpu.buffer_with_f32("y", &vec![SENTINEL; n * stride]);
                let mut recording = Recording::new(&gpu);
                let args = Convolution {
                    rows: &rows,
                    first: 1,
                    n,
                    channels,
                    taps,
                    w: w_buffer,
                    text: text_buffer,
                    suffix: suffix_buffer,
                    projected: projected_buffer,
                    y: &y,
                };
                record(&mut recording, &args);
                recording.run();
                let y = gpu.read_f32(&y, n * stride).await.unwrap();
                for ((range, y), gates) in ranges.iter().zip(y.chunks(stride)).zip(projected.chunks(3 * channels)) {
                    let [prefix_end, start, end] = range.map(|slot| slot as usize * channels);
                    let seen: Vec<&[f32]> = text[..prefix_end].chunks(channels).chain(suffix[start..end].chunks(channels)).collect();
                    let sums = reference(&w, taps, &seen);
                    let expected: Vec<f32> = sums.iter().zip(&gates[channels..]).map(|(sum, gate)| gate * sum).collect();
                    assert_close(&format!("{range:?}"), &y[..channels], &expected, 1e-5);
                    assert!(y[channels..].iter().all(|&value| value == SENTINEL));
                }
            }
        }
    }
}
