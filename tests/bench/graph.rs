//! What a click costs in WASM: a WebAssembly module for the benchmark, without anything else in it.

#![allow(unsafe_code, reason = "exports need it")]

use glasscage::graph::{Normalization, node_influence, normalize};
use glasscage::table::Table;

/// Makes a table, and `times` from it the influence on its last row, as the page does at a click. The sum of what was
/// found keeps the compiler from leaving the work out.
#[unsafe(no_mangle)]
pub extern "C" fn click(n_prompt: usize, n_generated: usize, times: usize) -> f64 {
    let table = Table::from_fn(n_prompt, n_generated, |i, j| Some(((i * 37 + j * 101) % 211) as f64 / 211.0 - 0.25));
    let influence = |_| node_influence(&normalize(&table, Normalization::Full), &[n_generated - 1]);
    (0..times).flat_map(influence).sum()
}
