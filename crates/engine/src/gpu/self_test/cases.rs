//! One case per kernel, with a few rows of random numbers. The sizes reach the branches in which kernels differ from a plain loop: more
//! slots than one attention tile, a vocabulary in two tiles, more rows than one product tile.

use std::ops::Range;

use super::case::{Case, submit, with_padding};
use super::recurrent::{gated_attention, remembered, state_inputs};
use super::samples::Sample;
use crate::gpu::batch::{Row, text_rows};
use crate::gpu::device::Gpu;
use crate::gpu::kernels::attention::{self, Attention};
use crate::gpu::kernels::attention_mass::{self, AttentionMass, AttentionSums};
use crate::gpu::kernels::attention_step::{self, AttentionStep};
use crate::gpu::kernels::convolution::{self, Convolution};
use crate::gpu::kernels::convolution_columns::{self, ConvolutionColumns};
use crate::gpu::kernels::embed::{self, Embed};
use crate::gpu::kernels::kl_divergence::{self, KlDivergence};
use crate::gpu::kernels::log_sum_exp::{self, LogSumExp};
use crate::gpu::kernels::masked_argmax::{self, MaskedArgmax, token_bitmap};
use crate::gpu::kernels::matmul::{self, Matmul, Norm};
use crate::gpu::kernels::qk_norm::{self, WholeNorm};
use crate::gpu::kernels::qkv_rope_cache::{self, QkvRopeCache, cached_head, cached_slot, qkv_width};
use crate::gpu::kernels::rms_norm::{self, RmsNorm};
use crate::gpu::kernels::sample::{self, GpuDraw};
use crate::gpu::kernels::top_tokens::{self, TopTokens};
use crate::gpu::kernels::{RowView, argmax, gather, padded, swiglu};
use crate::gpu::weights::{Matrix, Slab};
use crate::lm::sample::Draw;
use glasscage_core::rng::random;
use glasscage_model::arch::{Gate, QkNorm, Recurrent};
use glasscage_model::config::Config;

/// Runs all cases, the simplest kernels first. So a fault is reported for the kernel that causes it, not for later kernels that depend on
/// it.
pub fn run(gpu: &Gpu, config: &Config, samples: &[Sample]) -> Vec<Case> {
    // Fewer heads, with the model's ratio of query heads to key-value heads.
    let n_kv_heads = config.n_kv_heads.min(2);
    let config = &Config { n_heads: config.n_heads / config.n_kv_heads * n_kv_heads, n_kv_heads, ..config.clone() };
    let architecture = config.architecture;
    let mut cases = vec![gathered(gpu)];
    cases.extend([false, true].into_iter().filter(|add| !add || architecture.norms_after()).map(|add| normalized(gpu, config, add)));
    cases.push(gated(gpu, architecture.gate));
    cases.extend(samples.iter().filter(|sample| sample.is_embedding).map(|sample| embedded(gpu, sample)));
    cases.extend(samples.iter().flat_map(|sample| [(1, true), (65, false)].map(|(n, is_step)| product(gpu, sample, n, is_step))));
    if matmul::computes_all_of_a_step(gpu.variant, true) {
        cases.extend(samples.iter().map(|sample| normalized_product(gpu, sample, config)));
        let has_gates = |sample: &&Sample| sample.rows() > 1;
        cases.extend(samples.iter().filter(has_gates).map(|sample| gated_product(gpu, sample, config)));
    }
    if architecture.qk_norm == QkNorm::Whole {
        cases.push(normalized_whole(gpu, config));
    }
    if architecture.recurrent == Recurrent::ShortConvolution {
        cases.push(convolved(gpu));
    }
    if let Some((taps, net)) = config.recurrence.as_ref().and_then(|recurrence| Some((recurrence.taps, recurrence.delta_net?))) {
        cases.push(state_inputs(gpu, net, taps));
        cases.extend(remembered(gpu, net, config.norm_epsilon));
    }
    if architecture.gates_attention {
        cases.extend(gated_attention(gpu, config));
    }
    cases.extend(rotated(gpu, config));
    let windows = std::iter::once(None).chain(config.window.is_some().then_some(Some(WINDOW)));
    for window in windows {
        cases.extend([attended(gpu, config, window), attention_sums(gpu, config, window)]);
        if matmul::computes_all_of_a_step(gpu.variant, true) {
            cases.extend(stepped(gpu, config, window));
        }
    }
    cases.extend(read_out(gpu));
    cases.push(ranked(gpu));
    cases.push(most_likely(gpu));
    cases.extend([(None, None), (Some(40), Some(0.9))].map(|(top_k, top_p)| drawn(gpu, top_k, top_p)));
    cases
}

