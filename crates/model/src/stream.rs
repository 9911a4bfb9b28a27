//! Reads the whole file from start to end in pieces of limited size. Passes weights to the engine, and all bytes to the hash if it is
//! wanted.

use std::ops::ControlFlow;

use glasscage_message::message;
use sha2::{Digest, Sha256};

use super::gguf::{Gguf, GgufError, Tensor};
use super::source::ByteSource;

/// Maximum size of a piece in memory.
const PIECE: usize = 2 << 20;

/// Reads every tensor of `source` in file order. `on_piece` gets consecutive pieces of each tensor, at most 2 MiB each. `on_progress` gets
/// the number of bytes read so far, and may cancel. Errors if a weight is not finite.
///
/// Returns the SHA-256 of the file in lower-case hexadecimal, or `None` if canceled.
pub async fn stream<E: From<GgufError>>(
    source: &impl ByteSource,
    gguf: &Gguf,
    on_piece: impl FnMut(&Tensor, &[u8]) -> Result<(), E>,
    on_progress: impl AsyncFnMut(u64) -> ControlFlow<()>,
) -> Result<Option<String>, E> {
    let mut hash = Sha256::new();
    let read = read(source, gguf, |bytes| hash.update(bytes), on_piece, on_progress).await?;
    Ok(read.is_continue().then(|| hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Reads every tensor as [`stream`] does, without the hash: a second reader of a file needs none.
pub async fn stream_again<E: From<GgufError>>(
    source: &impl ByteSource,
    gguf: &Gguf,
    on_piece: impl FnMut(&Tensor, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    read(source, gguf, |_| {}, on_piece, async |_| ControlFlow::Continue(())).await.map(drop)
}

/// Reads the whole file in order. `on_bytes` gets all of it, `on_piece` the tensors. Breaks if `on_progress` does.
async fn read<E: From<GgufError>>(
    source: &impl ByteSource,
    gguf: &Gguf,
    mut on_bytes: impl FnMut(&[u8]),
    mut on_piece: impl FnMut(&Tensor, &[u8]) -> Result<(), E>,
    mut on_progress: impl AsyncFnMut(u64) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, E> {
    let mut tensors: Vec<&Tensor> = gguf.tensors.iter().collect();
    tensors.sort_by_key(|tensor| tensor.offset);
    let mut position = 0;
    for section in sections(&tensors, gguf.size)? {
        while position < section.end {
            let length = (section.end - position).min(section.longest_piece() as u64) as usize;
            let piece = source.read_at(position, length).await.map_err(GgufError::from)?;
            on_bytes(&piece);
            if let Some(tensor) = section.tensor {
                if !tensor.quant.is_finite(&piece) {
                    return Err(GgufError::NotFinite(tensor.name.clone()).into());
                }
                on_piece(tensor, &piece)?;
            }
            position += length as u64;
            if on_progress(position).await.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// A run of bytes up to `end`: a tensor, or the bytes between tensors (header, padding).
struct FileSection<'a> {
    tensor: Option<&'a Tensor>,
    end: u64,
}

impl FileSection<'_> {
    /// Maximum size of a piece: whole blocks of a tensor.
    fn longest_piece(&self) -> usize {
        self.tensor.map_or(PIECE, |tensor| PIECE - PIECE % tensor.quant.block_bytes)
    }
}

fn sections<'a>(tensors: &[&'a Tensor], size: u64) -> Result<Vec<FileSection<'a>>, GgufError> {
    let mut sections = Vec::with_capacity(2 * tensors.len() + 1);
    let mut position = 0;
    for &tensor in tensors {
        if tensor.offset < position {
            return Err(GgufError::Damaged(message!("its tensors overlap")));
        }
        position = tensor.offset + tensor.bytes as u64;
        sections.push(FileSection { tensor: None, end: tensor.offset });
        sections.push(FileSection { tensor: Some(tensor), end: position });
    }
    sections.push(FileSection { tensor: None, end: size });
    Ok(sections)
}
