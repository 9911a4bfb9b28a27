//! y = x W^T for some rows of a matrix.

use std::ops::Range;

use super::{HEIGHT, LINE, WIDTH};
use crate::gpu::device::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::variant::Variant;
use crate::gpu::weights::Slab;

/// What to multiply, and where the product goes.
pub struct Matmul<'a> {
    pub slab: &'a Slab,
    /// Rows of the slab to use.
    pub rows: Range<usize>,
    /// Tokens.
    pub n: usize,
    /// `[x_first + n, x_stride]`; a row has at least the matrix's columns, padded to 16 with zeros.
    pub x: &'a Buffer,
    pub x_first: usize,
    /// A multiple of 4.
    pub x_stride: usize,
    /// `[y_first + n, y_stride]`: the first row of W makes column `column`.
    pub y: &'a Buffer,
    pub y_first: usize,
    pub y_stride: usize,
    pub column: usize,
    /// y is added to.
    pub add: bool,
}

/// y[y_first + t, column + r] (+)= sum over k of x[x_first + t, k] W[r, k]. `2 n rows columns` operations.
pub fn record<'a>(recording: &mut Recording<'a>, matmul: &Matmul<'a>) {
    let &Matmul { slab, ref rows, n, x, x_first, x_stride, y, y_first, y_stride, column, add } = matmul;
    let kernel = kernel(recording.gpu().variant, n).reading(slab.format);
    let parameters = [n, x_first, y_first, slab.groups, x_stride / 4, y_stride, rows.len(), rows.start, column, usize::from(add)];
    recording.dispatch(&kernel, &parameters.map(|number| number as u32), &[&slab.buffer, x, y], [rows.len(), n]);
}

/// The kernel for so many tokens.
fn kernel(variant: &Variant, n: usize) -> Kernel {
    match (variant.shares_memory, n == 1) {
        (false, true) => Kernel::new("matvec", [4 * LINE, 1]).number("WIDTH", LINE),
        (false, false) => Kernel::new("matmul", [8 * WIDTH, 4 * HEIGHT]).number("WIDTH", WIDTH).number("HEIGHT", HEIGHT),
        (true, true) => Kernel::new("matvec_shared", [4, 1]).number("WIDTH", LINE),
        (true, false) => Kernel::new("matmul_tiles", [64, 64]),
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use candle_core::quantized::QTensor;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::super::padded;
    use super::*;
    use crate::gpu::testing::{SENTINEL, assert_close, gpus, random};
    use crate::gpu::weights::Slab;
    use crate::model::dequantize::candle_type;
    use crate::model::quant::QUANTS;

    /// [n, rows] from dequantised weights [rows, columns], in f64.
    fn twin(x: &[f32], w: &[f32], columns: usize) -> Vec<f32> {
        let product = |x: &[f32], w: &[f32]| x.iter().zip(w).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum::<f64>() as f32;
        x.chunks(columns).flat_map(|x| w.chunks(columns).map(move |w| product(x, w))).collect()
    }

    /// Multiplies `n` rows of `columns` values with a matrix of `rows` rows of type `name`, on every variant.
    async fn check(name: &str, rows: usize, columns: usize, n: usize) {
        let quant = QUANTS.iter().find(|quant| quant.name == name).unwrap();
        let dtype = candle_type(quant).unwrap();
        let values = random(rows * columns, 1);
        let tensor = candle_core::Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap();
        let quantized = QTensor::quantize(&tensor, dtype).unwrap();
        let w = quantized.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let x = random(n * columns, 2);
        let expected = twin(&x, &w, columns);
        for gpu in gpus().await {
            let slab = Slab::from_bytes(&gpu, quant, columns, &quantized.data().unwrap());
            let stride = padded(columns);
            let mut x_rows = vec![0.0; (n + 1) * stride];
            for (row, values) in x.chunks(columns).enumerate() {
                x_rows[(row + 1) * stride..][..columns].copy_from_slice(values);
            }
            let x_buffer = gpu.buffer_with_f32("x", &x_rows);
            let y_stride = rows + 3;
            let y_buffer = gpu.buffer_with_f32("y", &vec![SENTINEL; (n + 2) * y_stride]);
            let mut recording = Recording::new(&gpu);
            let mut matmul = Matmul {
                slab: &slab,
                rows: 0..rows,
                n,
                x: &x_buffer,
                x_first: 1,
                x_stride: stride,
                y: &y_buffer,
                y_first: 1,
                y_stride,
                column: 2,
                add: false,
            };
            record(&mut recording, &matmul);
            matmul.add = true;
            record(&mut recording, &matmul);
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
    async fn every_quantisation_multiplies_like_its_dequantised_weights() {
        for quant in QUANTS {
            for n in [1, 9] {
                check(quant.name, 70, 512, n).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn sizes_that_fill_no_workgroup_are_right() {
        for (rows, n) in [(1, 1), (3, 2), (63, 63), (64, 64), (65, 65), (199, 199), (1, 199), (1031, 1)] {
            check("F32", rows, 20, n).await;
        }
        for columns in [1, 15, 16, 17, 64 * 16 + 1] {
            check("F16", 5, columns, 3).await;
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn rows_of_a_slab_can_be_used_by_themselves() {
        for gpu in gpus().await {
            let bytes: Vec<u8> = (0..12).flat_map(|i| (i as f32).to_le_bytes()).collect();
            let slab = Slab::from_bytes(&gpu, &QUANTS[0], 2, &bytes);
            let mut x = vec![0.0; 16];
            x[..2].copy_from_slice(&[1.0, 10.0]);
            let (x, y) = (gpu.buffer_with_f32("x", &x), gpu.buffer("y", 2));
            let mut recording = Recording::new(&gpu);
            record(
                &mut recording,
                &Matmul {
                    slab: &slab,
                    rows: 3..5,
                    n: 1,
                    x: &x,
                    x_first: 0,
                    x_stride: 16,
                    y: &y,
                    y_first: 0,
                    y_stride: 2,
                    column: 0,
                    add: false,
                },
            );
            recording.run();
            assert_eq!(gpu.read_f32(&y, 2).await.unwrap(), [76.0, 98.0]);
        }
    }
}
