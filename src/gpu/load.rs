//! From a file to a transformer in GPU memory.

use std::ops::ControlFlow;

use super::device::{Buffer, Gpu};
use super::forward::{Layer, Transformer};
use super::kernels::{heads::cached_slot, padded};
use super::weights::{Filling, Matrix, MatrixId};
use crate::lm::LoadError;
use crate::model::config::Config;
use crate::model::gguf::{Gguf, Tensor};
use crate::model::source::ByteSource;
use crate::model::stream::stream;
use crate::model::tensors;

/// Matrices of a layer, reserved.
struct LayerIds {
    qkv: MatrixId,
    attention_output: MatrixId,
    gate_up: MatrixId,
    down: MatrixId,
}

/// Streams the weights to the GPU in bounded pieces. Returns transformer, rotation frequencies (radians at position 1) and
/// the file's SHA-256; `None` where `on_progress` (bytes read) broke off.
pub async fn load(
    gpu: &Gpu,
    source: &impl ByteSource,
    gguf: &Gguf,
    on_progress: impl AsyncFnMut(u64) -> ControlFlow<()>,
) -> Result<Option<(Transformer, Vec<f64>, String)>, LoadError> {
    let mut config = Config::from_gguf(gguf)?;
    tensors::check(gguf, &config)?;
    // Keys and values of a layer, and the residual stream, have to fit in a buffer each.
    let longest = gpu.max_buffer_bytes / (4 * cached_slot(&config).max(padded(config.dim))) as u64;
    config.context_length = config.context_length.min(usize::try_from(longest).unwrap_or(usize::MAX));
    let (mut filling, embedding, output, layers) = gpu.allocating(|| reserve(gpu, gguf, &config)).await?;
    let take = |tensor: &Tensor, piece: &[u8]| {
        filling
            .take(gpu, tensor, piece)
            .map_err(|error| LoadError::Weights(error.to_string().lines().next().unwrap_or_default().to_owned()))
    };
    let Some(sha256) = stream(source, gguf, take, on_progress).await? else { return Ok(None) };
    let factors = filling.vector("rope_freqs.weight");
    let frequencies = config.rope_frequencies((!factors.is_empty()).then_some(&factors[..]));
    let transformer = Transformer {
        embedding: filling.matrix(embedding),
        norm: vector(gpu, &filling, &["output_norm.weight".into()]),
        output: output.map(|output| filling.matrix(output)),
        layers: layers.into_iter().enumerate().map(|(i, ids)| layer(gpu, &mut filling, i, &ids)).collect(),
        config,
    };
    gpu.check()?;
    Ok(Some((transformer, frequencies, sha256)))
}

type Reserved = (Filling, MatrixId, Option<MatrixId>, Vec<LayerIds>);

/// Makes room for all matrices. That the tensors are there was checked.
fn reserve(gpu: &Gpu, gguf: &Gguf, config: &Config) -> Reserved {
    let mut filling = Filling::default();
    let mut matrix = |names: &[String]| {
        let tensors: Vec<&Tensor> = names.iter().filter_map(|name| gguf.find(name)).collect();
        (!tensors.is_empty()).then(|| filling.reserve(gpu, &tensors))
    };
    let checked = "the tensors were checked";
    let embedding = matrix(&["token_embd.weight".into()]).expect(checked);
    let output = matrix(&["output.weight".into()]);
    let layers = (0..config.n_layers)
        .map(|i| {
            let mut matrix =
                |parts: &[&str]| matrix(&parts.iter().map(|part| format!("blk.{i}.{part}.weight")).collect::<Vec<_>>()).expect(checked);
            LayerIds {
                qkv: matrix(&["attn_q", "attn_k", "attn_v"]),
                attention_output: matrix(&["attn_output"]),
                gate_up: matrix(&["ffn_gate", "ffn_up"]),
                down: matrix(&["ffn_down"]),
            }
        })
        .collect();
    (filling, embedding, output, layers)
}

fn layer(gpu: &Gpu, filling: &mut Filling, i: usize, ids: &LayerIds) -> Layer {
    let vector =
        |filling: &Filling, parts: &[&str]| vector(gpu, filling, &parts.iter().map(|part| format!("blk.{i}.{part}")).collect::<Vec<_>>());
    let mut matrix = |id: MatrixId| -> Matrix { filling.matrix(id) };
    let (qkv, attention_output) = (matrix(ids.qkv), matrix(ids.attention_output));
    let (gate_up, down) = (matrix(ids.gate_up), matrix(ids.down));
    Layer {
        attention_norm: vector(filling, &["attn_norm.weight"]),
        qkv,
        bias: vector(filling, &["attn_q.bias", "attn_k.bias", "attn_v.bias"]),
        head_norms: vector(filling, &["attn_q_norm.weight", "attn_k_norm.weight"]),
        attention_output,
        ffn_norm: vector(filling, &["ffn_norm.weight"]),
        gate_up,
        down,
    }
}

/// Vectors one after the other; those that the model does not have are left out.
fn vector(gpu: &Gpu, filling: &Filling, names: &[String]) -> Buffer {
    let values: Vec<f32> = names.iter().flat_map(|name| filling.vector(name)).collect();
    gpu.buffer_with_f32(names.first().map_or("vector", |name| name), &values)
}