/// Random numbers in [-size, size).
fn random_up_to(size: f32, length: usize, seed: u64) -> Vec<f32> {
    random(length, seed).iter().map(|value| size * value).collect()
}

fn gathered(gpu: &Gpu) -> Case {
    let (index, x) = (gpu.buffer_with("index", &[2, 0, 1]), gpu.buffer_with("x", &(0..51).collect::<Vec<_>>()));
    let y = gpu.buffer("y", 2 * 17);
    submit(gpu, |recording| gather::record(recording, &index, 1, &x, &y, 2, 17));
    Case::exactly("gather", y, (0..34).collect())
}

/// Normalizes rows. If `add`, also adds the result a second time.
fn normalized(gpu: &Gpu, config: &Config, add: bool) -> Case {
    let (dim, epsilon, stride) = (config.dim, config.norm_epsilon, padded(config.dim));
    let times = if add { 2.0 } else { 1.0 };
    let (x, weight) = (random(2 * dim, 1), random(dim, 2));
    let right: Vec<f32> = x.chunks(dim).flat_map(|row| rms_norm::reference(row, &weight, epsilon)).map(|value| times * value).collect();
    let [x, weight] = [with_padding(&x, dim, stride), weight].map(|values| gpu.buffer_with_f32("input", &values));
    let y = gpu.buffer("y", 2 * stride);
    let norm = RmsNorm { x: RowView::new(&x, stride), weight: &weight, y: RowView::new(&y, stride), n: 2, dim, epsilon, add: false };
    submit(gpu, |recording| {
        rms_norm::record(recording, &norm);
        if add {
            rms_norm::record(recording, &RmsNorm { add, ..norm });
        }
    });
    Case::about("RMSNorm", y, with_padding(&right, dim, stride))
}

/// Normalizes queries and keys of two rows.
fn normalized_whole(gpu: &Gpu, config: &Config) -> Case {
    let width = qkv_width(config);
    let (qkv, norms) = (random(2 * width, 18), random(width, 19));
    let right = qkv.chunks(width).flat_map(|row| qk_norm::reference(config, row, &norms)).collect();
    let [qkv, norms] = [qkv, norms].map(|values| gpu.buffer_with_f32("input", &values));
    submit(gpu, |recording| qk_norm::record(recording, config, &WholeNorm { n: 2, norms: &norms, qkv: &qkv }));
    Case::about("QK-Norm", qkv, right)
}

fn gated(gpu: &Gpu, gate: Gate) -> Case {
    const FFN_DIM: usize = 64;
    let mut values = random_up_to(8.0, 4 * FFN_DIM, 3);
    // exp(-gate) overflows for the first value and vanishes for the second.
    (values[0], values[1]) = (-200.0, 50.0);
    let row = |row: &[f32]| row[..FFN_DIM].iter().zip(&row[FFN_DIM..]).map(|(&g, &up)| swiglu::reference(gate, g, up)).collect::<Vec<_>>();
    let (gate_up, y) = (gpu.buffer_with_f32("gate_up", &values), gpu.buffer("y", 2 * FFN_DIM));
    submit(gpu, |recording| swiglu::record(recording, gate, &gate_up, &y, 2, FFN_DIM, FFN_DIM));
    Case::about("SwiGLU", y, values.chunks(2 * FFN_DIM).flat_map(row).collect())
}

