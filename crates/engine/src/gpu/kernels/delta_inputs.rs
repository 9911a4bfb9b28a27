//! Prepares the inputs of a Gated DeltaNet layer (Yang et al. 2024, arXiv 2412.06464): see [`super::delta_rule`].

use super::convolution;
use super::two_dimensional;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::DeltaNet;

wgsl_struct! {
    struct Params {
        n: usize,
        first: usize,
        /// f32 values in a slot of the caches.
        slot: usize,
        taps: usize,
        n_key_heads: usize,
        n_value_heads: usize,
        head_dim: usize,
        /// Stride of a row of projected values, and of a row of y, in f32 values.
        stride: usize,
        y_stride: usize,
        /// Number of slots in the caches. Rows reuse them in turn.
        text_ring: usize,
        suffix_ring: usize,
        /// Whether all inputs are in the text's cache.
        is_replay: bool,
    }
}

/// Arguments for `n` rows, starting at row `first`.
#[derive(Clone, Copy)]
pub struct DeltaInputs<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    pub taps: usize,
    /// `[channels, taps]`.
    pub w: &'a Buffer,
    /// a of each value head, then dt bias of each value head.
    pub rates: &'a Buffer,
    /// Cached values of the text, and of the suffixes, `[ring, slot]` each.
    pub text: &'a Buffer,
    pub suffix: &'a Buffer,
    pub text_ring: usize,
    pub suffix_ring: usize,
    /// `[n, stride]`: the values of a slot, then gates.
    pub projected: &'a Buffer,
    pub stride: usize,
    /// Whether the rows belong to the text and `projected` does not contain them.
    pub is_replay: bool,
    /// `[n, y_stride]`: as many values as a slot has.
    pub y: &'a Buffer,
    pub y_stride: usize,
}

pub fn record<'a>(recording: &mut Recording<'a>, sizes: DeltaNet, args: &DeltaInputs<'a>) {
    let &DeltaInputs { rows, first, n, taps, w, rates, text, suffix, text_ring, suffix_ring, projected, stride, is_replay, y, y_stride } =
        args;
    let DeltaNet { n_key_heads, n_value_heads, head_dim } = sizes;
    let slot = sizes.channels() + 2 * n_value_heads;
    let params = Params { n, first, slot, taps, n_key_heads, n_value_heads, head_dim, stride, y_stride, text_ring, suffix_ring, is_replay };
    let operations = 4.0 * (slot * taps * n) as f64;
    let items = [2 * (n_key_heads + n_value_heads), n];
    recording.dispatch_of(operations, kernel(), params.into(), &[rows, w, rates, text, suffix, projected, y], items);
}

pub fn kernel() -> Kernel {
    two_dimensional("delta_inputs").with_params(Params::WGSL)
}

