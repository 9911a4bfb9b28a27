//! Causal attention with grouped queries (Ainslie et al. 2023) over a shared prefix and a suffix of one's own.

use super::heads::{cached_head, qkv_width};
use super::{HEIGHT, LINE, WIDTH, padded, rectangle};
use crate::gpu::device::Buffer;
use crate::gpu::kernel::Kernel;
use crate::gpu::recording::Recording;
use crate::model::config::Config;

/// Of `n` rows from `first` on.
pub struct Attention<'a> {
    pub rows: &'a Buffer,
    pub first: usize,
    pub n: usize,
    /// `[n, qkv_width]`, queries first.
    pub qkv: &'a Buffer,
    /// Keys and values of the text: `[slots, key and value, n_kv_heads, padded head_dim]`.
    pub shared: &'a Buffer,
    /// Those of the suffixes.
    pub own: &'a Buffer,
    /// `[n, n_heads head_dim]` padded to 16.
    pub y: &'a Buffer,
}

pub fn record<'a>(recording: &mut Recording<'a>, config: &Config, attention: &Attention<'a>) {
    let &Attention { rows, first, n, qkv, shared, own, y } = attention;
    let &Config { n_heads, n_kv_heads, head_dim, .. } = config;
    let vecs = cached_head(config) / 4;
    let kernel = if recording.gpu().variant.shares_memory {
        let width = LINE.max(vecs.next_power_of_two());
        Kernel::new("attention_shared", [1, 1]).number("WIDTH", width).number("Q_LENGTH", 4 * vecs)
    } else {
        debug_assert_eq!(rectangle("attention").covers, [WIDTH, HEIGHT]);
        rectangle("attention")
    };
    let sizes = [n, first, n_heads, n_kv_heads, head_dim, qkv_width(config), padded(n_heads * head_dim)].map(|number| number as u32);
    let parameters = [&sizes[..], &[((head_dim as f64).powf(-0.5) as f32).to_bits()]].concat();
    recording.dispatch(&kernel.number("VECS", vecs), &parameters, &[rows, qkv, shared, own, y], [n_heads, n]);
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::super::heads::cached_slot;
    use super::*;
    use crate::gpu::batch::Row;
    use crate::gpu::testing::{assert_close, config, gpus, random};

    /// softmax(q k^T / sqrt(d)) v for one head, over `slots` of (key, value).
    fn twin(q: &[f32], slots: &[(&[f32], &[f32])]) -> Vec<f32> {
        let dot = |k: &[f32]| q.iter().zip(k).map(|(&q, &k)| f64::from(q) * f64::from(k)).sum::<f64>();
        let weights: Vec<f64> = slots.iter().map(|(k, _)| (dot(k) / (q.len() as f64).sqrt()).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..q.len()).map(|i| (slots.iter().zip(&weights).map(|((_, v), w)| w * f64::from(v[i])).sum::<f64>() / total) as f32).collect()
    }

    async fn check(head_dim: usize, ranges: &[[u32; 3]]) {
        let config = config("qwen3", 6, 2, head_dim);
        let (slot, head) = (cached_slot(&config), cached_head(&config));
        let n = ranges.len();
        let width = qkv_width(&config);
        let (qkv, shared, own) = (random(n * width, 1), random(300 * slot, 2), random(300 * slot, 3));
        let mut rows = vec![Row::default()];
        rows.extend(ranges.iter().map(|&[shared_end, own_first, own_end]| Row { shared_end, own_first, own_end, ..Row::default() }));
        for gpu in gpus().await {
            let buffers = [&qkv, &shared, &own].map(|values| gpu.buffer_with_f32("input", values));
            let rows = gpu.buffer_with("rows", &Row::words(&rows));
            let stride = padded(6 * head_dim);
            let y = gpu.buffer("y", n * stride);
            let mut recording = Recording::new(&gpu);
            let [qkv_buffer, shared_buffer, own_buffer] = &buffers;
            record(
                &mut recording,
                &config,
                &Attention { rows: &rows, first: 1, n, qkv: qkv_buffer, shared: shared_buffer, own: own_buffer, y: &y },
            );
            recording.run();
            let y = gpu.read_f32(&y, n * stride).await.unwrap();
            for (i, &[shared_end, own_first, own_end]) in ranges.iter().enumerate() {
                for h in 0..6 {
                    let pair = |cache: &'static str, at: usize| {
                        let values = if cache == "shared" { &shared } else { &own };
                        let key = at * slot + h / 3 * head;
                        (&values[key..key + head_dim], &values[key + 2 * head..][..head_dim])
                    };
                    let slots: Vec<_> = (0..shared_end as usize)
                        .map(|at| pair("shared", at))
                        .chain((own_first as usize..own_end as usize).map(|at| pair("own", at)))
                        .collect();
                    let q = &qkv[i * width + h * head_dim..][..head_dim];
                    let name = format!("attention {head_dim} {:?} {}", ranges[i], gpu.variant.name);
                    assert_close(&name, &y[i * stride + h * head_dim..][..head_dim], &twin(q, &slots), 2e-5);
                }
                assert!(y[i * stride + 6 * head_dim..(i + 1) * stride].iter().all(|&value| value == 0.0));
            }
        }
    }

    #[wasm_bindgen_test(unsupported = tokio::test)]
    async fn each_row_sees_its_part_of_the_text_and_its_own_suffix() {
        for head_dim in [2, 6, 48, 64, 128] {
            check(head_dim, &[[1, 0, 0], [0, 5, 6], [63, 0, 0], [64, 0, 1], [65, 3, 130], [199, 100, 299], [0, 0, 64]]).await;
        }
    }
}
