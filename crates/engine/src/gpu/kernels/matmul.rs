//! Matrix product y = x W^T for a range of rows of W.

use std::ops::Range;

use super::{HEIGHT, LINE, RowView, WIDTH};
use crate::gpu::buffer::Buffer;
use crate::gpu::format::{Format, GROUP};
use crate::gpu::kernel::Kernel;
use crate::gpu::pacing::rows_per_dispatch;
use crate::gpu::recording::Recording;
use crate::gpu::shapes::{TileShape, VectorShape};
use crate::gpu::variant::Variant;
use crate::gpu::weights::Slab;
use crate::gpu::wgsl::wgsl_struct;
use crate::lm::blocks::blocks;
use glasscage_model::arch::Gate;

wgsl_struct! {
    struct Params {
        /// Number of tokens.
        n: usize,
        /// First row of x and of y.
        x_first: usize,
        y_first: usize,
        /// Groups of 16 values in a row of W.
        groups: usize,
        /// 4-byte words of a row of W.
        row_words: usize,
        /// Stride of a row of x in vec4, and of a row of y in f32 values.
        x_stride: usize,
        y_stride: usize,
        /// Rows of W: `rows` rows, starting at `w_first`. They become columns of y, starting at `column`.
        rows: usize,
        w_first: usize,
        column: usize,
        /// Whether the product is added to `y` instead of replacing it.
        add: bool,
        /// Distance between the two rows of a pair in `matvec_shared`.
        second: usize,
        /// For RMSNorm of x: number of values in a row, and the number added to the mean of their squares.
        dim: usize,
        epsilon: f32,
    }
}

/// RMSNorm of x before the product, as in `rms_norm`.
#[derive(Clone, Copy)]
pub struct Norm<'a> {
    /// `[dim]`, padded with zeros like rows of x.
    pub weight: &'a Buffer,
    pub dim: usize,
    pub epsilon: f64,
}

/// Arguments of a matrix product.
pub struct Matmul<'a> {
    pub slab: &'a Slab,
    /// Rows of the slab to use.
    pub rows: Range<usize>,
    /// Number of tokens.
    pub n: usize,
    /// A row has at least as many values as the matrix has columns, padded to 16 with zeros. The stride is a multiple of 4.
    pub x: RowView<'a>,
    pub y: RowView<'a>,
    /// The first row of W becomes this column of y.
    pub column: usize,
    /// Whether the product is added to `y` instead of replacing it.
    pub add: bool,
    /// Whether this is the one token of a decode step. The kernel for decode steps sums in another order. The kernel for several rows
    /// gives each row the same bits, regardless of the number of rows.
    pub is_step: bool,
    /// If set, the first half of the rows are gates of the second half: y is the gated product, as in `swiglu`.
    pub gate: Option<Gate>,
    /// If set, x is normalized first. Only for adapters with [`computes_all_of_a_step`].
    pub norm: Option<Norm<'a>>,
}

impl<'a> Matmul<'a> {
    /// The product with all rows of a slab. Row `r` of the matrix becomes column `r` of y.
    pub fn by_slab(slab: &'a Slab, n: usize, x: RowView<'a>, y: RowView<'a>) -> Self {
        Self { slab, rows: 0..slab.rows.len(), n, x, y, column: slab.rows.start, add: false, is_step: false, gate: None, norm: None }
    }

    /// The product with some rows of a slab: `rows[i]` becomes column `i` of y.
    pub fn by_rows(slab: &'a Slab, rows: Range<usize>, n: usize, x: RowView<'a>, y: RowView<'a>) -> Self {
        Self { slab, rows, n, x, y, column: 0, add: false, is_step: false, gate: None, norm: None }
    }

    /// Adds the product to y.
    pub fn adding(self) -> Self {
        Self { add: true, ..self }
    }

    /// All rows of a slab that contains both gates and gated rows. Only for adapters with [`computes_all_of_a_step`].
    pub fn gated(slab: &'a Slab, gate: Gate, x: RowView<'a>, y: RowView<'a>) -> Self {
        Self { gate: Some(gate), ..Self::by_slab(slab, 1, x, y).for_step(true) }
    }

