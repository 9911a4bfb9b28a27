//! x W^T by fused multiply-adds, where the browser has relaxed SIMD (Chrome, Firefox): nearly all the time goes into this product,
//! and 128-bit SIMD without them does it at two thirds of the speed.
//!
//! A module of its own, `fused.wat`, which works on the engine's memory: a browser refuses a module as a whole where it does not
//! know an instruction.

use candle_core::{CpuStorage, CustomOp2, Error, Layout, Result, Shape, Tensor};
use js_sys::WebAssembly::{Instance, Module};
use js_sys::{Array, Function, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

/// Assembled by `build.rs`.
const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fused.wasm"));
/// Values of x that are taken through all of W at once, so that they stay in the cache.
const BLOCK_VALUES: usize = 1 << 16;

thread_local! {
    /// Compiled once; `None` where the browser does not know the instruction.
    static PRODUCT: Option<Function> = instantiate().ok();
}

fn instantiate() -> std::result::Result<Function, JsValue> {
    let [imports, engine] = [Object::new(), Object::new()];
    Reflect::set(&engine, &"memory".into(), &wasm_bindgen::memory())?;
    Reflect::set(&imports, &"engine".into(), &engine)?;
    let instance = Instance::new(&Module::new(&Uint8Array::from(MODULE))?, &imports)?;
    Reflect::get(&instance.exports(), &"product".into())?.dyn_into()
}

/// x W^T: `[n, columns]` and `[rows, columns]` -> `[n, rows]`; `None` where this browser or these sizes are not for it.
pub fn product(x: &Tensor, weight: &Tensor) -> Result<Option<Tensor>> {
    let (rows, columns) = weight.dims2()?;
    let fits = rows >= 4 && columns > 0 && columns % 4 == 0 && x.elem_count() > 0;
    let product = PRODUCT.with(Clone::clone).filter(|_| fits);
    product.map(|product| x.contiguous()?.apply_op2_no_bwd(weight, &Fused(product))).transpose()
}

struct Fused(Function);

impl CustomOp2 for Fused {
    fn name(&self) -> &'static str {
        "fused product"
    }

    fn cpu_fwd(&self, x: &CpuStorage, x_layout: &Layout, weight: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let [(n, columns), (rows, own)] = [x_layout.shape().dims2()?, layout.shape().dims2()?];
        if columns != own {
            return Err(Error::Msg(format!("{n} x {columns} and {rows} x {own} have no product")));
        }
        let mut out = vec![0.0; n * rows];
        multiply(&self.0, values(x, x_layout)?, values(weight, layout)?, columns, &mut out)?;
        Ok((CpuStorage::F32(out), Shape::from((n, rows))))
    }
}

/// `[n, columns]` and `[rows, columns]` -> `[n, rows]`, of sizes that `product` found fit.
fn multiply(product: &Function, x: &[f32], weight: &[f32], columns: usize, out: &mut [f32]) -> Result<()> {
    let rows = weight.len() / columns;
    let block = (BLOCK_VALUES / columns).max(1);
    for (x, out) in x.chunks(block * columns).zip(out.chunks_mut(block * rows)) {
        let [n, rows, columns] = [x.len() / columns, rows, columns].map(|size| JsValue::from(size as u32));
        let [x, weight, out] =
            [x.as_ptr(), weight.as_ptr(), out.as_mut_ptr().cast_const()].map(|at| JsValue::from(at.expose_provenance() as u32));
        let arguments = Array::from_iter([x, n, weight, rows, columns, out]);
        product.apply(&JsValue::NULL, &arguments).map_err(|error| Error::Msg(format!("{error:?}")))?;
    }
    Ok(())
}

fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let (start, end) = layout.contiguous_offsets().ok_or(Error::RequiresContiguous { op: "fused product" })?;
    Ok(&storage.as_slice()?[start..end])
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device};
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Made of fractions that f32 adds up without an error: then the order of the sums does not matter.
    fn matrix(rows: usize, columns: usize, seed: usize) -> Tensor {
        let values = (0..rows * columns).map(|i| ((i * 37 + seed * 101) % 61) as f32 / 8.0 - 3.75).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
    }

    #[wasm_bindgen_test]
    fn every_row_meets_every_row() {
        for (n, rows, columns) in [(1, 4, 4), (2, 5, 8), (3, 9, 64), (7, 31, 36), (1, 400, 256), (2 * BLOCK_VALUES / 2048 + 1, 6, 2048)] {
            // What is taken may lie within a larger tensor.
            let [x, weight] =
                [matrix(n + 1, columns, 1).narrow(0, 1, n), matrix(rows + 1, columns, 2).narrow(0, 1, rows)].map(Result::unwrap);
            let fused = product(&x, &weight).unwrap().expect("Chromium has relaxed SIMD");
            let plain = x.matmul(&weight.t().unwrap()).unwrap();
            assert_eq!(fused.to_vec2::<f32>().unwrap(), plain.to_vec2::<f32>().unwrap(), "{n} {rows} {columns}");
        }
    }

    #[wasm_bindgen_test]
    fn nothing_is_written_beside_the_output() {
        let product = PRODUCT.with(Clone::clone).expect("Chromium has relaxed SIMD");
        for (n, rows) in [(1, 4), (1, 7), (2, 5), (5, 9)] {
            let mut out = vec![-7.0; n * rows + 8];
            multiply(&product, &vec![1.0; 4 * n], &vec![2.0; 4 * rows], 4, &mut out[4..4 + n * rows]).unwrap();
            assert!(out[4..4 + n * rows].iter().all(|&sum| sum == 8.0), "{n} {rows}: {out:?}");
            assert!(out[..4].iter().chain(&out[4 + n * rows..]).all(|&beside| beside == -7.0), "{n} {rows}: {out:?}");
        }
    }

    #[wasm_bindgen_test]
    fn sizes_that_are_not_for_it_are_left_alone() {
        for (n, rows, columns) in [(1, 3, 4), (1, 4, 6), (0, 4, 4)] {
            assert!(product(&matrix(n, columns, 1), &matrix(rows, columns, 2)).unwrap().is_none());
        }
    }

    #[wasm_bindgen_test]
    fn matrices_that_do_not_fit_are_refused() {
        let [x, weight] = [4, 8].map(|columns| Tensor::zeros((4, columns), DType::F32, &Device::Cpu).unwrap());
        assert!(product(&x, &weight).is_err());
    }
}
