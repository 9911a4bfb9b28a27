//! A small WebAssembly module for the benchmark. It measures the cost of a click.

#![allow(unsafe_code, reason = "exports need it")]

use glasscage::graph::{Normalization, node_influence, normalize};
use glasscage::table::Table;

/// Computes the influence on the last row of a table `times` times, as the page does at a click. The returned sum keeps the compiler from
/// removing the work.
#[unsafe(no_mangle)]
pub extern "C" fn click(n_prompt: usize, n_generated: usize, times: usize) -> f64 {
    let table = Table::from_fn(n_prompt, n_generated, |i, j| Some(((i * 37 + j * 101) % 211) as f64 / 211.0 - 0.25));
    let influence = |_| node_influence(&normalize(&table, Normalization::Full), &[n_generated - 1]);
    (0..times).flat_map(influence).sum()
}
