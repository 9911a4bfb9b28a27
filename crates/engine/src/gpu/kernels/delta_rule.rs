//! Updates the recurrent state of a Gated DeltaNet layer (Yang et al. 2024, arXiv 2412.06464), chunk by chunk. The products of a chunk
//! with the state are matrix products. The products between its tokens are computed first (section 3.3 there).

use super::{LINE, one_dimensional, two_dimensional};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::config::DeltaNet;

wgsl_struct! {
    struct Params {
        first: usize,
        n: usize,
        n_key_heads: usize,
        n_value_heads: usize,
        /// Stride of a row of inputs in vec4, and of a row of y in f32 values.
        stride: usize,
        y_stride: usize,
        /// Slot of the state before the first row (not read if the text begins there), and slot of the state after the last row.
        old_slot: usize,
        new_slot: usize,
        begins: bool,
        /// Whether the kernel writes y.
        is_read: bool,
    }
}

/// Number of tokens that update the state together. Results depend on where chunks begin, but not on anything else.
pub const CHUNK: usize = 32;

/// `n` consecutive rows of one text, starting at row `first` of the inputs and of y.
#[derive(Clone, Copy)]
pub struct DeltaRule<'a> {
    pub first: usize,
    pub n: usize,
    /// `[rows, stride]`; the stride is a multiple of 4: see [`super::delta_inputs`].
    pub inputs: &'a Buffer,
    pub stride: usize,
    /// `[rows, products_width]`: products between the tokens of a chunk.
    pub products: &'a Buffer,
    /// `[slots, n_value_heads, head_dim of the key, head_dim of the value]`.
    pub states: &'a Buffer,
    /// Slot of the state before the rows; `None` at the start of a text.
    pub from: Option<usize>,
    pub to: usize,
    /// `[rows, y_stride]`.
    pub y: &'a Buffer,
    pub y_stride: usize,
    /// Whether to compute y.
    pub is_read: bool,
}

pub fn record<'a>(recording: &mut Recording<'a>, sizes: DeltaNet, args: &DeltaRule<'a>) {
    let &DeltaRule { first, n, inputs, stride, products, states, from, to, y, y_stride, is_read } = args;
    let DeltaNet { n_key_heads, n_value_heads, head_dim } = sizes;
    let (old_slot, begins) = (from.unwrap_or(0), from.is_none());
    let params = || Params { n_key_heads, n_value_heads, first, n, stride: stride / 4, y_stride, old_slot, new_slot: to, begins, is_read };
    // A single token has no products with other tokens.
    if n > 1 {
        let items = [n_value_heads * CHUNK, n];
        let operations = (2 * items[0] * n * head_dim) as f64;
        recording.dispatch_of(operations, products_kernel(head_dim / 4), params().into(), &[inputs, products], items);
    }
    let operations = operations_per_row(sizes) * (n + 1) as f64;
    let kernel = kernel(recording.gpu().variant, head_dim / 4);
    recording.dispatch_of(operations, kernel, params().into(), &[inputs, products, states, y], [sizes.value_width(), 1]);
}

/// Operations per token: two products of the state with a vector, and an update of the whole state.
pub fn operations_per_row(sizes: DeltaNet) -> f64 {
    7.0 * (sizes.value_width() * sizes.head_dim) as f64
}

/// f32 values of a state.
pub fn state_length(sizes: DeltaNet) -> usize {
    sizes.value_width() * sizes.head_dim
}

/// f32 values of the products of a row.
pub fn products_width(sizes: DeltaNet) -> usize {
    2 * CHUNK * sizes.n_value_heads
}

/// The kernel for heads of `vecs` vec4.
pub fn kernel(variant: &Variant, vecs: usize) -> Kernel {
    let kernel = if variant.shares_memory {
        // The state of these columns takes at most 8 kB, for heads of up to 256 values.
        let columns = if vecs > 32 { 8 } else { 16 };
        Kernel::new("delta_rule_shared", [columns, 1]).with_u32("WIDTH", LINE).with_u32("COLUMNS", columns)
    } else {
        let kernel = one_dimensional("delta_rule");
        Kernel { items_per_workgroup: [4 * LINE, 1], ..kernel }
    };
    with_constants(kernel, vecs)
}

/// The kernel for the products between the tokens of a chunk.
pub fn products_kernel(vecs: usize) -> Kernel {
    with_constants(two_dimensional("delta_products"), vecs)
}

fn with_constants(kernel: Kernel, vecs: usize) -> Kernel {
    kernel.with_u32("VECS", vecs).with_u32("CHUNK", CHUNK).with_params(Params::WGSL)
}