/// The embedding of one token, and a blend of two embeddings.
fn embedded(gpu: &Gpu, sample: &Sample) -> Case {
    let (columns, last, blend) = (sample.columns, sample.rows() - 1, 0.25);
    let matrix = Matrix { slabs: vec![Slab::from_bytes(gpu, sample.quant, columns, &sample.bytes)] };
    let mixed = Row { token: last as u32, blend_with: 0, blend, ..Row::default() };
    let rows = gpu.buffer_with("rows", &Row::all_words(&[Row { token: last as u32, ..Row::default() }, mixed]));
    let stride = padded(columns);
    let x = gpu.buffer("x", 2 * stride);
    submit(gpu, |recording| {
        embed::record(recording, &matrix, &Embed { rows: &rows, blends: true, x: &x, first: 0, n: 2, stride, scale: 0.5 });
    });
    let (own, other) = (&sample.values[last * columns..], &sample.values[..columns]);
    let mixture = own.iter().zip(other).map(|(own, other)| (1.0 - blend) * own + blend * other);
    let right: Vec<f32> = own.iter().copied().chain(mixture).map(|value| 0.5 * value).collect();
    Case::about(format!("embedding ({})", sample.quant.name), x, with_padding(&right, columns, stride))
}

/// Twice the product, because the second run adds to the first.
fn product(gpu: &Gpu, sample: &Sample, n: usize, is_step: bool) -> Case {
    let (rows, columns, stride) = (sample.rows(), sample.columns, padded(sample.columns));
    let x = random(n * columns, 4);
    let right = matmul::reference(&x, &sample.values, columns).iter().map(|value| 2.0 * value).collect();
    let slab = Slab::from_bytes(gpu, sample.quant, columns, &sample.bytes);
    let (x, y) = (gpu.buffer_with_f32("x", &with_padding(&x, columns, stride)), gpu.buffer("y", n * rows));
    let matmul = || Matmul::by_slab(&slab, n, RowView::new(&x, stride), RowView::new(&y, rows)).for_step(is_step);
    submit(gpu, |recording| {
        matmul::record(recording, &matmul());
        matmul::record(recording, &matmul().adding());
    });
    let what = if is_step { "GEMV" } else { "GEMM" };
    Case::about(format!("{what} ({})", sample.quant.name), y, right)
}

/// Product with a vector that the kernel normalizes, in a decode step.
fn normalized_product(gpu: &Gpu, sample: &Sample, config: &Config) -> Case {
    let (rows, dim, epsilon, stride) = (sample.rows(), sample.columns, config.norm_epsilon, padded(sample.columns));
    let (x, weight) = (random(dim, 23), random(dim, 24));
    let right = matmul::reference(&rms_norm::reference(&x, &weight, epsilon), &sample.values, dim);
    let slab = Slab::from_bytes(gpu, sample.quant, dim, &sample.bytes);
    let [x, weight] = [x, weight].map(|values| gpu.buffer_with_f32("input", &with_padding(&values, dim, stride)));
    let (y, norm) = (gpu.buffer("y", rows), Norm { weight: &weight, dim, epsilon });
    submit(gpu, |recording| {
        let matmul = Matmul::by_slab(&slab, 1, RowView::new(&x, stride), RowView::new(&y, rows));
        matmul::record(recording, &matmul.for_step(true).normalizing(Some(norm)));
    });
    Case::about(format!("RMSNorm + GEMV ({})", sample.quant.name), y, right)
}

/// The first half of the rows are gates of the second half, in a decode step. The kernel normalizes the vector if the model does.
fn gated_product(gpu: &Gpu, sample: &Sample, config: &Config) -> Case {
    let (ffn_dim, stride, gate, epsilon) = (sample.rows() / 2, padded(sample.columns), config.architecture.gate, config.norm_epsilon);
    let (x, weight) = (random(sample.columns, 22), random(sample.columns, 25));
    let is_normed = config.architecture.norms_before();
    let factor = if is_normed { rms_norm::reference(&x, &weight, epsilon) } else { x.clone() };
    let products = matmul::reference(&factor, &sample.values[..2 * ffn_dim * sample.columns], sample.columns);
    let right = products[..ffn_dim].iter().zip(&products[ffn_dim..]).map(|(&g, &up)| swiglu::reference(gate, g, up)).collect();
    let slab = Slab::from_bytes(gpu, sample.quant, sample.columns, &sample.bytes[..sample.bytes.len() / sample.rows() * 2 * ffn_dim]);
    let [x, weight] = [x, weight].map(|values| gpu.buffer_with_f32("input", &with_padding(&values, sample.columns, stride)));
    let y = gpu.buffer("y", ffn_dim.max(1));
    let norm = is_normed.then_some(Norm { weight: &weight, dim: sample.columns, epsilon });
    submit(gpu, |recording| {
        let matmul = Matmul::gated(&slab, gate, RowView::new(&x, stride), RowView::new(&y, ffn_dim));
        matmul::record(recording, &matmul.normalizing(norm));
    });
    Case::about(format!("GEMV + SwiGLU ({})", sample.quant.name), y, right)
}

