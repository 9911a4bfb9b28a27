//! A real model reduced to its first layers and the first tokens of its vocabulary, for the self-test.

use crate::lm::LoadError;
use glasscage_model::config::Config;
use glasscage_model::gguf::{Gguf, GgufError, Tensor, Value};
use glasscage_model::source::{ByteSource, BytesInMemory};
use glasscage_model::tensors::{self, layer_of};

/// Maximum size of the kept layers in bytes. At least one layer is kept.
const LAYER_BYTES: usize = 4 << 20;
/// Maximum number of tokens in the reduced vocabulary.
const VOCAB_SIZE: usize = 2048;
/// Maximum size of the reduced model in bytes. The heap briefly holds it twice.
const MAX_BYTES: u64 = 24 << 20;

/// Reads the reduced model: a header, and the bytes of its tensors. Returns `None` if it has more than `MAX_BYTES`.
pub async fn read(source: &impl ByteSource, gguf: &Gguf) -> Result<Option<(Gguf, BytesInMemory)>, LoadError> {
    let config = Config::from_gguf(gguf)?;
    tensors::check(gguf, &config)?;
    let n_layers = n_layers(gguf, &config);
    let kept =
        |tensor: &&Tensor| layer_of(&tensor.name).is_none_or(|layer| layer < n_layers) && !tensors::is_ignored(&tensor.name, &config);
    let originals: Vec<&Tensor> = gguf.tensors.iter().filter(kept).collect();
    let mut parts: Vec<Tensor> = originals.iter().map(|tensor| shortened(tensor)).collect();
    let size = parts.iter().map(|tensor| tensor.bytes as u64).sum::<u64>();
    if size > MAX_BYTES {
        return Ok(None);
    }
    // Reserve all bytes at once: a growing vector would need three times as much.
    let mut bytes = Vec::with_capacity(size as usize);
    for (original, part) in originals.iter().zip(&mut parts) {
        part.offset = bytes.len() as u64;
        bytes.extend(source.read_at(original.offset, part.bytes).await.map_err(GgufError::from)?);
    }
    let mut metadata = gguf.metadata.clone();
    metadata.forget_vocabulary();
    for (field, number) in [("block_count", n_layers as u64), ("nextn_predict_layers", 0)] {
        metadata.set(&format!("{}.{field}", config.architecture.name), Value::U64(number));
    }
    Ok(Some((Gguf { metadata, tensors: parts, size }, BytesInMemory(bytes))))
}

fn n_layers(gguf: &Gguf, config: &Config) -> usize {
    let first = gguf.tensors.iter().filter(|tensor| layer_of(&tensor.name) == Some(0)).map(|tensor| tensor.bytes).sum::<usize>();
    (LAYER_BYTES / first.max(1)).clamp(1, config.n_layers)
}

/// Keeps at most the first [`VOCAB_SIZE`] rows of a tensor that has a row per token.
fn shortened(tensor: &Tensor) -> Tensor {
    let mut part = tensor.clone();
    if let ("token_embd.weight" | "output.weight", &[columns, rows]) = (&*tensor.name, &tensors::trimmed(tensor)[..]) {
        let kept = rows.min(VOCAB_SIZE);
        part.shape = vec![columns, kept];
        part.bytes = tensor.bytes / rows.max(1) * kept;
    }
    part
}
