//! A real model reduced to its first layers and the first tokens of its vocabulary, for the self-test.

use crate::lm::LoadError;
use crate::model::config::Config;
use crate::model::gguf::{Gguf, GgufError, Tensor, Value};
use crate::model::source::{ByteSource, BytesInMemory};
use crate::model::tensors::{self, layer_of};

/// Bytes of layers; at least one layer is kept.
const LAYER_BYTES: usize = 4 << 20;
/// Tokens of the vocabulary.
const VOCAB_SIZE: usize = 2048;
/// The largest reduced model: it is in the heap twice for a moment.
const MAX_BYTES: u64 = 24 << 20;

/// Reads the reduced model: a header, and the bytes that it describes. `None` where even one layer is too large for the heap.
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
    // All at once: a vector that grows would take three times as much.
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

/// The tensor, of a vocabulary with at most its first rows.
fn shortened(tensor: &Tensor) -> Tensor {
    let mut part = tensor.clone();
    if let ("token_embd.weight" | "output.weight", &[columns, rows]) = (&*tensor.name, &tensors::trimmed(tensor)[..]) {
        let kept = rows.min(VOCAB_SIZE);
        part.shape = vec![columns, kept];
        part.bytes = tensor.bytes / rows.max(1) * kept;
    }
    part
}