/// Queries, keys and values of two rows at positions 3 and 5, cached in slots 1 and 0.
fn rotated(gpu: &Gpu, config: &Config) -> [Case; 2] {
    const WHAT: &str = "RoPE";
    let (dim, width, slot) = (config.head_dim, qkv_width(config), cached_slot(config));
    let (qkv, bias, norms, angles) = (random(2 * width, 5), random(width, 6), random(2 * dim, 7), random(6 * dim, 8));
    let rows: Vec<Row> = [(3, 1), (5, 0)].map(|(position, slot)| Row { position, slot, ..Row::default() }).into();
    let (mut right_qkv, mut right_cache) = (vec![f32::NAN; 2 * width], vec![0.0; 2 * slot]);
    for (r, row) in rows.iter().enumerate() {
        let angles = &angles[row.position as usize * config.rotated_dim..][..config.rotated_dim];
        for head in 0..config.n_heads + 2 * config.n_kv_heads {
            let at = r * width + head * dim;
            let biased = |i: usize| qkv[at + i] + if config.architecture.qkv_bias { bias[head * dim + i] } else { 0.0 };
            let values: Vec<f32> = (0..dim).map(biased).collect();
            let cached = head.checked_sub(config.n_heads).map(|kv| row.slot as usize * slot + kv * cached_head(config));
            match cached {
                None => right_qkv[at..at + dim].copy_from_slice(&qkv_rope_cache::reference(config, &values, &norms[..dim], angles)),
                Some(to) if head < config.n_heads + config.n_kv_heads => {
                    right_cache[to..to + dim].copy_from_slice(&qkv_rope_cache::reference(config, &values, &norms[dim..], angles));
                }
                Some(to) => right_cache[to..to + dim].copy_from_slice(&values),
            }
        }
    }
    let rows = gpu.buffer_with("rows", &Row::all_words(&rows));
    let [qkv, bias, norms, angles] = [qkv, bias, norms, angles].map(|values| gpu.buffer_with_f32("input", &values));
    let cache = gpu.buffer("cache", 2 * slot);
    let args = QkvRopeCache { rows: &rows, first: 0, n: 2, bias: &bias, norms: &norms, angles: &angles, qkv: &qkv, cache: &cache };
    submit(gpu, |recording| qkv_rope_cache::record(recording, config, &args));
    [Case::about(WHAT, qkv, right_qkv), Case::about(WHAT, cache, right_cache)]
}

/// Two rows of a text in slots 0 and 1, and two rows of a suffix that begins after the first row, in slots 2 and 3.
fn convolved(gpu: &Gpu) -> Case {
    const CHANNELS: usize = 64;
    const TAPS: usize = 3;
    let (projected, w) = (random(4 * 3 * CHANNELS, 20), random(TAPS * CHANNELS, 21));
    let of_text = |slot: u32| Row { slot, prefix_end: slot + 1, ..Row::default() };
    let of_suffix = |i: u32| Row { slot: 2 + i, prefix_end: 1, suffix_start: 2, suffix_end: 3 + i, ..Row::default() };
    let part = |r: usize, part: usize| &projected[(3 * r + part) * CHANNELS..][..CHANNELS];
    let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).collect::<Vec<f32>>();
    let columns: Vec<Vec<f32>> = (0..4).map(|r| product(part(r, 0), part(r, 2))).collect();
    let seen: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 2, 3]];
    let of_row = |(r, seen): (usize, &[usize])| {
        let rows: Vec<&[f32]> = seen.iter().map(|&row| &columns[row][..]).collect();
        product(part(r, 1), &convolution::reference(&w, TAPS, &rows))
    };
    let right = seen.into_iter().enumerate().flat_map(of_row).collect();
    let rows = gpu.buffer_with("rows", &Row::all_words(&[of_text(0), of_text(1), of_suffix(0), of_suffix(1)]));
    let [projected, w] = [projected, w].map(|values| gpu.buffer_with_f32("input", &values));
    let [text, suffix] = ["text", "suffix"].map(|label| gpu.buffer(label, 4 * CHANNELS));
    let y = gpu.buffer("y", 4 * CHANNELS);
    submit(gpu, |recording| {
        for cache in [&text, &suffix] {
            convolution_columns::record(recording, &ConvolutionColumns::product(&rows, 0, 4, CHANNELS, &projected, cache));
        }
        let (projected, text, suffix, w, y) = (&projected, &text, &suffix, &w, &y);
        let args = Convolution { rows: &rows, first: 0, n: 4, channels: CHANNELS, taps: TAPS, w, text, suffix, projected, y };
        convolution::record(recording, &args);
    });
    Case::about("conv1d", y, right)
}