    /// Normalizes x before the product.
    pub fn normalizing(self, norm: Option<Norm<'a>>) -> Self {
        Self { norm, ..self }
    }

    /// Marks a decode step; then `n` is 1.
    pub fn for_step(self, is_step: bool) -> Self {
        Self { is_step, ..self }
    }
}

/// Whether the product kernel of a decode step also computes the norm before it and the gates after it.
pub fn computes_all_of_a_step(variant: &Variant, is_step: bool) -> bool {
    variant.shares_memory && is_step
}

/// y[t, column + r] (+)= sum over k of x[t, k] W[r, k]. `2 n rows columns` operations, in several dispatches if one would take too long.
pub fn record<'a>(recording: &mut Recording<'a>, matmul: &Matmul<'a>) {
    record_by(recording, matmul, recording.max_dispatch());
}

/// Like [`record`], but in one dispatch.
pub fn record_at_once<'a>(recording: &mut Recording<'a>, matmul: &Matmul<'a>) {
    record_by(recording, matmul, f64::INFINITY);
}

/// Records dispatches of at most `max_dispatch` operations.
fn record_by<'a>(recording: &mut Recording<'a>, matmul: &Matmul<'a>, max_dispatch: f64) {
    let &Matmul { slab, ref rows, n, x, y, column, add, is_step, gate, norm } = matmul;
    let gpu = recording.gpu();
    let kernel = match is_step {
        true => step_kernel(gpu.variant, gpu.shapes.get().vector, norm.is_some(), gate, slab.format),
        false => kernel(gpu.variant, gpu.shapes.get().tile, slab.format),
    };
    let per_row = 2.0 * (n * slab.groups * GROUP) as f64;
    let at_once = match is_step {
        true => rows.len().max(1),
        false => rows_per_dispatch(max_dispatch, per_row, kernel.items_per_workgroup[0]),
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
            dim: norm.map_or(0, |norm| norm.dim),
            epsilon: norm.map_or(0.0, |norm| norm.epsilon as f32),
        };
        let columns = gate.map_or(block.len(), |_| block.len() / 2);
        let buffers = [&slab.buffer, x.buffer, y.buffer, norm.map_or(x.buffer, |norm| norm.weight)];
        let bound = if computes_all_of_a_step(gpu.variant, is_step) { &buffers } else { &buffers[..3] };
        recording.dispatch_of(per_row * block.len() as f64, kernel.clone(), params.into(), bound, [columns, n]);
    }
}

/// The kernel for several rows, in the given tile shape.
pub fn kernel(variant: &Variant, shape: &TileShape, format: &'static Format) -> Kernel {
    let kernel = match variant.shares_memory {
        false => Kernel::new("matmul", [8 * WIDTH, 4 * HEIGHT]).with_u32("WIDTH", WIDTH).with_u32("HEIGHT", HEIGHT),
        true => Kernel::new("matmul_tiles", [64, 64]).with_u32("ROWS", shape.rows).with_u32("TOKENS", shape.tokens),
    };
    kernel.with_format(format, variant).with_params(Params::WGSL)
}

