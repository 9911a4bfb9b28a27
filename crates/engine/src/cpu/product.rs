//! x W^T for packed W. Activations and sums are f32. Weights are decoded during the product.

use candle_core::{CpuStorage, Device, Error, Result, Storage, Tensor};

use super::rows::{IntegerRows, Rows, negated_sums};
use crate::lm::blocks::blocks;
use glasscage_model::dequantize::{Format, GROUP, Integers, dequantize};

/// Values of W that are decoded together for several rows of x.
const EXPANDED_VALUES: usize = 1 << 17;

/// x W^T: `[n, columns]` and `[rows, columns]` -> `[n, rows]`, by the fastest available method.
pub fn product(x: &Tensor, weight: &Rows<'_>) -> Result<Tensor> {
    let (n, columns) = x.dims2()?;
    if columns != weight.columns {
        return Err(Error::Msg(format!("{n} x {columns} and {} x {} have no product", weight.len(), weight.columns)));
    }
    let x = x.contiguous()?;
    let mut out = vec![0.0; n * weight.len()];
    #[cfg(target_arch = "wasm32")]
    if with_values(&x, |x| super::fused::product(x, weight, &mut out))?? {
        return Tensor::from_vec(out, (n, weight.len()), &Device::Cpu);
    }
    match n {
        1 => with_values(&x, |x| of_one_row(x, weight, &mut out))?,
        _ => of_several_rows(&x, weight, &mut out)?,
    }
    Tensor::from_vec(out, (n, weight.len()), &Device::Cpu)
}

/// Calls `read` with the values of a contiguous tensor.
fn with_values<T>(tensor: &Tensor, read: impl FnOnce(&[f32]) -> T) -> Result<T> {
    let (storage, layout) = tensor.storage_and_layout();
    match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) => Ok(read(&values[start..end])),
        _ => Err(Error::RequiresContiguous { op: "product" }),
    }
}

/// Multiplies tile by tile. Each tile of W is decoded to f32. Candle rearranges the second factor of a product, so that is the smaller one.
fn of_several_rows(x: &Tensor, weight: &Rows<'_>, out: &mut [f32]) -> Result<()> {
    let n = x.dim(0)?;
    for tile in blocks(0..weight.len(), (EXPANDED_VALUES / weight.columns).max(1)) {
        let mut values = vec![0.0; tile.len() * weight.columns];
        dequantize(weight.quant.format, weight.slice(tile.clone()).bytes, &mut values);
        let values = Tensor::from_vec(values, (tile.len(), weight.columns), &Device::Cpu)?;
        if 2 * n < tile.len() {
            with_values(&values.matmul(&x.t()?)?, |product| {
                for (i, out) in out.chunks_exact_mut(weight.len()).enumerate() {
                    out[tile.clone()].iter_mut().zip(product[i..].iter().step_by(n)).for_each(|(out, product)| *out = *product);
                }
            })?;
            continue;
        }
        with_values(&x.matmul(&values.t()?)?, |product| {
            for (out, product) in out.chunks_exact_mut(weight.len()).zip(product.chunks_exact(tile.len())) {
                out[tile.clone()].copy_from_slice(product);
            }
        })?;
    }
    Ok(())
}

/// Multiplies row by row. Each row of W is decoded into the cache and multiplied there.
fn of_one_row(x: &[f32], weight: &Rows<'_>, out: &mut [f32]) {
    match weight.quant.format {
        Format::Floats(read) => {
            let mut values = vec![0.0; weight.columns];
            for (blocks, out) in weight.each().zip(out) {
                read(blocks, &mut values);
                *out = widest(
                    #[inline(always)]
                    || dot(x, &values),
                );
            }
        }
        Format::Integers(unpack) | Format::BlocksOf32(_, unpack) | Format::BlocksOf256(_, _, unpack) => {
            let (mut row, sums) = (IntegerRows::new(1, weight.columns), negated_sums(x));
            for (i, out) in out.iter_mut().enumerate() {
                row.unpack(&weight.slice(i..i + 1), unpack);
                let row = Integers { quants: &mut row.quants, scales: &mut row.scales, minima: &mut row.minima };
                *out = widest(
                    #[inline(always)]
                    || integer_dot(x, &sums, &row),
                );
            }
        }
    }
}

/// Number of sums that are computed side by side, so that the compiler vectorizes them.
const LANES: usize = 16;

