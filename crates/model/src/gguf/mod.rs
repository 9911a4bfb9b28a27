//! The GGUF header: metadata and tensor positions. The file is untrusted, so every length is checked against the available bytes.
//!
//! Format: ggml's docs/gguf.md, versions 2 and 3, little endian.

mod error;
mod metadata;
mod reader;
mod tensor;

use std::collections::HashSet;

pub use error::GgufError;
pub use metadata::{Metadata, Value, WrongType};
pub use reader::MAX_HEADER;
pub use tensor::Tensor;

use super::quant::{self, Quant};
use super::source::ByteSource;
use glasscage_message::message;
use reader::Reader;

/// Number of bytes that are read first.
const FIRST_READ: usize = 1 << 20;

/// A parsed header.
#[derive(Debug)]
pub struct Gguf {
    pub metadata: Metadata,
    /// In the order of the file's tensor table.
    pub tensors: Vec<Tensor>,
    /// Size of the whole file in bytes.
    pub size: u64,
}

impl Gguf {
    /// Reads the header, and only as much of the file as it takes. Combines the headers of all parts of a split model.
    pub async fn read(source: &impl ByteSource) -> Result<Self, GgufError> {
        let starts = source.starts();
        let ends = starts.iter().skip(1).copied().chain([source.size()]);
        let mut whole: Option<Self> = None;
        for (i, (&start, end)) in starts.iter().zip(ends).enumerate() {
            let part = Self::read_part(source, start, end - start).await?;
            part.check_split(i, starts.len())?;
            match &mut whole {
                None => whole = Some(part),
                Some(whole) => whole.append(part, start)?,
            }
        }
        let whole = whole.ok_or(GgufError::NotGguf)?;
        Ok(Self { size: source.size(), ..whole })
    }

    /// The header of the file of `size` bytes that begins at `start`.
    async fn read_part(source: &impl ByteSource, start: u64, size: u64) -> Result<Self, GgufError> {
        let largest = usize::try_from(size).unwrap_or(usize::MAX).min(MAX_HEADER);
        let mut length = FIRST_READ.min(largest);
        loop {
            let bytes = source.read_at(start, length).await?;
            match Self::parse(&bytes, size) {
                Err(GgufError::Truncated) if length < largest => length = (2 * length).min(largest),
                Err(GgufError::Truncated) if length == MAX_HEADER => {
                    return Err(GgufError::Damaged(message!("it is larger than that of any model")));
                }
                done => return done,
            }
        }
    }

    /// Number of files into which the model was split (by llama.cpp's `gguf-split`).
    fn n_parts(&self) -> Result<u64, GgufError> {
        Ok(self.metadata.u64("split.count")?.unwrap_or(1))
    }

    /// Whether this is one part of several.
    pub fn is_split(&self) -> bool {
        self.n_parts().is_ok_and(|n_parts| n_parts > 1)
    }

    /// Errors unless this is part `i` of `n`.
    fn check_split(&self, i: usize, n: usize) -> Result<(), GgufError> {
        let (number, of) = (self.metadata.u64("split.no")?.unwrap_or(0), self.n_parts()?);
        if of == n as u64 && number == i as u64 {
            return Ok(());
        }
        Err(GgufError::Split { number: number.saturating_add(1), of })
    }

    /// Adds the tensors of the part that begins at `start`.
    fn append(&mut self, part: Self, start: u64) -> Result<(), GgufError> {
        self.tensors.extend(part.tensors.into_iter().map(|tensor| Tensor { offset: tensor.offset + start, ..tensor }));
        self.check_names()
    }

    fn check_names(&self) -> Result<(), GgufError> {
        let names: HashSet<&str> = self.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        if names.len() < self.tensors.len() { Err(GgufError::Damaged(message!("two of its tensors have the same name"))) } else { Ok(()) }
    }

