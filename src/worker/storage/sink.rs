//! Destination of the bytes of a file: the browser's storage, or memory if the storage is unavailable or full.

use js_sys::{Array, Uint8Array};
use web_sys::Blob;

use super::opfs::{Folder, Writer};
use crate::library::errors::StorageError;
use crate::library::journal;
use crate::worker::js::{now_millis, storage_error};

/// Minimum time between two checkpoints. A killed tab loses the bytes after the last one.
const CHECKPOINT_MILLIS: f64 = 250.0;
/// Size of the blobs in memory. Blobs leave our heap, and the browser may move them to disk.
const BLOB_BYTES: usize = 4 << 20;

/// One file of a model, written from start to end.
pub enum Sink {
    Disk(Disk),
    Memory(MemorySink),
}

pub struct Disk {
    data: Writer,
    checkpoint: Writer,
    position: u64,
    /// Position in the last checkpoint, and the time when it was written.
    stored: u64,
    stored_millis: f64,
}

#[derive(Default)]
pub struct MemorySink {
    /// Blobs in order. The first may be the bytes that were stored before the storage was full.
    blobs: Array,
    pending: Vec<u8>,
    position: u64,
}

impl Sink {
    /// Opens file `i` in `folder` at its last checkpoint.
    pub async fn open(folder: &Folder, i: usize) -> Result<Self, StorageError> {
        let stored = folder.text(&journal::checkpoint_file(i)).await;
        let (data, checkpoint) = (folder.writer(&journal::data_file(i)).await?, folder.writer(&journal::checkpoint_file(i)).await?);
        let position = journal::resumable_bytes(stored.as_deref(), data.size()?);
        data.truncate(position)?;
        Ok(Self::Disk(Disk { data, checkpoint, position, stored: position, stored_millis: now_millis() }))
    }

    /// Number of bytes written so far.
    pub fn position(&self) -> u64 {
        match self {
            Self::Disk(disk) => disk.position,
            Self::Memory(memory) => memory.position,
        }
    }

    pub fn is_in_memory(&self) -> bool {
        matches!(self, Self::Memory(_))
    }

    /// Reads bytes of an earlier download, to verify them. Returns none for memory.
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

    /// Makes sure that all written bytes survive.
    pub fn flush(&mut self) -> Result<(), StorageError> {
        match self {
            Self::Disk(disk) => disk.flush(),
            Self::Memory(_) => Ok(()),
        }
    }

    /// Discards all bytes.
    pub fn restart(&mut self) -> Result<(), StorageError> {
        match self {
            Self::Disk(disk) => {
                disk.position = 0;
                disk.flush()?;
                disk.data.truncate(0)
            }
            Self::Memory(memory) => {
                *memory = MemorySink::default();
                Ok(())
            }
        }
    }

    /// Continues in memory after the first `stored` bytes, which are in `file`.
    pub fn in_memory(file: Option<Blob>, stored: u64) -> Self {
        let on_disk = file.and_then(|file| file.slice_with_f64_and_f64(0.0, stored as f64).ok());
        let blobs = on_disk.iter().collect();
        Self::Memory(MemorySink { blobs, pending: Vec::new(), position: stored })
    }

    /// The file as one blob, if it is in memory.
    pub fn into_blob(self) -> Result<Option<Blob>, StorageError> {
        match self {
            Self::Disk(_) => Ok(None),
            Self::Memory(mut memory) => {
                memory.flush_pending()?;
                Blob::new_with_blob_sequence(&memory.blobs).map(Some).map_err(storage_error)
            }
        }
    }
}

impl Disk {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.data.write_at(self.position, bytes)?;
        self.position += bytes.len() as u64;
        if now_millis() - self.stored_millis > CHECKPOINT_MILLIS { self.flush() } else { Ok(()) }
    }

    /// Flushes the bytes first, then the checkpoint that counts them.
    fn flush(&mut self) -> Result<(), StorageError> {
        if self.stored != self.position {
            self.data.flush()?;
            self.checkpoint.write_at(0, journal::checkpoint(self.position).as_bytes())?;
            self.checkpoint.flush()?;
            self.stored = self.position;
        }
        self.stored_millis = now_millis();
        Ok(())
    }
}

impl MemorySink {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.pending.extend_from_slice(bytes);
        self.position += bytes.len() as u64;
        if self.pending.len() >= BLOB_BYTES { self.flush_pending() } else { Ok(()) }
    }

    fn flush_pending(&mut self) -> Result<(), StorageError> {
        let bytes = Array::of1(&Uint8Array::from(&self.pending[..]));
        self.blobs.push(&*Blob::new_with_u8_array_sequence(&bytes).map_err(storage_error)?);
        self.pending.clear();
        Ok(())
    }
}
