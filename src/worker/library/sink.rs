//! Where the bytes of a part go: to the browser's storage, or to memory where that is refused or full.

use js_sys::{Array, Uint8Array};
use web_sys::Blob;

use super::js::{StorageError, now_millis};
use super::opfs::{Folder, Writer};
use crate::library::journal;

/// A mark is written at most so often; a tab that is killed loses what came after the last one.
const MARK_MILLIS: f64 = 250.0;
/// In memory bytes are handed to the browser in pieces of this size: they leave our heap, and it may put them on disk.
const PIECE: usize = 4 << 20;

/// One part of a model, written front to back.
pub enum Sink {
    Disk(Disk),
    Memory(Memory),
}

pub struct Disk {
    data: Writer,
    mark: Writer,
    position: u64,
    marked: u64,
    marked_millis: f64,
}

#[derive(Default)]
pub struct Memory {
    /// Blobs one after the other; the first may be what the storage took before it was full.
    pieces: Array,
    pending: Vec<u8>,
    position: u64,
}

impl Sink {
    /// Goes on where part `i` in `folder` was left.
    pub async fn open(folder: &Folder, i: usize) -> Result<Self, StorageError> {
        let mark = folder.text(&journal::stored(i)).await;
        let (data, mark_file) = (folder.writer(&journal::data(i)).await?, folder.writer(&journal::stored(i)).await?);
        let position = journal::usable(mark.as_deref(), data.size()?);
        data.cut(position)?;
        Ok(Self::Disk(Disk { data, mark: mark_file, position, marked: position, marked_millis: now_millis() }))
    }

    /// Bytes that are there.
    pub fn position(&self) -> u64 {
        match self {
            Self::Disk(disk) => disk.position,
            Self::Memory(memory) => memory.position,
        }
    }

    pub fn is_in_memory(&self) -> bool {
        matches!(self, Self::Memory(_))
    }

    /// Bytes of an earlier download, to be read again; in memory there is none.
    pub fn read_at(&self, position: u64, length: usize) -> Result<Vec<u8>, StorageError> {
        match self {
            Self::Disk(disk) => disk.data.read_at(position, length),
            Self::Memory(_) => Ok(Vec::new()),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        match self {
            Self::Disk(disk) => disk.write(bytes),
            Self::Memory(memory) => memory.write(bytes),
        }
    }

    /// Makes all that was written last.
    pub fn store(&mut self) -> Result<(), StorageError> {
        match self {
            Self::Disk(disk) => disk.store(),
            Self::Memory(_) => Ok(()),
        }
    }

    /// Forgets everything.
    pub fn begin_anew(&mut self) -> Result<(), StorageError> {
        match self {
            Self::Disk(disk) => {
                disk.position = 0;
                disk.store()?;
                disk.data.cut(0)
            }
            Self::Memory(memory) => {
                *memory = Memory::default();
                Ok(())
            }
        }
    }

    /// Goes on in memory, behind the `stored` bytes that are in `file`.
    pub fn in_memory(file: Option<Blob>, stored: u64) -> Self {
        let kept = file.and_then(|file| file.slice_with_f64_and_f64(0.0, stored as f64).ok());
        let pieces = kept.iter().collect();
        Self::Memory(Memory { pieces, pending: Vec::new(), position: stored })
    }

    /// The part as one blob, where it is in memory.
    pub fn into_blob(self) -> Option<Blob> {
        match self {
            Self::Disk(_) => None,
            Self::Memory(mut memory) => {
                memory.hand_over().ok()?;
                Blob::new_with_blob_sequence(&memory.pieces).ok()
            }
        }
    }
}

impl Disk {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.data.write_at(self.position, bytes)?;
        self.position += bytes.len() as u64;
        if now_millis() - self.marked_millis > MARK_MILLIS { self.store() } else { Ok(()) }
    }

    /// First the bytes, then the mark that counts them.
    fn store(&mut self) -> Result<(), StorageError> {
        if self.marked != self.position {
            self.data.flush()?;
            self.mark.write_at(0, journal::mark(self.position).as_bytes())?;
            self.mark.flush()?;
            self.marked = self.position;
        }
        self.marked_millis = now_millis();
        Ok(())
    }
}

impl Memory {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.pending.extend_from_slice(bytes);
        self.position += bytes.len() as u64;
        if self.pending.len() >= PIECE { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), StorageError> {
        let bytes = Array::of1(&Uint8Array::from(&self.pending[..]));
        self.pieces.push(&*Blob::new_with_u8_array_sequence(&bytes)?);
        self.pending.clear();
        Ok(())
    }
}