    /// End of the last tensor, in bytes from the start of the file. [`u64::MAX`] if it overflows.
    pub fn end(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.offset.saturating_add(tensor.bytes as u64)).max().unwrap_or(0)
    }

    /// Parses the header at the start of `bytes`, of a file of `size` bytes.
    pub fn parse(bytes: &[u8], size: u64) -> Result<Self, GgufError> {
        let (mut reader, n_tensors, n_values) = Reader::open(bytes)?;
        let metadata = reader.metadata(n_values)?;
        let mut tensors = reader.tensors(n_tensors)?;
        let data_start = reader.data_start(&metadata)?;
        for tensor in &mut tensors {
            tensor.offset = tensor.offset.checked_add(data_start).ok_or_else(|| GgufError::Damaged(message!("an offset is too large")))?;
            let end = tensor.offset.saturating_add(tensor.bytes as u64);
            if end > size {
                return Err(GgufError::CutOff { name: tensor.name.clone(), end, size });
            }
        }
        let gguf = Self { metadata, tensors, size };
        gguf.check_names()?;
        Ok(gguf)
    }

    /// The metadata values that are complete in `bytes`, the beginning of a file.
    pub fn leading_metadata(bytes: &[u8]) -> Result<Metadata, GgufError> {
        let (mut reader, _, n_values) = Reader::open(bytes)?;
        reader.leading_metadata(n_values)
    }

    /// The bytes of each key-value pair in the header at the start of `bytes`, with its key, in the order of the file.
    pub fn raw_pairs(bytes: &[u8]) -> Result<Vec<(String, &[u8])>, GgufError> {
        let (mut reader, _, n_values) = Reader::open(bytes)?;
        reader.raw_pairs(n_values)
    }

    /// The tensor of this name. Errors if the model does not have it.
    pub fn tensor(&self, name: &str) -> Result<&Tensor, GgufError> {
        self.find(name).ok_or_else(|| GgufError::MissingTensor(name.to_owned()))
    }

    /// The tensor of this name, if the model has it.
    pub fn find(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// Number of weights of the model.
    pub fn n_parameters(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.n_values()).sum()
    }

    /// The tensor type with most of the weights.
    pub fn main_quant(&self) -> Option<&'static Quant> {
        let values = |id: u32| self.tensors.iter().filter(|tensor| tensor.quant.id == id).map(Tensor::n_values).sum::<u64>();
        quant::QUANTS.iter().filter(|quant| values(quant.id) > 0).max_by_key(|quant| values(quant.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with one text, one array and one tensor of 2 x 3 F32 values.
    fn file() -> Vec<u8> {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        let string = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        bytes.extend([1_u64, 2].map(u64::to_le_bytes).as_flattened());
        string(&mut bytes, "general.name");
        bytes.extend(8_u32.to_le_bytes());
        string(&mut bytes, "tiny");
        string(&mut bytes, "scores");
        bytes.extend([9_u32, 6].map(u32::to_le_bytes).as_flattened());
        bytes.extend(2_u64.to_le_bytes());
        bytes.extend([0.5_f32, -1.0].map(f32::to_le_bytes).as_flattened());
        string(&mut bytes, "output.weight");
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend([2_u64, 3].map(u64::to_le_bytes).as_flattened());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(32) + 24, 7);
        bytes
    }

    #[test]
    fn metadata_and_tensors_are_read() {
        let file = file();
        let gguf = pollster::block_on(Gguf::read(&crate::source::BytesInMemory(file.clone()))).unwrap();
        assert_eq!(gguf.metadata.str("general.name"), Ok(Some("tiny")));
        assert_eq!(gguf.metadata.numbers("scores"), Ok(Some(&[0.5, -1.0][..])));
        let tensor = gguf.tensor("output.weight").unwrap();
        assert_eq!((tensor.shape.as_slice(), tensor.bytes, tensor.offset), (&[2, 3][..], 24, file.len() as u64 - 24));
    }

    #[test]
    fn end_of_huge_offset_does_not_overflow() {
        let mut file = file();
        let offset = file.windows(13).position(|bytes| bytes == b"output.weight").unwrap() + 13 + 4 + 16 + 4;
        let data_start = file.len() as u64 - 24;
        file[offset..offset + 8].copy_from_slice(&(u64::MAX - data_start).to_le_bytes());
        assert_eq!(Gguf::parse(&file, u64::MAX).unwrap().end(), u64::MAX);
    }

    #[test]
    fn repeated_key_and_mistyped_alignment_are_rejected() {
        let [name, scores] = [&b"general.name"[..], b"scores"].map(|key| file().windows(key.len()).position(|bytes| bytes == key).unwrap());
        let mut twice = file();
        let pair = name - 8..scores - 8;
        twice.splice(pair.end..pair.end, file()[pair].to_vec());
        twice[16] = 3;
        let error = Gguf::parse(&twice, twice.len() as u64).unwrap_err().to_string();
        assert!(error.contains("the key general.name occurs twice"), "{error}");
        let mut alignment = file();
        alignment.splice(name - 8..name + 12, [&17_u64.to_le_bytes()[..], b"general.alignment"].concat());
        let error = Gguf::parse(&alignment, alignment.len() as u64).unwrap_err().to_string();
        assert!(error.contains("general.alignment is a text instead of a whole number"), "{error}");
    }

    #[test]
    fn a_file_cut_off_anywhere_says_so() {
        let file = file();
        for length in 4..file.len() {
            let error = Gguf::parse(&file[..length], length as u64).unwrap_err();
            assert!(matches!(error, GgufError::Truncated | GgufError::CutOff { .. }), "{length}: {error}");
        }
        assert!(matches!(Gguf::parse(b"Once upon a time", 16), Err(GgufError::NotGguf)));
        assert!(matches!(Gguf::parse(b"", 0), Err(GgufError::NotGguf)));
    }

    #[test]
    fn no_byte_of_a_damaged_header_makes_a_panic() {
        let file = file();
        for position in 4..file.len() - 24 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut damaged = file.clone();
                damaged[position] = value;
                let _ = Gguf::parse(&damaged, damaged.len() as u64);
            }
        }
    }
}