/// The kernel for a decode step, in the given shape.
pub fn step_kernel(variant: &Variant, shape: &VectorShape, is_normed: bool, gate: Option<Gate>, format: &'static Format) -> Kernel {
    let kernel = match variant.shares_memory {
        false => Kernel::new("matvec", [4 * LINE, 1]).with_u32("WIDTH", LINE),
        true => Kernel::new("matvec_shared", [if gate.is_some() { 8 } else { 16 }, 1])
            .with_bool("NORMED", is_normed)
            .with_bool("GATED", gate.is_some())
            .with_bool("GELU", gate == Some(Gate::Gelu))
            .with_u32("ROWS", shape.rows),
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

    use super::super::{padded, rms_norm, swiglu};
    use super::*;
    use crate::gpu::device::Gpu;
    use crate::gpu::shapes::{Shapes, TILE_SHAPES, VECTOR_SHAPES};
    use crate::gpu::testing::{SENTINEL, assert_close, gpus, gpus_and_interpreters, in_turn, interpreters, random};
    use crate::gpu::weights::Slab;
    use glasscage_model::dequantize::testing::some_blocks;
    use glasscage_model::quant::QUANTS;

    /// Calls [`check_kernel`] with each kernel that supports `n` rows. The kernel for decode steps runs in every shape.
    async fn check(gpus: &[Gpu], name: &str, rows: usize, columns: usize, n: usize) {
        check_kernel(gpus, name, rows, columns, n, false).await;
        for vector in VECTOR_SHAPES.iter().filter(|_| n == 1) {
            gpus.iter().for_each(|gpu| gpu.shapes.set(Shapes { vector, ..Shapes::default() }));
            check_kernel(gpus, name, rows, columns, n, true).await;
        }
    }

    /// Multiplies `n` rows of `columns` values by a matrix of `rows` rows of type `name`.
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
    async fn quantization_multiplies_like_dequantized_weights() {
        let (gpus, interpreters) = (gpus().await, interpreters().await);
        for (i, quant) in QUANTS.iter().enumerate() {
            for n in [1, 9] {
                // The self-test multiplies by all types on all GPUs.
                check(in_turn(&gpus, i), quant.name, 70, 512, n).await;
                check(&interpreters, quant.name, 5, 256, n).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn sizes_that_do_not_fill_workgroup_are_right() {
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

    /// Multiplies F16 and `Q4_K` weights in every tile shape, with tokens that do not fill a tile.
    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn tile_shapes_compute_same_bits() {
        let with_shapes = |gpus: Vec<Gpu>| gpus.into_iter().filter(|gpu| gpu.variant.shares_memory);
        let (gpus, interpreters) = (gpus().await, interpreters().await);
        let sizes = with_shapes(gpus).map(|gpu| (gpu, 131, 512)).chain(with_shapes(interpreters).map(|gpu| (gpu, 67, 256)));
        for (gpu, n, columns) in sizes {
            for name in ["F16", "Q4_K"] {
                let quant = QUANTS.iter().find(|quant| quant.name == name).unwrap();
                let bytes = some_blocks(quant, 70, columns, 1.0);
                let expected = reference(&random(n * columns, 2), &quant.values(&bytes), columns);
                let slab = Slab::from_bytes(&gpu, quant, columns, &bytes);
                let (x, y) = (gpu.buffer_with_f32("x", &random(n * columns, 2)), gpu.buffer("y", n * 70));
                let mut bits: Option<Vec<u32>> = None;
                for tile in TILE_SHAPES {
                    gpu.shapes.set(Shapes { tile, ..Shapes::default() });
                    let mut recording = Recording::new(&gpu);
                    record(&mut recording, &Matmul::by_slab(&slab, n, RowView::new(&x, columns), RowView::new(&y, 70)));
                    recording.run();
                    let got = gpu.read_f32(&y, n * 70).await.unwrap();
                    assert_close(&format!("{name} {tile:?}"), &got, &expected, 2e-5);
                    let got: Vec<u32> = got.iter().map(|value| value.to_bits()).collect();
                    assert_eq!(bits.get_or_insert_with(|| got.clone()), &got, "{name} {tile:?}: other bits");
                }
            }
        }
    }

    /// Multiplies a vector by `Q4_K` weights in every shape: rows that do not fill a workgroup, and more columns than lanes have.
    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn vector_shapes_compute_same_bits() {
        let quant = QUANTS.iter().find(|quant| quant.name == "Q4_K").unwrap();
        for gpu in gpus_and_interpreters().await.iter().filter(|gpu| computes_all_of_a_step(gpu.variant, true)) {
            for (rows, columns) in [(2, 256), (22, 1280), (46, 256)] {
                let (bytes, x) = (some_blocks(quant, rows, columns, 1.0), random(columns, 2));
                let (products, slab) = (reference(&x, &quant.values(&bytes), columns), Slab::from_bytes(gpu, quant, columns, &bytes));
                let (weight, x) = (gpu.buffer_with_f32("weight", &vec![1.0; columns]), gpu.buffer_with_f32("x", &x));
                let [y, normed, gated] = [rows, rows, rows / 2].map(|length| gpu.buffer("y", length));
                let norm = Some(Norm { weight: &weight, dim: columns, epsilon: 1e-3 });
                let mut bits: Option<Vec<u32>> = None;
                for vector in VECTOR_SHAPES {
                    gpu.shapes.set(Shapes { vector, ..Shapes::default() });
                    let mut recording = Recording::new(gpu);
                    let x = RowView::new(&x, columns);
                    let of = |y| Matmul::by_slab(&slab, 1, x, RowView::new(y, rows)).for_step(true);
                    record(&mut recording, &of(&y));
                    record(&mut recording, &of(&normed).normalizing(norm));
                    record(&mut recording, &Matmul::gated(&slab, Gate::Silu, x, RowView::new(&gated, rows / 2)).normalizing(norm));
                    recording.run();
                    let mut got = gpu.read_f32(&y, rows).await.unwrap();
                    assert_close(&format!("{vector:?}"), &got, &products, 2e-5);
                    got.extend(gpu.read_f32(&normed, rows).await.unwrap());
                    got.extend(gpu.read_f32(&gated, rows / 2).await.unwrap());
                    let got: Vec<u32> = got.iter().map(|value| value.to_bits()).collect();
                    assert_eq!(bits.get_or_insert_with(|| got.clone()), &got, "{vector:?}, {rows} rows: other bits");
                }
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn gates_use_their_products() {
        let gates = [Gate::Silu, Gate::Gelu];
        for gpu in gpus_and_interpreters().await.iter().filter(|gpu| computes_all_of_a_step(gpu.variant, true)) {
            let sizes = || gates.into_iter().flat_map(|gate| [1, 7, 8, 9, 31].map(|ffn_dim| (gate, ffn_dim)));
            for (vector, (gate, ffn_dim)) in VECTOR_SHAPES.iter().flat_map(|vector| sizes().map(move |sizes| (vector, sizes))) {
                gpu.shapes.set(Shapes { vector, ..Shapes::default() });
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
    async fn decode_step_normalizes_input() {
        for gpu in gpus_and_interpreters().await.iter().filter(|gpu| computes_all_of_a_step(gpu.variant, true)) {
            for (rows, dim) in [(5, 20), (17, 31), (9, 256)] {
                let (w, values, weight) = (random(rows * dim, 1), random(dim, 2), random(dim, 3));
                let normed = rms_norm::reference(&values, &weight, 1e-3);
                let products = reference(&normed, &w, dim);
                let bytes: Vec<u8> = w.iter().flat_map(|value| value.to_le_bytes()).collect();
                let slab = Slab::from_bytes(gpu, &QUANTS[0], dim, &bytes);
                let with_padding = |mut values: Vec<f32>| {
                    values.resize(padded(dim), 0.0);
                    gpu.buffer_with_f32("input", &values)
                };
                let (x, weight) = (with_padding(values), with_padding(weight));
                let norm = Some(Norm { weight: &weight, dim, epsilon: 1e-3 });
                let [y, gated] = [rows, rows / 2].map(|length| gpu.buffer("y", length));
                let halves = Slab::from_bytes(gpu, &QUANTS[0], dim, &bytes[..rows / 2 * 2 * dim * 4]);
                let mut recording = Recording::new(gpu);
                let x = RowView::new(&x, padded(dim));
                record(&mut recording, &Matmul::by_slab(&slab, 1, x, RowView::new(&y, rows)).for_step(true).normalizing(norm));
                record(&mut recording, &Matmul::gated(&halves, Gate::Silu, x, RowView::new(&gated, rows / 2)).normalizing(norm));
                recording.run();
                assert_close("products", &gpu.read_f32(&y, rows).await.unwrap(), &products, 2e-5);
                let (gates, others) = products[..rows / 2 * 2].split_at(rows / 2);
                let expected: Vec<f32> = gates.iter().zip(others).map(|(&g, &other)| swiglu::reference(Gate::Silu, g, other)).collect();
                assert_close("gates", &gpu.read_f32(&gated, rows / 2).await.unwrap(), &expected, 2e-5);
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_of_slab_can_be_used_alone() {
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
