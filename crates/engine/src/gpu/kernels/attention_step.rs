//! Attention of a decode step, in one dispatch after the projections: bias, RMSNorm, rotary embedding (RoPE, Su et al. 2021) and
//! key-value cache as in [`qkv_rope_cache`](super::qkv_rope_cache), then [`attention`](super::attention). It also normalizes as
//! [`qk_norm`](super::qk_norm), and gates as [`gated_heads`](super::gated_heads).

use super::qkv_rope_cache::{cached_head, cached_slot, qkv_width};
use super::{attention, gated_heads, qk_norm, qkv_rope_cache};
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::gpu::shapes::StepShape;
use crate::gpu::wgsl::wgsl_struct;
use glasscage_model::arch::{Architecture, QkNorm, Rope};
use glasscage_model::config::Config;

wgsl_struct! {
    struct Params {
        n_heads: usize,
        n_kv_heads: usize,
        head_dim: usize,
        /// Number of values of a head that rotate, starting with the first.
        rotated_dim: usize,
        /// Scale of the scores: see [`Config::attention_scale`].
        scale: f32,
        epsilon: f32,
        /// Maximum number of keys that the row attends to. Not read if the layer has no window.
        window: usize,
    }
}

/// Arguments of attention for one row.
pub struct AttentionStep<'a> {
    /// `[1]`: a row of the text, whose slot is its position.
    pub row: &'a Buffer,
    /// Maximum number of keys in this layer's window: the row's own key and the keys directly before it.
    pub window: Option<usize>,
    /// Same shape as `qkv`. Not read if the model has no biases.
    pub bias: &'a Buffer,
    /// Norm of a query head, then of a key head; or of all query heads, then of all key heads. Not read if the model has none.
    pub norms: &'a Buffer,
    /// `[positions, rotated_dim / 2]` of (cos, sin).
    pub angles: &'a Buffer,
    /// `[(n_heads + 2 n_kv_heads) head_dim]`. In models that gate attention, gates follow the queries of each head.
    pub qkv: &'a Buffer,
    /// `[slots, key and value, n_kv_heads, padded head_dim]`, written at the row's slot.
    pub cache: &'a Buffer,
    /// `[n_heads head_dim]` padded to 16.
    pub y: &'a Buffer,
}

/// `y[h] = sum over s of softmax(scale q[h] . k[s]) v[s]`.
pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, step: &AttentionStep<'a>) {
    let &AttentionStep { row, window, bias, norms, angles, qkv, cache, y } = step;
    let &Config { n_heads, n_kv_heads, head_dim, rotated_dim, norm_epsilon, .. } = config;
    let (scale, epsilon) = (config.attention_scale as f32, norm_epsilon as f32);
    let params = Params { n_heads, n_kv_heads, head_dim, rotated_dim, scale, epsilon, window: window.unwrap_or(0) };
    let kernel = kernel(config.architecture, cached_head(config) / 4, window.is_some(), recording.gpu().shapes.get().step);
    recording.dispatch(kernel, params, &[row, qkv, bias, norms, angles, cache, y], [n_heads, 1]);
}

/// The kernel for heads of `vecs` vec4 in the cache, in the given shape.
pub fn kernel(architecture: &Architecture, vecs: usize, has_window: bool, shape: &StepShape) -> Kernel {
    Kernel::new("attention_step", [1, 1])
        .with_u32("WIDTH", shape.invocations.max(vecs.next_power_of_two()))
        .with_u32("VECS", vecs)
        .with_bool("WINDOW", has_window)
        .with_bool("BIAS", architecture.qkv_bias)
        .with_bool("NORM", architecture.qk_norm == QkNorm::Heads)
        .with_bool("WHOLE", architecture.qk_norm == QkNorm::Whole)
        .with_bool("GATED", architecture.gates_attention)
        .with_bool("INTERLEAVED", architecture.rope == Rope::Interleaved)
        .with_params(Params::WGSL)
}

/// Returns y and the row's key and value, `[key and value, n_kv_heads, padded head_dim]`. Follows the definition, mostly in float64.
/// `projected` includes the bias. `cache` has the slots before the row's slot. `angles` belong to the row's position.
pub fn reference(config: &Config, window: Option<usize>, [projected, norms, angles, cache]: [&[f32]; 4]) -> (Vec<f32>, Vec<f32>) {
    let &Config { n_heads, n_kv_heads, head_dim, architecture, .. } = config;
    let is_gate = |head: usize| architecture.gates_attention && head < 2 * n_heads && head % 2 == 1;
    let ungated = projected.chunks(head_dim).enumerate().filter(|(head, _)| !is_gate(*head)).map(|(_, head)| head);
    let mut qkv: Vec<f32> = ungated.flatten().copied().collect();
    if architecture.qk_norm == QkNorm::Whole {
        qkv = qk_norm::reference(config, &qkv, norms);
    }
    let heads: Vec<&[f32]> = qkv.chunks(head_dim).collect();
    let (queries, keys, values) = (&heads[..n_heads], &heads[n_heads..][..n_kv_heads], &heads[n_heads + n_kv_heads..]);
    let (query_norm, key_norm) = norms.split_at(head_dim);
    let keys: Vec<Vec<f32>> = keys.iter().map(|key| qkv_rope_cache::reference(config, key, key_norm, angles)).collect();
    let padded = |head: &[f32]| [head, &vec![0.0; cached_head(config) - head_dim]].concat();
    let own: Vec<f32> = keys.iter().map(|key| padded(key)).chain(values.iter().map(|value| padded(value))).flatten().collect();
    let all = [cache, &own].concat();
    let position = cache.len() / cached_slot(config);
    let first = window.map_or(0, |window| (position + 1).saturating_sub(window));
    let of_head = |(h, query): (usize, &&[f32])| {
        let query = qkv_rope_cache::reference(config, query, query_norm, angles);
        let slots: Vec<_> = attention::slots(config, &all, h, first as u32..position as u32 + 1).collect();
        attention::reference(config.attention_scale, &query, &slots)
    };
    let y: Vec<f32> = queries.iter().enumerate().flat_map(of_head).collect();
    (if architecture.gates_attention { gated_heads::reference(projected, &y, head_dim) } else { y }, own)
}