/// Window length, in keys: shorter than some prefixes and suffixes, longer than others.
const WINDOW: usize = 72;

/// Rows that attend to 150 slots of a text; to 70 of the text and 80 of a suffix; to 65 of a suffix. Repeated until each key-value head
/// has more than 32 queries.
fn attended(gpu: &Gpu, config: &Config, window: Option<usize>) -> Case {
    let n = 32 / (config.n_heads / config.n_kv_heads) + 3;
    let rows = [(150, 0, 0), (70, 20, 100), (0, 3, 68)].into_iter().cycle().take(n);
    let rows: Vec<Row> = rows
        .map(|(prefix_end, suffix_start, suffix_end)| {
            let position = prefix_end + suffix_end - suffix_start - 1;
            Row { position, prefix_end, suffix_start, suffix_end, ..Row::default() }
        })
        .collect();
    let (dim, width, slot) = (config.head_dim, qkv_width(config), cached_slot(config));
    let (qkv, text, suffix) = (random_up_to(4.0, n * width, 9), random(150 * slot, 10), random(100 * slot, 11));
    let seen = |row: &Row, h: usize| {
        let text = attention::slots(config, &text, h, 0..row.prefix_end);
        let all = text.chain(attention::slots(config, &suffix, h, row.suffix_start..row.suffix_end)).collect::<Vec<_>>();
        all[all.len().saturating_sub(window.unwrap_or(all.len()))..].to_vec()
    };
    let of_row = |(row, q): (&Row, &[f32])| {
        let of_head = |h: usize| attention::reference(config.attention_scale, &q[h * dim..][..dim], &seen(row, h));
        (0..config.n_heads).flat_map(of_head).collect::<Vec<f32>>()
    };
    let right: Vec<f32> = rows.iter().zip(qkv.chunks(width)).flat_map(of_row).collect();
    let stride = padded(config.n_heads * dim);
    let (rows, y) = (gpu.buffer_with("rows", &Row::all_words(&rows)), gpu.buffer("y", n * stride));
    let [qkv, text, suffix] = [&qkv, &text, &suffix].map(|values| gpu.buffer_with_f32("input", values));
    submit(gpu, |recording| {
        let (rows, qkv, text, suffix, y) = (&rows, &qkv, &text, &suffix, &y);
        attention::record(recording, config, &Attention { rows, first: 0, n, n_keys: 150, window, qkv, text, suffix, y });
    });
    Case::about("attention", y, with_padding(&right, config.n_heads * dim, stride))
}