#[inline(always)]
fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x.iter().zip(y) {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (x, y))| *sum += x * y);
    }
    sums.iter().sum::<f32>() + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f32>()
}

/// Sum over groups of scale (x . quants) - minimum (sum of x).
#[inline(always)]
fn integer_dot(x: &[f32], negated_sums: &[f32], row: &Integers<'_>) -> f32 {
    let mut sums = [0.0; GROUP];
    for ((x, quants), scale) in x.as_chunks::<GROUP>().0.iter().zip(row.quants.as_chunks::<GROUP>().0).zip(&*row.scales) {
        sums.iter_mut().zip(x.iter().zip(quants)).for_each(|(sum, (x, &quant))| *sum += scale * (x * f32::from(quant)));
    }
    sums.iter().sum::<f32>() + dot(negated_sums, row.minima)
}

/// Runs `compute` with the widest vectors of this processor. Only inlined code uses them, so `compute` and all that it calls must be
/// `#[inline(always)]`.
#[cfg(not(target_arch = "wasm32"))]
#[inline(always)]
fn widest(compute: impl FnOnce() -> f32) -> f32 {
    pulp::Arch::new().dispatch(compute)
}

#[cfg(target_arch = "wasm32")]
#[inline(always)]
fn widest(compute: impl FnOnce() -> f32) -> f32 {
    compute()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use glasscage_model::dequantize::testing::random_blocks;
    use glasscage_model::quant::{Quant, by_id};

    /// Random x with values between -1 and 1, and a random matrix of `rows` rows with `blocks` blocks each.
    pub fn matrices(quant: &'static Quant, n: usize, rows: usize, blocks: usize, seed: u64) -> (Tensor, Vec<u8>) {
        let mut rng = glasscage_core::rng::Rng::new(seed);
        let x: Vec<f32> = (0..n * blocks * quant.block).map(|_| (2.0 * rng.uniform() - 1.0) as f32).collect();
        (Tensor::from_vec(x, (n, blocks * quant.block), &Device::Cpu).unwrap(), random_blocks(quant, rows * blocks, seed))
    }

    /// Checks that `product` is the product of x with the decoded weights, except for rounding.
    pub fn check(x: &Tensor, weight: &Rows<'_>, product: &Tensor) {
        let values = weight.quant.values(weight.bytes);
        let what = format!("{} {:?} {} {}", weight.quant.name, x.dims(), weight.len(), weight.columns);
        for (x, product) in x.to_vec2::<f32>().unwrap().iter().zip(product.to_vec2::<f32>().unwrap()) {
            assert_eq!(product.len(), weight.len(), "{what}");
            for (row, product) in values.chunks(weight.columns).zip(product) {
                let products = || x.iter().zip(row).map(|(&x, &w)| f64::from(x) * f64::from(w));
                let (sum, size): (f64, f64) = (products().sum(), products().map(f64::abs).sum());
                assert!((f64::from(product) - sum).abs() <= 4e-6 * size.max(1e-30), "{what}: {product} {sum} {size}");
            }
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]
        #[test]
        fn tensor_types_multiply_like_their_values(
            quant in 0..glasscage_model::quant::QUANTS.len(), n in 1..6_usize, rows in 1..40_usize, blocks in 1..6_usize, seed: u64,
        ) {
            let quant = &glasscage_model::quant::QUANTS[quant];
            let (x, bytes) = matrices(quant, n, rows, blocks, seed);
            let weight = Rows { quant, columns: blocks * quant.block, bytes: &bytes };
            check(&x, &weight, &product(&x, &weight).unwrap());
        }
    }

    #[test]
    fn tiles_cover_matrix() {
        let quant = by_id(8).unwrap();
        let rows = 2 * EXPANDED_VALUES / 256 + 3;
        for n in [1, 2] {
            let (x, bytes) = matrices(quant, n, rows, 8, 1);
            let weight = Rows { quant, columns: 256, bytes: &bytes };
            check(&x, &weight, &product(&x, &weight).unwrap());
        }
    }

    #[test]
    fn mismatched_sizes_are_refused() {
        let quant = by_id(8).unwrap();
        let (x, bytes) = matrices(quant, 2, 4, 1, 1);
        assert!(product(&x, &Rows { quant, columns: 64, bytes: &bytes }).is_err());
    }
}
