//! x W^T by fused multiply-adds in browsers with relaxed SIMD (Chrome, Firefox). This product takes nearly all of the time, and 128-bit
//! SIMD without them has two thirds of the speed.
//!
//! Runs in a separate module, `fused.wat`, because a browser rejects a whole module if it does not know an instruction. The module works
//! on the engine's memory. It reads blocks of 32 weights in place, and the integers of some types with blocks of 256. It calls the engine
//! to unpack the others.

#![expect(unsafe_code, reason = "the module calls back with an address that it was given")]

use candle_core::{Error, Result};
use js_sys::WebAssembly::{Instance, Module};
use js_sys::{Function, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use super::rows::{IntegerRows, Rows, negated_sums};
use glasscage_model::dequantize::{BlockOf32, BlockOf256, Format, GROUP, Integers, Scales, dequantize};

/// `build.rs` assembles it.
const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fused.wasm"));
/// Values of x that are multiplied together, so that they stay in the cache.
const BLOCK_VALUES: usize = 1 << 16;
/// Minimum number of rows of x in a block, so that decoded rows of W are not read again for few rows.
const MIN_BLOCK: usize = 32;
/// Values of W that are decoded together for all rows of x.
const DECODED_VALUES: usize = 1 << 15;
/// Rows of W that the module multiplies together with several rows of x.
const PANEL: usize = 4;
/// Rows of W that are read together for one row of x.
const TILE: usize = 8;
/// Values in a block that the module multiplies in place.
const BLOCK: usize = 32;

/// The functions of the module.
#[derive(Clone)]
struct Kernels {
    expand: Function,
    product: Function,
    vector: Function,
    blocks: Function,
}

thread_local! {
    /// Compiled once; `None` if the browser does not know the instructions.
    static KERNELS: Option<Kernels> = instantiate().ok();
}

fn instantiate() -> std::result::Result<Kernels, JsValue> {
    let [imports, engine] = [Object::new(), Object::new()];
    Reflect::set(&engine, &"memory".into(), &wasm_bindgen::memory())?;
    Reflect::set(&engine, &"table".into(), &wasm_bindgen::function_table())?;
    Reflect::set(&imports, &"engine".into(), &engine)?;
    let exports = Instance::new(&Module::new(&Uint8Array::from(MODULE))?, &imports)?.exports();
    let function = |name: &str| Reflect::get(&exports, &name.into())?.dyn_into();
    Ok(Kernels { expand: function("expand")?, product: function("product")?, vector: function("vector")?, blocks: function("blocks")? })
}

/// Reads rows of W, starting at the given row, into memory that the module knows. The first argument is a [`Tile`].
type Read = unsafe extern "C" fn(*mut (), usize);

/// Sizes and addresses that `product` and `vector` read at the address that they receive.
#[repr(C)]
struct Arguments {
    x: *const f32,
    n: usize,
    columns: usize,
    rows: usize,
    out: *mut f32,
    reader: *mut (),
    read: Read,
    tile: usize,
    panel: *const (),
    scales: *const f32,
    minima: *const f32,
    sums: *const f32,
    out_row_bytes: usize,
    weight: *const u8,
    block_bytes: usize,
    bits: u32,
    lower_at: usize,
    upper_at: usize,
    zero: u32,
}

/// Sizes and addresses that `blocks` reads at the address that it receives.
#[repr(C)]
struct BlockArguments {
    x: *const f32,
    blocks_per_row: usize,
    rows: usize,
    out: *mut f32,
    weight: *const u8,
    block_bytes: usize,
    quants_at: usize,
    bits: u32,
    zero: u32,
    has_minimum: u32,
    tile: usize,
    scales: *mut f32,
    minima: *mut f32,
    sums: *const f32,
}

/// Sizes and addresses that `expand` reads at the address that it receives.
#[repr(C)]
struct ExpandArguments {
    quants: *const i8,
    scales: *const f32,
    minima: *const f32,
    rows: usize,
    columns: usize,
    values: *mut f32,
}

/// Writes `[n, columns]` times `[rows, columns]` to `out`, `[n, rows]`. Returns false if this browser or these sizes are not supported.
pub fn product(x: &[f32], weight: &Rows<'_>, out: &mut [f32]) -> Result<bool> {
    let Some(kernels) = KERNELS.with(Clone::clone) else { return Ok(false) };
    let (rows, columns) = (weight.len(), weight.columns);
    if out.is_empty() {
        return Ok(true);
    }
    assert_eq!(out.len(), x.len() / columns * rows, "the module writes all of the product");
    match weight.quant.format {
        Format::Integers(unpack) if x.len() == columns => vector(&kernels.vector, x, weight, Packed::All(unpack), out)?,
        Format::BlocksOf256(block, scales, _) if x.len() == columns => {
            vector(&kernels.vector, x, weight, Packed::Scales(block, scales), out)?;
        }
        Format::BlocksOf32(block, _) if x.len() == columns => blocks(&kernels.blocks, x, weight, block, out)?,
        _ if rows >= PANEL && columns > 0 && columns % 4 == 0 => matrix(&kernels, x, weight, out)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Decodes W tile by tile, once for all rows of x, and multiplies each tile with x block by block. W has at least [`PANEL`] rows.
fn matrix(kernels: &Kernels, x: &[f32], weight: &Rows<'_>, out: &mut [f32]) -> Result<()> {
    let (rows, columns) = (weight.len(), weight.columns);
    let block = (BLOCK_VALUES / columns).max(MIN_BLOCK);
    let tile_rows = (DECODED_VALUES / columns).next_multiple_of(PANEL).max(PANEL);
    let mut decoded = vec![0.0; tile_rows.min(rows) * columns];
    let mut integers = match weight.quant.format {
        Format::Floats(_) => None,
        Format::Integers(unpack) | Format::BlocksOf32(_, unpack) | Format::BlocksOf256(_, _, unpack) => {
            Some((IntegerRows::new(tile_rows.min(rows), columns), unpack))
        }
    };
    for start in (0..rows).step_by(tile_rows) {
        // The last tile may have fewer rows than a panel. It then starts earlier and writes the same values again.
        let tile = start.min(rows - PANEL)..rows.min(start + tile_rows);
        let values = &mut decoded[..tile.len() * columns];
        match &mut integers {
            None => dequantize(weight.quant.format, weight.slice(tile.clone()).bytes, values),
            Some((integers, unpack)) => {
                integers.unpack(&weight.slice(tile.clone()), *unpack);
                expand(&kernels.expand, integers, columns, values)?;
            }
        }
        for (x, out) in x.chunks(block * columns).zip(out.chunks_mut(block * rows)) {
            let out = &mut out[tile.start..];
            let arguments = Arguments {
                n: x.len() / columns,
                rows: tile.len(),
                panel: values.as_ptr().cast(),
                out_row_bytes: rows * size_of::<f32>(),
                ..arguments(x, weight, out, std::ptr::null_mut())
            };
            call(&kernels.product, &arguments)?;
        }
    }
    Ok(())
}

/// Computes the values of whole rows of integers, as `dequantize` does. Here, the compiler does not vectorize that.
fn expand(expand: &Function, rows: &IntegerRows, columns: usize, values: &mut [f32]) -> Result<()> {
    let arguments = ExpandArguments {
        quants: rows.quants.as_ptr(),
        scales: rows.scales.as_ptr(),
        minima: rows.minima.as_ptr(),
        rows: values.len() / columns,
        columns,
        values: values.as_mut_ptr(),
    };
    call(expand, &arguments)
}

/// What the engine unpacks for the module.
#[derive(Clone, Copy)]
enum Packed {
    /// Integers, scales and minima.
    All(fn(&[u8], &mut Integers<'_>)),
    /// Scales and minima. The module reads the integers in place.
    Scales(BlockOf256, Scales),
}

/// Rows that the module multiplies as integers.
struct Tile<'a> {
    weight: Rows<'a>,
    packed: Packed,
    rows: IntegerRows,
}

impl Tile<'_> {
    /// # Safety
    /// `tile` is the address of a `Tile` that nothing else uses during the call.
    unsafe extern "C" fn read(tile: *mut (), row: usize) {
        // SAFETY: the caller is the module, with the address that `vector` passed together with this function, and `vector` only waits
        // for it.
        let Self { weight, packed, rows } = unsafe { &mut *tile.cast::<Self>() };
        let weight = weight.slice(row..weight.len());
        match packed {
            Packed::All(unpack) => rows.unpack(&weight, *unpack),
            Packed::Scales(_, unpack) => rows.unpack_scales(&weight, *unpack),
        }
    }
}

/// Multiplies one row of x with rows whose scales, or whose values, are unpacked tile by tile.
fn vector(vector: &Function, x: &[f32], weight: &Rows<'_>, packed: Packed, out: &mut [f32]) -> Result<()> {
    let rows = match packed {
        Packed::All(_) => IntegerRows::new(TILE, weight.columns),
        Packed::Scales(..) => IntegerRows::without_quants(TILE, weight.columns),
    };
    let mut tile = Tile { weight: *weight, packed, rows };
    let (quants, scales, minima) = (tile.rows.quants.as_ptr(), tile.rows.scales.as_ptr(), tile.rows.minima.as_ptr());
    let (sums, shuffled) = (negated_sums(x), shuffled(x));
    let mut arguments = Arguments {
        panel: quants.cast(),
        scales,
        minima,
        sums: sums.as_ptr(),
        ..arguments(&shuffled, weight, out, (&raw mut tile).cast())
    };
    if let Packed::Scales(BlockOf256 { bytes, bits, lower_at, upper_at, zero }, _) = packed {
        let weight = weight.bytes.as_ptr();
        arguments = Arguments { weight, block_bytes: bytes, bits, lower_at, upper_at, zero: zero.cast_unsigned().into(), ..arguments };
    }
    call(vector, &arguments)
}

/// Multiplies one row of x with blocks in the layout of the file.
fn blocks(blocks: &Function, x: &[f32], weight: &Rows<'_>, block: BlockOf32, out: &mut [f32]) -> Result<()> {
    let blocks_per_row = weight.columns / BLOCK;
    let shuffled = shuffled(x);
    let sums: Vec<f32> = x.chunks(BLOCK).map(|values| values.iter().sum()).collect();
    let mut scales = vec![0.0; TILE * blocks_per_row];
    let mut minima = if block.has_minimum { scales.clone() } else { Vec::new() };
    let arguments = BlockArguments {
        x: shuffled.as_ptr(),
        blocks_per_row,
        rows: weight.len(),
        out: out.as_mut_ptr(),
        weight: weight.bytes.as_ptr(),
        block_bytes: block.bytes,
        quants_at: block.quants_at(),
        bits: block.bits,
        zero: block.zero.cast_unsigned().into(),
        has_minimum: block.has_minimum.into(),
        tile: TILE,
        scales: scales.as_mut_ptr(),
        minima: minima.as_mut_ptr(),
        sums: sums.as_ptr(),
    };
    call(blocks, &arguments)
}

/// Reorders and scales x for the module, which multiplies it with words of four quants.
fn shuffled(x: &[f32]) -> Vec<f32> {
    const UNIT: f32 = 1.0 / (1 << 24) as f32;
    let mut shuffled = vec![0.0; x.len()];
    for (out, group) in shuffled.as_chunks_mut::<GROUP>().0.iter_mut().zip(x.as_chunks::<GROUP>().0) {
        out.iter_mut().enumerate().for_each(|(i, out)| *out = UNIT * group[i % 4 * 4 + i / 4]);
    }
    shuffled
}

/// Arguments for one row of x, without the addresses of the weights. `product` does not call `read`.
fn arguments(x: &[f32], weight: &Rows<'_>, out: &mut [f32], reader: *mut ()) -> Arguments {
    let none = std::ptr::null::<f32>();
    Arguments {
        x: x.as_ptr(),
        n: 1,
        columns: weight.columns,
        rows: weight.len(),
        out: out.as_mut_ptr(),
        reader,
        read: Tile::read,
        tile: TILE,
        panel: none.cast(),
        scales: none,
        minima: none,
        sums: none,
        out_row_bytes: 0,
        weight: std::ptr::null(),
        block_bytes: 0,
        bits: 0,
        lower_at: 0,
        upper_at: 0,
        zero: 0,
    }
}

fn call<T>(kernel: &Function, arguments: &T) -> Result<()> {
    let at = (&raw const *arguments).expose_provenance() as u32;
    kernel.call1(&JsValue::NULL, &at.into()).map(drop).map_err(|error| Error::Msg(format!("{error:?}")))
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::super::product::tests::{check, matrices};
    use super::*;
    use glasscage_model::quant::{QUANTS, by_id};

    #[wasm_bindgen_test]
    fn tensor_types_multiply_like_their_values() {
        for quant in QUANTS {
            let groups = 256 / quant.block;
            for (n, rows, blocks) in [(1, 1, groups), (1, 8, groups), (2, 5, 3 * groups), (7, 31, groups), (1, 43, 5 * groups)] {
                let (x, bytes) = matrices(quant, n, rows, blocks, 1);
                let weight = Rows { quant, columns: blocks * quant.block, bytes: &bytes };
                let mut out = vec![0.0; n * rows];
                let is_done = product(&x.flatten_all().unwrap().to_vec1().unwrap(), &weight, &mut out).unwrap();
                let is_vector = n == 1 && !matches!(quant.format, Format::Floats(_));
                assert_eq!(is_done, is_vector || rows >= PANEL, "Chromium has relaxed SIMD");
                if is_done {
                    check(&x, &weight, &candle_core::Tensor::from_vec(out, (n, rows), x.device()).unwrap());
                }
            }
        }
    }

    #[wasm_bindgen_test]
    fn columns_are_any_number_of_whole_blocks() {
        let sizes = [(1, 7, 1), (1, 9, 1), (1, 9, 3), (1, 13, 3), (3, 9, 5), (2 * BLOCK_VALUES / 2048 + 1, 6, 64)];
        for quant in QUANTS.iter().filter(|quant| quant.block == BLOCK) {
            for (n, rows, blocks) in sizes {
                let (x, bytes) = matrices(quant, n, rows, blocks, 2);
                let weight = Rows { quant, columns: blocks * quant.block, bytes: &bytes };
                check(&x, &weight, &super::super::product::product(&x, &weight).unwrap());
            }
        }
    }

    #[wasm_bindgen_test]
    fn scales_and_minima_in_place_are_exact() {
        let halves = || (0..=u16::MAX).map(u16::to_le_bytes);
        let blocks_of_32 = QUANTS.iter().filter_map(|quant| match quant.format {
            Format::BlocksOf32(block, _) => Some((quant, block)),
            _ => None,
        });
        for (quant, block) in blocks_of_32 {
            // A row is a block whose first integer is 1 and whose others are unused.
            let one = (block.zero + 1).cast_unsigned();
            let with = |scale: [u8; 2], minimum: [u8; 2]| {
                let mut bytes = vec![0; block.bytes];
                bytes[..2].copy_from_slice(&scale);
                if block.has_minimum {
                    bytes[2..4].copy_from_slice(&minimum);
                }
                if block.bits == 5 && one >= 16 {
                    bytes[block.quants_at() - 4] = 1;
                }
                bytes[block.quants_at()] = if block.bits == 8 { one } else { one & 0xF };
                bytes
            };
            let scales: Vec<u8> = halves().flat_map(|half| with(half, [0; 2])).collect();
            let minima: Vec<u8> = halves().flat_map(|half| with([0; 2], half)).collect();
            let mut x = vec![0.0; BLOCK];
            x[0] = 1.0;
            for bytes in [scales, minima] {
                let weight = Rows { quant, columns: BLOCK, bytes: &bytes };
                let mut out = vec![f32::NAN; weight.len()];
                assert!(product(&x, &weight, &mut out).unwrap());
                for (row, (out, values)) in out.iter().zip(quant.values(&bytes).chunks(BLOCK)).enumerate() {
                    assert!(*out == values[0] || !values[0].is_finite() && !out.is_finite(), "{} {row}: {out} {}", quant.name, values[0]);
                }
            }
        }
    }

    #[wasm_bindgen_test]
    fn row_has_same_bits_in_any_block_and_tile() {
        let quant = by_id(8).unwrap();
        let (n, columns) = (2 * MIN_BLOCK + 5, 2048);
        // One panel; one tile; a last tile of one row; a last tile of one panel.
        for rows in [PANEL, DECODED_VALUES / columns, 2 * DECODED_VALUES / columns + 1, 3 * DECODED_VALUES / columns + PANEL] {
            let (x, bytes) = matrices(quant, n, rows, columns / quant.block, 5);
            let weight = Rows { quant, columns, bytes: &bytes };
            let multiplied = |x: &[f32], weight: &Rows<'_>| {
                let mut out = vec![0.0; x.len() / columns * weight.len()];
                assert!(product(x, weight, &mut out).unwrap());
                out.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
            };
            let x: Vec<f32> = x.flatten_all().unwrap().to_vec1().unwrap();
            let all = multiplied(&x, &weight);
            for i in (0..n - 1).step_by(13) {
                let pair = multiplied(&x[i * columns..(i + 2) * columns], &weight.slice(rows - PANEL..rows));
                let expected = [i, i + 1].map(|i| &all[(i + 1) * rows - PANEL..(i + 1) * rows]).concat();
                assert_eq!(pair, expected, "{rows} {i}");
            }
        }
    }

    #[wasm_bindgen_test]
    fn only_output_is_written() {
        for id in [0, 3, 7, 8, 12] {
            let quant = by_id(id).unwrap();
            for (n, rows) in [(1, 4), (1, 7), (2, 5), (5, 9), (1, 17)] {
                let (x, bytes) = matrices(quant, n, rows, 256 / quant.block, 3);
                let weight = Rows { quant, columns: 256, bytes: &bytes };
                let mut out = vec![-7777.0; n * rows + 8];
                let x: Vec<f32> = x.flatten_all().unwrap().to_vec1().unwrap();
                assert!(product(&x, &weight, &mut out[4..4 + n * rows]).unwrap());
                assert!(out[4..4 + n * rows].iter().all(|&sum| sum != -7777.0), "{n} {rows}: {out:?}");
                assert!(out[..4].iter().chain(&out[4 + n * rows..]).all(|&beside| beside == -7777.0), "{n} {rows}: {out:?}");
            }
        }
    }

    #[wasm_bindgen_test]
    fn unsupported_sizes_return_false() {
        let quant = by_id(0).unwrap();
        for (n, rows, columns) in [(1, 3, 4), (1, 4, 6), (2, 4, 6)] {
            let (x, bytes) = matrices(quant, n, rows, columns, 4);
            let x: Vec<f32> = x.flatten_all().unwrap().to_vec1().unwrap();
            assert!(!product(&x, &Rows { quant, columns, bytes: &bytes }, &mut vec![0.0; n * rows]).unwrap());
        }
    }
}