/// f32 values that the projections of a row have: those of `qkv` in [`AttentionStep`].
pub fn projected_width(config: &Config) -> usize {
    qkv_width(config) + if config.architecture.gates_attention { config.n_heads * config.head_dim } else { 0 }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::gpu::batch::{Row, text_rows};
    use crate::gpu::device::Gpu;
    use crate::gpu::kernels::padded;
    use crate::gpu::shapes::{STEP_SHAPES, Shapes};
    use crate::gpu::testing::{assert_close, config, gpus_and_interpreters, in_turn, random};
    use glasscage_model::arch::ARCHITECTURES;

    async fn check(gpus: &[Gpu], config: &Config, position: usize, window: Option<usize>) {
        let (dim, width, slot) = (config.head_dim, projected_width(config), cached_slot(config));
        let (qkv, bias, norms) = (random(width, 1), random(width, 2), random(width, 3));
        let (angles, cache) = (random((position + 1) * config.rotated_dim, 4), random(position * slot, 5));
        let has_bias = config.architecture.qkv_bias;
        let biased: Vec<f32> = qkv.iter().zip(&bias).map(|(value, bias)| value + if has_bias { *bias } else { 0.0 }).collect();
        let its_angles = &angles[position * config.rotated_dim..];
        let (expected, own) = reference(config, window, [&biased, &norms, its_angles, &cache]);
        for gpu in gpus.iter().filter(|gpu| gpu.variant.shares_memory) {
            let row = gpu.buffer_with("row", &Row::all_words(&text_rows(&[0.into()], position)));
            // The kernel must not read the row's own slot.
            let slots = [&cache[..], &vec![f32::NAN; slot]].concat();
            let [qkv, bias, norms, angles, cache] =
                [&qkv, &bias, &norms, &angles, &slots].map(|values| gpu.buffer_with_f32("input", values));
            let (row, bias, norms, angles, qkv) = (&row, &bias, &norms, &angles, &qkv);
            let mut bits: Option<Vec<u32>> = None;
            for step in STEP_SHAPES {
                gpu.shapes.set(Shapes { step, ..Shapes::default() });
                let y = gpu.buffer("y", padded(config.n_heads * dim));
                let mut recording = Recording::new(gpu);
                record(&mut recording, config, &AttentionStep { row, window, bias, norms, angles, qkv, cache: &cache, y: &y });
                recording.run();
                let what = format!("{} {dim} {position} {window:?} {step:?}", config.architecture.name);
                let y = gpu.read_f32(&y, expected.len()).await.unwrap();
                assert_close(&what, &y, &expected, 2e-5);
                let cached = gpu.read_f32(&cache, slots.len()).await.unwrap();
                assert_eq!(cached[..position * slot], slots[..position * slot], "{what}: other slots do not change");
                assert_close(&what, &cached[position * slot..], &own, 1e-5);
                let y: Vec<u32> = y.iter().map(|value| value.to_bits()).collect();
                assert_eq!(bits.get_or_insert_with(|| y.clone()), &y, "{what}: other bits");
                // The next shape must not read the row's own slot either.
                gpu.write(&cache, position * slot, &vec![f32::NAN.to_bits(); slot]);
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn row_attends_to_text_and_is_cached() {
        let gpus = gpus_and_interpreters().await;
        for (head_dim, position) in [(2, 0), (48, 127), (64, 128), (128, 65), (20, 199)] {
            check(&gpus, &config("qwen3", 4, 2, head_dim), position, None).await;
        }
        for (i, architecture) in ARCHITECTURES.iter().enumerate() {
            let gpus = in_turn(&gpus, i);
            for (head_dim, position) in [(6, 1), (20, 129)] {
                check(gpus, &config(architecture.name, 4, 2, head_dim), position, None).await;
            }
            if architecture.rotates_part {
                check(gpus, &Config { rotated_dim: 4, ..config(architecture.name, 4, 2, 20) }, 5, None).await;
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn window_limits_keys() {
        let gpus = gpus_and_interpreters().await;
        for (window, position) in [(1, 0), (1, 70), (128, 127), (128, 128), (128, 300), (129, 128), (10_000, 90)] {
            check(&gpus, &config("gemma3", 6, 2, 16), position, Some(window)).await;
        }
        check(&gpus, &config("gemma3", 4, 1, 512), 300, Some(150)).await;
    }
}
