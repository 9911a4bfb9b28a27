//! Cases of kernels that only some models need: recurrent states and gated attention.

use super::case::{Case, submit, with_padding};
use crate::gpu::batch::{Row, text_rows};
use crate::gpu::device::Gpu;
use crate::gpu::kernels::delta_inputs::{self, DeltaInputs};
use crate::gpu::kernels::delta_output::{self, DeltaOutput};
use crate::gpu::kernels::delta_rule::{self, DeltaRule};
use crate::gpu::kernels::qkv_rope_cache::qkv_width;
use crate::gpu::kernels::{gated_heads, padded, ungated_queries};
use glasscage_core::rng::random;
use glasscage_model::config::{Config, DeltaNet};

/// The sizes of the model, with fewer heads.
fn few_heads(net: DeltaNet) -> DeltaNet {
    DeltaNet { n_key_heads: 1, n_value_heads: (net.n_value_heads / net.n_key_heads).min(4), ..net }
}

/// Inputs of the last two of five rows of a text. The cache keeps four slots.
pub fn state_inputs(gpu: &Gpu, net: DeltaNet, taps: usize) -> Case {
    const RING: usize = 4;
    let sizes = few_heads(net);
    let (slot, stride) = (sizes.channels() + 2 * sizes.n_value_heads, sizes.channels() + 3 * sizes.n_value_heads);
    let [all, w, rates] = [(5 * slot, 30), (sizes.channels() * taps, 31), (2 * sizes.n_value_heads, 32)].map(|(n, seed)| random(n, seed));
    let all: Vec<&[f32]> = all.chunks(slot).collect();
    let right = [4, 5].map(|end| delta_inputs::reference(sizes, &w, &rates, taps, &all[end.max(taps) - taps..end])).concat();
    let mut kept = vec![0.0; RING * slot];
    (0..3).for_each(|s| kept[s * slot..][..slot].copy_from_slice(all[s]));
    let rows = gpu.buffer_with("rows", &Row::all_words(&text_rows(&[0.into(); 2], 3)));
    let projected = with_padding(&all[3..].concat(), slot, stride);
    let [w, rates, text, projected] = [&w, &rates, &kept, &projected].map(|values| gpu.buffer_with_f32("input", values));
    let (suffix, y) = (gpu.buffer("suffix", slot), gpu.buffer("y", 2 * slot));
    let args = DeltaInputs {
        rows: &rows,
        first: 0,
        n: 2,
        taps,
        w: &w,
        rates: &rates,
        text: &text,
        suffix: &suffix,
        text_ring: RING,
        suffix_ring: RING,
        projected: &projected,
        stride,
        is_replay: false,
        y: &y,
        y_stride: slot,
    };
    submit(gpu, |recording| delta_inputs::record(recording, sizes, &args));
    Case::about("DeltaNet inputs", y, right)
}

/// Updates a state with three rows, then normalizes and gates the outputs.
pub fn remembered(gpu: &Gpu, net: DeltaNet, epsilon: f64) -> [Case; 2] {
    const N: usize = 3;
    let sizes = few_heads(net);
    let (slot, width) = (sizes.channels() + 2 * sizes.n_value_heads, sizes.value_width());
    let (stride, mut rows) = (padded(slot), random(N * slot, 33));
    // Rates are in [0, 1].
    rows.chunks_mut(slot).flat_map(|row| &mut row[sizes.channels()..]).for_each(|rate| *rate = 0.5 + 0.5 * *rate);
    let key_scale = (sizes.head_dim as f32).powf(-0.5);
    rows.chunks_mut(slot).flat_map(|row| &mut row[..2 * sizes.head_dim]).for_each(|value| *value *= key_scale);
    let (old, norm, gates) = (random(delta_rule::state_length(sizes), 34), random(sizes.head_dim, 35), random(N * width, 36));
    let mut state: Vec<f64> = old.iter().map(|&value| value.into()).collect();
    let read = delta_rule::reference(sizes, &rows, &mut state);
    let output = |(read, gates)| delta_output::reference(read, &norm, epsilon, gates);
    let right: Vec<f32> = read.chunks(width).zip(gates.chunks(width)).flat_map(output).collect();
    let state = state.iter().map(|&value| value as f32).collect();
    let inputs = [&with_padding(&rows, slot, stride), &old, &norm, &gates].map(|values| gpu.buffer_with_f32("input", values));
    let [inputs, states, norm, gates] = inputs;
    let (y, products) = (gpu.buffer("y", N * width), gpu.buffer("products", N * delta_rule::products_width(sizes)));
    submit(gpu, |recording| {
        let (inputs, products, states, y) = (&inputs, &products, &states, &y);
        let (first, from, to) = (0, Some(0), 0);
        let rule = DeltaRule { first, n: N, inputs, stride, products, states, from, to, y, y_stride: width, is_read: true };
        delta_rule::record(recording, sizes, &rule);
        let (norm, gates, gate_stride, gate_first) = (&norm, &gates, width, 0);
        delta_output::record(recording, sizes, &DeltaOutput { n: N, norm, epsilon, gates, gate_stride, gate_first, y, y_stride: width });
    });
    [Case::about("DeltaNet states", states, state), Case::about("DeltaNet outputs", y, right)]
}

/// Two rows: queries, keys and values without gates, and head outputs with gates.
pub fn gated_attention(gpu: &Gpu, config: &Config) -> [Case; 2] {
    let (dim, width) = (config.head_dim, qkv_width(config));
    let (heads, from) = (config.n_heads * dim, width + config.n_heads * dim);
    let (projected, y) = (random(2 * from, 37), random(2 * heads, 38));
    let is_gate = |i: usize| i < 2 * heads && i / dim % 2 == 1;
    let of_row = |row: &[f32]| row.iter().enumerate().filter(|(i, _)| !is_gate(*i)).map(|(_, value)| *value).collect::<Vec<f32>>();
    let right_qkv = projected.chunks(from).flat_map(of_row).collect();
    let rows = projected.chunks(from).zip(y.chunks(heads));
    let right_y: Vec<f32> = rows.flat_map(|(projected, y)| gated_heads::reference(projected, y, dim)).collect();
    let stride = padded(heads);
    let [projected, y] = [projected, with_padding(&y, heads, stride)].map(|values| gpu.buffer_with_f32("input", &values));
    let qkv = gpu.buffer("qkv", 2 * width);
    submit(gpu, |recording| {
        ungated_queries::record(recording, config, 2, &projected, &qkv);
        gated_heads::record(recording, config, 2, &projected, &y);
    });
    [Case::about("ungated queries", qkv, right_qkv), Case::about("gated attention", y, with_padding(&right_y, heads, stride))]
}
