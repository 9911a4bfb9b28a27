//! y = x W^T for some rows of a matrix.

use std::ops::Range;

use super::{HEIGHT, LINE, RowView, WIDTH};
use crate::gpu::format::{Format, GROUP};
use crate::gpu::kernel::Kernel;
use crate::gpu::pacing::rows_per_dispatch;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::weights::Slab;
use crate::gpu::wgsl::wgsl_struct;
use crate::lm::blocks::blocks;
use crate::model::arch::Gate;

wgsl_struct! {
    struct Params {
        /// Tokens.
        n: usize,
        /// First row of x and of y.
        x_first: usize,
        y_first: usize,
        /// Groups of 16 values in a row of W.
        groups: usize,
        /// Words.
        row_words: usize,
        /// vec4 of a row of x, f32 of a row of y.
        x_stride: usize,
        y_stride: usize,
        /// Rows of W: `rows` from `w_first` on; they become columns of y from `column` on.
        rows: usize,
        w_first: usize,
        column: usize,
        /// y is added to.
        add: bool,
        /// Rows from the first of two to the second, which one invocation of `matvec_shared` computes.
        second: usize,
    }
}

/// What to multiply, and where the product goes.
pub struct Matmul<'a> {
    pub slab: &'a Slab,
    /// Rows of the slab to use.
    pub rows: Range<usize>,
    /// Tokens.
    pub n: usize,
    /// A row has at least the matrix's columns, padded to 16 with zeros; its stride is a multiple of 4.
    pub x: RowView<'a>,
    pub y: RowView<'a>,
    /// The column of y that the first row becomes.
    pub column: usize,
    /// y is added to.
    pub add: bool,
    /// The one token of a step of generating. Its kernel sums in another order than that for rows, which gives a row the same bits
    /// however many there are.
    pub is_step: bool,
    /// The rows are those of gates, and then as many others: y is the gates times the others, as in `swiglu`.
    pub gate: Option<Gate>,
}

impl<'a> Matmul<'a> {
    /// All rows of a slab, as the columns of y that have their numbers in the matrix.
    pub fn by_slab(slab: &'a Slab, n: usize, x: RowView<'a>, y: RowView<'a>) -> Self {
        Self { slab, rows: 0..slab.rows.len(), n, x, y, column: slab.rows.start, add: false, is_step: false, gate: None }
    }

    /// Some rows of a slab, as the columns of y from 0 on.
    pub fn by_rows(slab: &'a Slab, rows: Range<usize>, n: usize, x: RowView<'a>, y: RowView<'a>) -> Self {
        Self { slab, rows, n, x, y, column: 0, add: false, is_step: false, gate: None }
    }

    /// The product is added to y.
    pub fn adding(self) -> Self {
        Self { add: true, ..self }
    }

    /// All rows of the one slab that has gates and what they are for; only where the adapter [`can_gate`].
    pub fn gated(slab: &'a Slab, gate: Gate, x: RowView<'a>, y: RowView<'a>) -> Self {
        Self { gate: Some(gate), ..Self::by_slab(slab, 1, x, y).for_step(true) }
    }

    /// For a step of generating: `n` is 1.
    pub fn for_step(self, is_step: bool) -> Self {
        Self { is_step, ..self }
    }
}

/// Whether the kernel of a step computes gates, too.
pub fn can_gate(variant: &Variant, is_step: bool) -> bool {
    variant.shares_memory && is_step
}

/// y[t, column + r] (+)= sum over k of x[t, k] W[r, k]. `2 n rows columns` operations, in several dispatches where that is more than
/// one should take.
pub fn record<'a>(recording: &mut Recording<'a>, matmul: &Matmul<'a>) {
    let &Matmul { slab, ref rows, n, x, y, column, add, is_step, gate } = matmul;
    let kernel = kernel(recording.gpu().variant, is_step, gate, slab.format);
    let per_row = 2.0 * (n * slab.groups * GROUP) as f64;
    let at_once = match is_step {
        true => rows.len().max(1),
        false => rows_per_dispatch(recording.max_dispatch(), per_row, kernel.items_per_workgroup[0]),
    };
    for block in blocks(rows.clone(), at_once) {
        let params = Params {
            n,
            x_first: x.first,
            y_first: y.first,
            groups: slab.groups,
            row_words: slab.row_words,
            x_stride: x.stride / 4,
            y_stride: y.stride,
            rows: block.len(),
            w_first: block.start,
            column: column + block.start - rows.start,
            add,
            second: gate.map_or(8, |_| block.len() / 2),
        };
        let columns = gate.map_or(block.len(), |_| block.len() / 2);
        let buffers = [&slab.buffer, x.buffer, y.buffer];
        recording.dispatch_of(per_row * block.len() as f64, kernel.clone(), params.into(), &buffers, [columns, n]);
    }
}