/// The row after 200 slots of a text, in a decode step: in two blocks of slots.
fn stepped(gpu: &Gpu, config: &Config, window: Option<usize>) -> [Case; 2] {
    const WHAT: &str = "decode attention";
    const POSITION: usize = 200;
    let (width, slot) = (attention_step::projected_width(config), cached_slot(config));
    let (qkv, bias, norms) = (random_up_to(4.0, width, 26), random(width, 27), random(width, 28));
    let (angles, mut cache) = (random((POSITION + 1) * config.rotated_dim, 29), random(POSITION * slot, 30));
    // The largest score is in the second block, which changes the results of the first.
    cache[150 * slot..].iter_mut().for_each(|value| *value *= 3.0);
    let biased = |(value, bias): (&f32, &f32)| value + if config.architecture.qkv_bias { *bias } else { 0.0 };
    let biased: Vec<f32> = qkv.iter().zip(&bias).map(biased).collect();
    let (right, own) = attention_step::reference(config, window, [&biased, &norms, &angles[POSITION * config.rotated_dim..], &cache]);
    let row = gpu.buffer_with("row", &Row::all_words(&text_rows(&[0.into()], POSITION)));
    let right_cache = [&cache[..], &own].concat();
    let cache = with_padding(&cache, cache.len(), right_cache.len());
    let [qkv, bias, norms, angles, cache] = [qkv, bias, norms, angles, cache].map(|values| gpu.buffer_with_f32("input", &values));
    let y = gpu.buffer("y", padded(right.len()));
    let step = AttentionStep { row: &row, window, bias: &bias, norms: &norms, angles: &angles, qkv: &qkv, cache: &cache, y: &y };
    submit(gpu, |recording| attention_step::record(recording, config, &step));
    let right = with_padding(&right, right.len(), padded(right.len()));
    [Case::about(WHAT, y, right), Case::about(WHAT, cache, right_cache)]
}

/// The last three rows of a text of 80 tokens. The last two rows predict targets.
fn attention_sums(gpu: &Gpu, config: &Config, window: Option<usize>) -> Case {
    const LENGTH: usize = 80;
    let (width, stride) = (qkv_width(config), padded(config.n_heads * config.head_dim));
    let (qkv, text) = (random_up_to(4.0, 3 * width, 12), random(LENGTH * cached_slot(config), 13));
    let (targets, ranges) = (LENGTH - 1..LENGTH + 1, [0..70, 70..LENGTH]);
    let of_row = |r: usize| attention_mass::Reference { config, q: &qkv[r * width..][..width], text: &text, seen: LENGTH - 2 + r, window };
    let exact: Vec<Vec<f64>> = (0..3).map(|r| of_row(r).output()).collect();
    let outputs: Vec<f32> = exact.iter().flatten().map(|&value| value as f32).collect();
    let of_head = |r: usize, h: usize| ranges.each_ref().map(|range| of_row(r).weight_and_flow(h, range, &exact[r]));
    let right = (1..3).flat_map(|r| (0..config.n_heads).flat_map(move |h| of_head(r, h))).flatten().map(|value| value as f32).collect();
    let rows = gpu.buffer_with("rows", &Row::all_words(&text_rows(&[0.into(); LENGTH], 0)));
    let outputs = with_padding(&outputs, config.n_heads * config.head_dim, stride);
    let [qkv, text, outputs] = [&qkv, &text, &outputs].map(|values| gpu.buffer_with_f32("input", values));
    let sums = AttentionSums::new(gpu, config, targets, &ranges);
    let args = AttentionMass { rows: &rows, first: LENGTH - 3, n: 3, window, qkv: &qkv, text: &text, outputs: &outputs };
    submit(gpu, |recording| attention_mass::record(recording, config, &args, &sums));
    Case::about("attention mass", sums.into_buffer(), right)
}

/// Vocabulary size, and its two tiles.
const VOCAB: usize = 500;
const TILES: [Range<usize>; 2] = [0..300, 300..VOCAB];
/// Number of positions.
const N: usize = 3;