/// Inputs of the last of `rows`, `[.., slot]`, by the definition in float64.
pub fn reference(sizes: DeltaNet, w: &[f32], rates: &[f32], taps: usize, rows: &[&[f32]]) -> Vec<f32> {
    let DeltaNet { n_key_heads, n_value_heads, head_dim } = sizes;
    let silu = |sum: f32| f64::from(sum) / (1.0 + (-f64::from(sum)).exp());
    let mut values: Vec<f64> = convolution::reference(w, taps, rows).into_iter().map(silu).collect();
    for (h, head) in values.chunks_mut(head_dim).take(2 * n_key_heads).enumerate() {
        let length = (head.iter().map(|value| value * value).sum::<f64>() + 1e-6).sqrt();
        let scale = if h < n_key_heads { (head_dim as f64).sqrt() } else { 1.0 };
        head.iter_mut().for_each(|value| *value /= length * scale);
    }
    let of_head = |at: usize| rows[rows.len() - 1][sizes.channels() + at];
    let decay = |h: usize| (f64::from(rates[h]) * f64::from(of_head(h) + rates[n_value_heads + h]).exp().ln_1p()).exp();
    let beta = |h: usize| 1.0 / (1.0 + (-f64::from(of_head(n_value_heads + h))).exp());
    values.extend((0..n_value_heads).map(decay).chain((0..n_value_heads).map(beta)));
    values.into_iter().map(|value| value as f32).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::kernels::convolution_columns::NO_RING;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters, random};

    /// Tests a text of 12 rows, whose last rows are a block, in a ring of 12 slots or fewer. Also tests a suffix after 9 rows of the
    /// text.
    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn row_reads_block_suffix_and_text() {
        for gpu in gpus_and_interpreters().await {
            for (n_key_heads, n_value_heads, head_dim, taps, ring) in
                [(1, 1, 4, 1, 12), (2, 4, 8, 4, 12), (1, 3, 12, 4, 4), (2, 2, 20, 3, 12)]
            {
                let sizes = DeltaNet { n_key_heads, n_value_heads, head_dim };
                let slot = sizes.channels() + 2 * n_value_heads;
                let (stride, y_stride) = (slot + 3, slot + 5);
                let [text, own, w, rates] = [(12 * slot, 1), (5 * slot, 2), (sizes.channels() * taps, 3), (2 * n_value_heads, 4)]
                    .map(|(length, seed)| random(length, seed));
                let all = |of: &[f32]| -> Vec<Vec<f32>> { of.chunks(slot).map(<[f32]>::to_vec).collect() };
                let (text, own) = (all(&text), all(&own));
                // Cached values of the text before the block.
                let mut kept = vec![0.0; ring * slot];
                (0..if ring < 12 { 9 } else { 12 }).for_each(|s| kept[s % ring * slot..][..slot].copy_from_slice(&text[s]));
                let is_ring = ring < 12;
                let of_text = |s: u32| Row { slot: s, prefix_end: s + 1, ..Row::default() };
                let of_suffix = |i: u32| Row { slot: 1 + i, prefix_end: 9, suffix_start: 1, suffix_end: 2 + i, ..Row::default() };
                let mut cases = vec![((9..12).map(of_text).collect::<Vec<Row>>(), &text[9..], false, NO_RING)];
                if !is_ring {
                    cases.push(((0..12).map(of_text).collect(), &text[..], true, NO_RING));
                    cases.push(((2..4).map(of_suffix).collect(), &own[2..4], false, NO_RING));
                    cases.push(((2..4).map(of_suffix).collect(), &own[2..4], false, 4));
                }
                for (rows, block, is_replay, suffix_ring) in cases {
                    let n = rows.len();
                    let projected: Vec<f32> = block.iter().flat_map(|row| row.iter().copied().chain([SENTINEL; 3])).collect();
                    // Slots 0 to 5. In a ring, only the slots before the block are valid.
                    let mut suffix: Vec<f32> = std::iter::once(vec![0.0; slot]).chain(own.iter().cloned()).flatten().collect();
                    if suffix_ring != NO_RING {
                        suffix[3 * slot..].fill(SENTINEL);
                    }
                    let row_buffer = gpu.buffer_with("rows", &Row::all_words(&[&[Row::default()], &rows[..]].concat()));
                    let [w_buffer, rates_buffer, text_buffer, suffix_buffer, projected_buffer] =
                        [&w, &rates, &kept, &suffix, &projected].map(|values| gpu.buffer_with_f32("input", values));
                    let y = gpu.buffer_with_f32("y", &vec![SENTINEL; n * y_stride]);
                    let args = DeltaInputs {
                        rows: &row_buffer,
                        first: 1,
                        n,
                        taps,
                        w: &w_buffer,
                        rates: &rates_buffer,
                        text: &text_buffer,
                        suffix: &suffix_buffer,
                        text_ring: ring,
                        suffix_ring,
                        projected: &projected_buffer,
                        stride,
                        is_replay,
                        y: &y,
                        y_stride,
                    };
                    let mut recording = Recording::new(&gpu);
                    record(&mut recording, sizes, &args);
                    recording.run();
                    let got = gpu.read_f32(&y, n * y_stride).await.unwrap();
                    for (i, got) in got.chunks(y_stride).enumerate() {
                        let is_text = rows[i].suffix_end == 0;
                        let position = if is_text { rows[i].slot as usize } else { 2 + i };
                        let seen: Vec<&[f32]> = match is_text {
                            true => text[..=position].iter().map(|row| &row[..]).collect(),
                            false => text[..9].iter().chain(&own[..=position]).map(|row| &row[..]).collect(),
                        };
                        let expected = reference(sizes, &w, &rates, taps, &seen);
                        assert_close(&format!("{sizes:?}, {position}"), &got[..slot], &expected, 2e-5);
                        assert!(got[slot..].iter().all(|&value| value == SENTINEL));
                    }
                }
            }
        }
    }
}