/// The kernel that a step of decoding takes, or that for more tokens.
pub fn kernel(variant: &Variant, is_step: bool, gate: Option<Gate>, format: &'static Format) -> Kernel {
    let kernel = match (variant.shares_memory, is_step) {
        (false, true) => Kernel::new("matvec", [4 * LINE, 1]).with_u32("WIDTH", LINE),
        (false, false) => Kernel::new("matmul", [8 * WIDTH, 4 * HEIGHT]).with_u32("WIDTH", WIDTH).with_u32("HEIGHT", HEIGHT),
        (true, true) => Kernel::new("matvec_shared", [if gate.is_some() { 8 } else { 16 }, 1])
            .with_u32("WIDTH", 2 * LINE)
            .with_bool("GATED", gate.is_some())
            .with_bool("GELU", gate == Some(Gate::Gelu)),
        (true, false) => Kernel::new("matmul_tiles", [64, 64]),
    };
    kernel.with_format(format, variant).with_params(Params::WGSL)
}

/// `[n, rows]` from dequantized weights `[rows, columns]`, by the definition in float64.
pub fn reference(x: &[f32], w: &[f32], columns: usize) -> Vec<f32> {
    let product = |x: &[f32], w: &[f32]| x.iter().zip(w).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum::<f64>() as f32;
    x.chunks(columns).flat_map(|x| w.chunks(columns).map(move |w| product(x, w))).collect()
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::super::{padded, swiglu};
    use super::*;
    use crate::gpu::device::Gpu;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus, gpus_and_interpreters, interpreters, random};
    use crate::gpu::weights::Slab;
    use crate::model::dequantize::tests::some_blocks;
    use crate::model::quant::QUANTS;

    /// As [`check_kernel`], with each kernel that can do it.
    async fn check(gpus: &[Gpu], name: &str, rows: usize, columns: usize, n: usize) {
        for is_step in [false, true].into_iter().filter(|&is_step| n == 1 || !is_step) {
            check_kernel(gpus, name, rows, columns, n, is_step).await;
        }
    }

    /// Multiplies `n` rows of `columns` values with a matrix of `rows` rows of type `name`.
    async fn check_kernel(gpus: &[Gpu], name: &str, rows: usize, columns: usize, n: usize, is_step: bool) {
        let quant = QUANTS.iter().find(|quant| quant.name == name).unwrap();
        let bytes = some_blocks(quant, rows, columns, 1.0);
        let w = quant.values(&bytes);
        let x = random(n * columns, 2);
        let expected = reference(&x, &w, columns);
        for gpu in gpus {
            let slab = Slab::from_bytes(gpu, quant, columns, &bytes);
            let stride = padded(columns);
            let mut x_rows = vec![0.0; (n + 1) * stride];
            for (row, values) in x.chunks(columns).enumerate() {
                x_rows[(row + 1) * stride..][..columns].copy_from_slice(values);
            }
            let x_buffer = gpu.buffer_with_f32("x", &x_rows);
            let y_stride = rows + 3;
            let y_buffer = gpu.buffer_with_f32("y", &vec![SENTINEL; (n + 2) * y_stride]);
            let (x, y) = (RowView::new(&x_buffer, stride).starting_at(1), RowView::new(&y_buffer, y_stride).starting_at(1));
            let matmul = Matmul { column: 2, ..Matmul::by_slab(&slab, n, x, y).for_step(is_step) };
            let mut recording = Recording::new(gpu);
            record(&mut recording, &matmul);
            record(&mut recording, &matmul.adding());
            recording.run();
            let y = gpu.read_f32(&y_buffer, (n + 2) * y_stride).await.unwrap();
            let got: Vec<f32> = y.chunks(y_stride).skip(1).take(n).flat_map(|row| row[2..2 + rows].to_vec()).collect();
            let twice: Vec<f32> = expected.iter().map(|value| 2.0 * value).collect();
            assert_close(&format!("{name} {rows}x{columns} n={n} {}", gpu.variant.name), &got, &twice, 2e-5);
            let kept = y.iter().filter(|&&value| value == SENTINEL).count();
            assert_eq!(kept, y.len() - n * rows, "{name} {rows}x{columns} n={n}: wrote outside");
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn every_quantization_multiplies_like_its_dequantized_weights() {
        let (gpus, interpreters) = (gpus().await, interpreters().await);
        for quant in QUANTS {
            for n in [1, 9] {
                check(&gpus, quant.name, 70, 512, n).await;
                check(&interpreters, quant.name, 5, 256, n).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn sizes_that_fill_no_workgroup_are_right() {
        let (gpus, interpreters) = (gpus().await, interpreters().await);
        for (rows, n) in [(1, 1), (3, 2), (63, 63), (64, 64), (65, 65), (199, 199), (1, 199), (1031, 1)] {
            check(&gpus, "F32", rows, 20, n).await;
            check(&interpreters, "F32", rows.min(65), 20, n.min(65)).await;
        }
        for columns in [1, 15, 16, 17, 48, 64, 64 * 16 + 1, 2100] {
            for n in [1, 3] {
                check(&gpus, "F16", 5, columns, n).await;
                check(&interpreters, "F16", 5, columns.min(81), n).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn gates_are_those_of_the_products() {
        let gates = [Gate::Silu, Gate::Gelu];
        for gpu in gpus_and_interpreters().await.iter().filter(|gpu| can_gate(gpu.variant, true)) {
            for (gate, ffn_dim) in gates.into_iter().flat_map(|gate| [1, 7, 8, 9, 31].map(|ffn_dim| (gate, ffn_dim))) {
                let (w, x) = (random(2 * ffn_dim * 32, 1), random(32, 2));
                let bytes: Vec<u8> = w.iter().flat_map(|value| value.to_le_bytes()).collect();
                let slab = Slab::from_bytes(gpu, &QUANTS[0], 32, &bytes);
                let products = reference(&x, &w, 32);
                let (x, y) = (gpu.buffer_with_f32("x", &x), gpu.buffer_with_f32("y", &vec![SENTINEL; ffn_dim + 2]));
                let mut recording = Recording::new(gpu);
                record(&mut recording, &Matmul::gated(&slab, gate, RowView::new(&x, 32), RowView::new(&y, ffn_dim)));
                recording.run();
                let (gate_products, others) = products.split_at(ffn_dim);
                let expected = gate_products.iter().zip(others).map(|(&g, &other)| swiglu::reference(gate, g, other));
                let expected: Vec<f32> = expected.chain([SENTINEL; 2]).collect();
                assert_close("gates", &gpu.read_f32(&y, ffn_dim + 2).await.unwrap(), &expected, 2e-5);
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_of_a_slab_can_be_used_by_themselves() {
        for gpu in gpus_and_interpreters().await {
            let bytes: Vec<u8> = (0..12).flat_map(|i| (i as f32).to_le_bytes()).collect();
            let slab = Slab::from_bytes(&gpu, &QUANTS[0], 2, &bytes);
            let mut x = vec![0.0; 16];
            x[..2].copy_from_slice(&[1.0, 10.0]);
            let (x, y) = (gpu.buffer_with_f32("x", &x), gpu.buffer("y", 2));
            let mut recording = Recording::new(&gpu);
            record(&mut recording, &Matmul::by_rows(&slab, 3..5, 1, RowView::new(&x, 16), RowView::new(&y, 2)));
            recording.run();
            assert_eq!(gpu.read_f32(&y, 2).await.unwrap(), [76.0, 98.0]);
        }
    }
}