/// Results computed from the logits of a few positions, tile by tile: probabilities, divergences, tokens for infill spans.
fn read_out(gpu: &Gpu) -> [Case; 3] {
    // Logits grow toward the end, so that the second tile changes the results of the first.
    let logits =
        |seed: u64| random_up_to(5.0, N * VOCAB, seed).iter().zip((0..VOCAB).cycle()).map(|(z, v)| z * (1.0 + v as f32 / 500.0)).collect();
    let (logits, base): (Vec<f32>, Vec<f32>) = (logits(14), logits(15));
    let tile = |logits: &[f32], tile: &Range<usize>| {
        let of_tile: Vec<f32> = logits.chunks(VOCAB).flat_map(|row| row[tile.clone()].to_vec()).collect();
        gpu.buffer_with_f32("logits", &of_tile)
    };
    let (targets, forbidden) = ([10, 299, 450], [7, 300]);
    let mut right = [Vec::new(), Vec::new()];
    let (mut base_words, mut excluded, mut right_tokens) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (logits, base)) in logits.chunks(VOCAB).zip(base.chunks(VOCAB)).enumerate() {
        let (sum, base_sum) = (log_sum_exp::reference(logits), log_sum_exp::reference(base));
        let mut order: Vec<usize> = (0..VOCAB).collect();
        order.sort_by(|&v, &w| logits[w].total_cmp(&logits[v]));
        let largest = logits[order[0]];
        right[0].extend([largest, (sum - f64::from(largest)).exp() as f32, logits[targets[i]], 0.0]);
        right[1].extend([0.0, 0.0, 0.0, (kl_divergence::reference(base, logits) + base_sum - sum) as f32]);
        base_words.extend([i as u32, (base_sum as f32).to_bits()]);
        excluded.push(order[0] as u32);
        let allowed = order[1..].iter().find(|&v| !forbidden.contains(v)).copied().unwrap_or_default();
        right_tokens.extend([logits[allowed].to_bits(), allowed as u32]);
    }
    let words = |words: &[u32]| gpu.buffer_with("words", words);
    let (targets, base_words, excluded) = (words(&targets.map(|target| target as u32)), words(&base_words), words(&excluded));
    let forbidden = words(&token_bitmap(&forbidden.map(|token| token as u32), VOCAB));
    let (state, divergences, best) = (gpu.buffer("state", 4 * N), gpu.buffer("state", 4 * N), gpu.buffer("best", 2 * N));
    for range in &TILES {
        let (logits, base_logits, first, n, token, length) = (&tile(&logits, range), &tile(&base, range), 0, N, range.start, range.len());
        submit(gpu, |recording| {
            log_sum_exp::record(recording, &LogSumExp { logits, targets: &targets, state: &state, first, n, token, length });
            let state = &divergences;
            kl_divergence::record(recording, &KlDivergence { logits, base_logits, base: &base_words, state, first, n, length });
            let (excluded, forbidden, best) = (&excluded, &forbidden, &best);
            masked_argmax::record(recording, &MaskedArgmax { logits, excluded, forbidden, best, first, n, token, length });
        });
    }
    let [right_state, right_divergences] = right;
    [
        Case::about("log-sum-exp", state, right_state),
        Case::about("KL divergence", divergences, right_divergences),
        Case::exactly("masked argmax", best, right_tokens),
    ]
}

/// The most likely tokens of a few positions. Both tiles have some of them.
fn ranked(gpu: &Gpu) -> Case {
    let logits = random(N * VOCAB, 26);
    let entries = gpu.buffer("entries", top_tokens::N_WORDS * N);
    for range in &TILES {
        let tile: Vec<f32> = logits.chunks(VOCAB).flat_map(|row| row[range.clone()].to_vec()).collect();
        let tile = gpu.buffer_with_f32("logits", &tile);
        let tokens = TopTokens { logits: &tile, entries: &entries, first: 0, n: N, token: range.start, length: range.len() };
        submit(gpu, |recording| top_tokens::record(recording, &tokens));
    }
    Case::exactly("top-k", entries, logits.chunks(VOCAB).flat_map(top_tokens::reference).collect())
}

fn most_likely(gpu: &Gpu) -> Case {
    const LARGEST: usize = 990;
    let mut values = random(1000, 16);
    values[LARGEST] = 1.5;
    let (logits, slices) = (gpu.buffer_with_f32("logits", &values), gpu.buffer("slices", 2 * argmax::N_SLICES));
    let chosen = gpu.buffer("chosen", 2);
    submit(gpu, |recording| argmax::record(recording, &logits, values.len(), &slices, &chosen));
    Case::exactly("argmax", chosen, vec![LARGEST as u32, values[LARGEST].to_bits()])
}

fn drawn(gpu: &Gpu, top_k: Option<usize>, top_p: Option<f64>) -> Case {
    let values = random_up_to(6.0, 1000, 17);
    let draw = Draw { temperature: 0.8, top_k, top_p, uniform: 0.6 };
    let (logits, words) = (gpu.buffer_with_f32("logits", &values), gpu.buffer_with("draw", &GpuDraw::new(&draw, values.len()).words()));
    let chosen = gpu.buffer("chosen", 2);
    submit(gpu, |recording| sample::record(recording, &logits, values.len(), &words, &chosen));
    Case::exactly("sampling", chosen, vec![draw.token(&values)])
}