/// Updates a state with rows of inputs, `[rows, channels and rates]`. Returns the outputs, `[rows, value_width]`. Follows the definition,
/// in float64.
pub fn reference(sizes: DeltaNet, rows: &[f32], state: &mut [f64]) -> Vec<f32> {
    let DeltaNet { n_key_heads, n_value_heads, head_dim: dim } = sizes;
    let mut read = Vec::new();
    for row in rows.chunks(sizes.channels() + 2 * n_value_heads) {
        let value = |at: usize| f64::from(row[at]);
        for (h, state) in state.chunks_mut(dim * dim).enumerate() {
            let (q, k) = (h % n_key_heads * dim, (n_key_heads + h % n_key_heads) * dim);
            let (decay, beta) = (value(sizes.channels() + h), value(sizes.channels() + n_value_heads + h));
            state.iter_mut().for_each(|s| *s *= decay);
            for j in 0..dim {
                let answer: f64 = (0..dim).map(|i| state[i * dim + j] * value(k + i)).sum();
                let update = beta * (value((2 * n_key_heads + h) * dim + j) - answer);
                (0..dim).for_each(|i| state[i * dim + j] += value(k + i) * update);
            }
            read.extend((0..dim).map(|j| (0..dim).map(|i| state[i * dim + j] * value(q + i)).sum::<f64>() as f32));
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::kernels::padded;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus_and_interpreters, random};

    /// Inputs of some rows, with and without padding. Keys have a length of about 1, rates are in [0, 1].
    fn inputs(sizes: DeltaNet, n: usize, stride: usize) -> (Vec<f32>, Vec<f32>) {
        let slot = sizes.channels() + 2 * sizes.n_value_heads;
        let mut rows = random(n * slot, 1);
        for row in rows.chunks_mut(slot) {
            row[..sizes.channels()].iter_mut().for_each(|value| *value *= (3.0 / sizes.head_dim as f32).sqrt());
            row[sizes.channels()..].iter_mut().for_each(|rate| *rate = 0.5 + 0.5 * *rate);
        }
        let padded = rows.chunks(slot).flat_map(|row| row.iter().copied().chain(vec![SENTINEL; stride - slot])).collect();
        (padded, rows)
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn state_is_decayed_corrected_and_read() {
        for gpu in gpus_and_interpreters().await {
            for (n_key_heads, n_value_heads, head_dim, n) in
                [(1, 1, 4, 1), (2, 2, 8, 3), (2, 6, 16, 31), (1, 3, 20, 32), (1, 2, 64, 33), (1, 1, 128, 2), (1, 2, 8, 103)]
            {
                let sizes = DeltaNet { n_key_heads, n_value_heads, head_dim };
                let (length, width) = (state_length(sizes), sizes.value_width());
                let (stride, y_stride) = (padded(sizes.channels() + 2 * n_value_heads), padded(width));
                let (padded_rows, rows) = inputs(sizes, n, stride);
                let old = random(length, 2);
                // From zero to slot 1, then in place without output; from slot 0 to slot 2.
                let states = gpu.buffer_with_f32("states", &[&old[..], &vec![SENTINEL; 3 * length]].concat());
                let (input, y) = (gpu.buffer_with_f32("inputs", &padded_rows), gpu.buffer_with_f32("y", &vec![SENTINEL; 2 * n * y_stride]));
                let products = gpu.buffer_with_f32("products", &vec![SENTINEL; n * products_width(sizes)]);
                let args = |from, to, is_read| DeltaRule {
                    first: 0,
                    n,
                    inputs: &input,
                    stride,
                    products: &products,
                    states: &states,
                    from,
                    to,
                    y: &y,
                    y_stride,
                    is_read,
                };
                let (mut from_nothing, mut from_old) = (vec![0.0; length], old.iter().map(|&value| value.into()).collect::<Vec<f64>>());
                let read_after_nothing = reference(sizes, &rows, &mut from_nothing);
                reference(sizes, &rows, &mut from_nothing);
                let read_after_old = reference(sizes, &rows, &mut from_old);
                for (from, to, is_read, read) in
                    [(None, 1, true, &read_after_nothing), (Some(1), 1, false, &read_after_nothing), (Some(0), 2, true, &read_after_old)]
                {
                    let mut recording = Recording::new(&gpu);
                    record(&mut recording, sizes, &args(from, to, is_read));
                    recording.run();
                    let got = gpu.read_f32(&y, 2 * n * y_stride).await.unwrap();
                    for (got, expected) in got.chunks(y_stride).zip(read.chunks(width)) {
                        assert_close("read", &got[..width], expected, 2e-5);
                        assert!(got[width..].iter().all(|&value| value == SENTINEL));
                    }
                    assert!(got[n * y_stride..].iter().all(|&value| value == SENTINEL));
                }
                let got = gpu.read_f32(&states, 4 * length).await.unwrap();
                let f32s = |state: &[f64]| state.iter().map(|&value| value as f32).collect::<Vec<f32>>();
                let all = [old, f32s(&from_nothing), f32s(&from_old), vec![SENTINEL; length]].concat();
                assert_close("states", &got, &all, 2e-5);
            }
        }
    }
}
