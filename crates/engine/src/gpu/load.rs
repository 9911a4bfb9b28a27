//! Loads a model file into a transformer in GPU memory.

use super::buffer::Buffer;
use super::delta_net::DeltaNet;
use super::device::Gpu;
use super::forward::{Layer, Transformer};
use super::kernels::padded;
use super::mixer_sizes::MixerSizes;
use super::mixers::Mixer;
use super::weights::{Matrix, MatrixId, WeightUploader};
use crate::lm::{Callback, LoadError};
use glasscage_model::arch::Recurrent;
use glasscage_model::config::Config;
use glasscage_model::gguf::{Gguf, Tensor};
use glasscage_model::source::ByteSource;
use glasscage_model::stream::stream;
use glasscage_model::tensors;

/// All matrices of a transformer, allocated and not yet filled.
struct Reserved {
    uploader: WeightUploader,
    embedding: MatrixId,
    output: Option<MatrixId>,
    layers: Vec<LayerIds>,
}

struct LayerIds {
    projection: MatrixId,
    mixer_output: MatrixId,
    gate_up: MatrixId,
    down: MatrixId,
}

/// Streams the weights to the GPU in bounded pieces. Returns the transformer, the rotations ([`Config::rotations`]) and the file's
/// SHA-256. Returns `None` if `on_progress` (bytes read) cancels.
pub async fn load(
    gpu: &Gpu,
    source: &impl ByteSource,
    gguf: &Gguf,
    on_progress: &mut dyn Callback<u64>,
) -> Result<Option<(Transformer, Vec<Vec<f64>>, String)>, LoadError> {
    let mut config = Config::from_gguf(gguf)?;
    tensors::check(gguf, &config)?;
    // Keys and values of one layer must fit in one buffer. So must the residual stream.
    let longest = gpu.max_buffer_bytes / (4 * MixerSizes::largest(&config).slot.max(padded(config.dim))) as u64;
    config.context_length = config.context_length.min(usize::try_from(longest).unwrap_or(usize::MAX));
    let Reserved { mut uploader, embedding, output, layers } = gpu.try_allocate(|| reserve(gpu, gguf, &config)).await?;
    let upload = |tensor: &Tensor, piece: &[u8]| -> Result<(), LoadError> {
        if !tensors::is_ignored(&tensor.name, &config) {
            uploader.upload(gpu, tensor, piece);
        }
        Ok(())
    };
    let Some(sha256) = stream(source, gguf, upload, async |bytes| on_progress.call(bytes).await).await? else { return Ok(None) };
    let factors = uploader.vector("rope_freqs.weight");
    let rotations = config.rotations((!factors.is_empty()).then_some(&factors[..]))?;
    let norm = uploader.vector(config.architecture.last_norm).iter().map(|weight| weight / config.logit_scale as f32).collect();
    let transformer = Transformer {
        embedding: uploader.take_matrix(embedding),
        norm: padded_vector(gpu, norm),
        output: output.map(|output| uploader.take_matrix(output)),
        layers: layers.into_iter().enumerate().map(|(i, ids)| layer(gpu, &mut uploader, &config, i, &ids)).collect(),
        config,
    };
    gpu.check()?;
    Ok(Some((transformer, rotations, sha256)))
}

/// Allocates all matrices. The tensors were checked before.
fn reserve(gpu: &Gpu, gguf: &Gguf, config: &Config) -> Reserved {
    let mut uploader = WeightUploader::default();
    let mut matrix = |names: &[String]| {
        let tensors: Vec<&Tensor> = names.iter().filter_map(|name| gguf.find(name)).collect();
        (!tensors.is_empty()).then(|| uploader.reserve(gpu, &tensors))
    };
    let checked = "the tensors were checked";
    let embedding = matrix(&["token_embd.weight".into()]).expect(checked);
    let output = matrix(&["output.weight".into()]);
    let layers = (0..config.n_layers)
        .map(|i| {
            let mut matrix =
                |parts: &[&str]| matrix(&parts.iter().map(|part| format!("blk.{i}.{part}.weight")).collect::<Vec<_>>()).expect(checked);
            let (projection, output): (&[&str], &str) = match config.architecture.recurrent {
                _ if config.has_attention(i) => (&["attn_q", "attn_k", "attn_v"], "attn_output"),
                Recurrent::DeltaNet => (&["attn_qkv", "ssm_alpha", "ssm_beta", "attn_gate"], "ssm_out"),
                _ => (&["shortconv.in_proj"], "shortconv.out_proj"),
            };
            LayerIds {
                projection: matrix(projection),
                mixer_output: matrix(&[output]),
                gate_up: matrix(&["ffn_gate", "ffn_up"]),
                down: matrix(&["ffn_down"]),
            }
        })
        .collect();
    Reserved { uploader, embedding, output, layers }
}

fn layer(gpu: &Gpu, uploader: &mut WeightUploader, config: &Config, i: usize, ids: &LayerIds) -> Layer {
    let vector = |uploader: &WeightUploader, parts: &[&str]| {
        vector(gpu, uploader, &parts.iter().map(|part| format!("blk.{i}.{part}")).collect::<Vec<_>>())
    };
    let mut matrix = |id: MatrixId| -> Matrix { uploader.take_matrix(id) };
    let (projection, mixer_output) = (matrix(ids.projection), matrix(ids.mixer_output));
    let (gate_up, down) = (matrix(ids.gate_up), matrix(ids.down));
    let recurrence = config.recurrence.as_ref().filter(|recurrence| recurrence.layers[i]);
    let mixer = match recurrence.map(|recurrence| (recurrence.taps, recurrence.delta_net)) {
        None => Mixer::Attention {
            bias: vector(uploader, &["attn_q.bias", "attn_k.bias", "attn_v.bias"]),
            head_norms: vector(uploader, &["attn_q_norm.weight", "attn_k_norm.weight"]),
        },
        Some((_, None)) => Mixer::ShortConvolution { w: vector(uploader, &["shortconv.conv.weight"]) },
        Some((taps, Some(sizes))) => Mixer::DeltaNet(DeltaNet {
            sizes,
            taps,
            w: vector(uploader, &["ssm_conv1d.weight"]),
            rates: vector(uploader, &["ssm_a", "ssm_dt.bias"]),
            norm: vector(uploader, &["ssm_norm.weight"]),
        }),
    };
    let norm = |uploader: &WeightUploader, part: &str| padded_vector(gpu, uploader.vector(&format!("blk.{i}.{part}")));
    let (before, after) = (config.architecture.norms_before(), config.architecture.norms_after());
    Layer {
        mixer_norm: before.then(|| norm(uploader, "attn_norm.weight")),
        added_mixer_norm: after.then(|| vector(uploader, &["post_attention_norm.weight"])),
        projection,
        mixer,
        mixer_output,
        ffn_norm: before.then(|| norm(uploader, config.architecture.ffn_norm)),
        added_ffn_norm: after.then(|| vector(uploader, &["post_ffw_norm.weight"])),
        gate_up,
        down,
    }
}

/// A vector whose values match the columns of a matrix, padded like them.
fn padded_vector(gpu: &Gpu, mut values: Vec<f32>) -> Buffer {
    values.resize(padded(values.len()), 0.0);
    gpu.buffer_with_f32("norm", &values)
}

/// Concatenates vectors. Skips those that the model does not have.
fn vector(gpu: &Gpu, uploader: &WeightUploader, names: &[String]) -> Buffer {
    let values: Vec<f32> = names.iter().flat_map(|name| uploader.vector(name)).collect();
    gpu.buffer_with_f32(names.first().map_or("vector", |name| name), &values)
}
