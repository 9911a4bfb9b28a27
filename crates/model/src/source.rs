//! Sources of a model file's bytes. They read ranges, never the whole file.

use std::future::Future;

use glasscage_message::{Message, ToMessage};

/// A file that can be read at any position: a browser file, an HTTP address, a native file, memory.
pub trait ByteSource {
    /// Length of the file in bytes.
    fn size(&self) -> u64;

    /// Start positions of its files: only 0, or those of the parts of a split model.
    fn starts(&self) -> Vec<u64> {
        vec![0]
    }

    /// Reads exactly `length` bytes from `offset` on. Errors if the file ends before.
    fn read_at(&self, offset: u64, length: usize) -> impl Future<Output = Result<Vec<u8>, SourceError>>;
}

/// Why the file could not be read.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum SourceError {
    #[error("the file ends at byte {size}, but bytes {offset} to {end} were requested")]
    PastEnd { offset: u64, end: u64, size: u64 },
    #[error("the file could not be read: {0}")]
    Read(Message),
}

/// Returns `offset..offset + length`. Errors if it ends after a file of `size` bytes.
pub fn range_within(size: u64, offset: u64, length: usize) -> Result<std::ops::Range<u64>, SourceError> {
    match offset.checked_add(length as u64) {
        Some(end) if end <= size => Ok(offset..end),
        end => Err(SourceError::PastEnd { offset, end: end.unwrap_or(u64::MAX), size }),
    }
}

/// A file in memory.
pub struct BytesInMemory(pub Vec<u8>);

impl ByteSource for BytesInMemory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    async fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        let range = range_within(self.size(), offset, length)?;
        Ok(self.0[range.start as usize..range.end as usize].to_vec())
    }
}

/// The parts of a split model, joined in order.
pub struct Joined<S> {
    parts: Vec<S>,
    starts: Vec<u64>,
}

impl<S: ByteSource> Joined<S> {
    /// Joins parts in the given order.
    pub fn new(parts: Vec<S>) -> Self {
        let sizes_so_far = parts.iter().scan(0, |end, part| {
            let start = *end;
            *end += part.size();
            Some(start)
        });
        let starts = sizes_so_far.collect();
        Self { parts, starts }
    }
}

impl<S: ByteSource> ByteSource for Joined<S> {
    fn size(&self) -> u64 {
        self.parts.iter().map(S::size).sum()
    }

    fn starts(&self) -> Vec<u64> {
        self.starts.clone()
    }

    async fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
        range_within(self.size(), offset, length)?;
        let mut bytes = Vec::with_capacity(length);
        for (part, start) in self.parts.iter().zip(&self.starts) {
            let position = offset + bytes.len() as u64;
            let left = (start + part.size()).saturating_sub(position).min((length - bytes.len()) as u64);
            if left > 0 && position >= *start {
                bytes.extend(part.read_at(position - start, left as usize).await?);
            }
        }
        Ok(bytes)
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub use native::NativeFile;

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::cell::RefCell;
    use std::fs::File;
    use std::io::{Read, Seek, SeekFrom};
    use std::path::Path;

    use super::{ByteSource, Message, SourceError, range_within};

    /// A file on disk.
    pub struct NativeFile {
        file: RefCell<File>,
        size: u64,
    }

    impl NativeFile {
        pub fn open(path: &Path) -> std::io::Result<Self> {
            let file = File::open(path)?;
            let size = file.metadata()?.len();
            Ok(Self { file: RefCell::new(file), size })
        }
    }

    impl ByteSource for NativeFile {
        fn size(&self) -> u64 {
            self.size
        }

        async fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>, SourceError> {
            range_within(self.size, offset, length)?;
            let mut bytes = vec![0; length];
            let mut file = self.file.borrow_mut();
            let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut bytes));
            read.map(|()| bytes).map_err(|error| SourceError::Read(Message::verbatim(&error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_parts_read_as_one_file() {
        let joined = Joined::new([&b"abc"[..], b"", b"defg"].map(|part| BytesInMemory(part.to_vec())).into());
        assert_eq!((joined.size(), joined.starts()), (7, vec![0, 3, 3]));
        for (offset, length, expected) in [(0, 7, &b"abcdefg"[..]), (2, 2, b"cd"), (3, 4, b"defg"), (7, 0, b"")] {
            assert_eq!(pollster::block_on(joined.read_at(offset, length)).unwrap(), expected);
        }
        assert!(pollster::block_on(joined.read_at(5, 3)).is_err());
    }
}
