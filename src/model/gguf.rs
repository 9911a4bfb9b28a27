//! The GGUF header: metadata and where each tensor lies. Untrusted: every length is checked against the bytes there are.
//!
//! Format: ggml's docs/gguf.md, versions 2 and 3, little endian.

use std::collections::{BTreeMap, HashSet};

use super::quant::{self, Quant};
use super::source::{ByteSource, SourceError};

const MAGIC: &[u8; 4] = b"GGUF";
const MAX_DIMENSIONS: u32 = 4;
const DEFAULT_ALIGNMENT: u64 = 32;
const FIRST_READ: usize = 1 << 20;
/// The largest vocabularies make headers of about 12 MB.
const MAX_HEADER: usize = 128 << 20;

/// A parsed header.
#[derive(Debug)]
pub struct Gguf {
    pub metadata: Metadata,
    /// In the order of the file's table.
    pub tensors: Vec<Tensor>,
    /// Bytes of the whole file.
    pub size: u64,
}

/// Where a tensor lies and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    /// Fastest-running dimension first, as in the file: a matrix is `[columns, rows]`.
    pub shape: Vec<usize>,
    pub quant: &'static Quant,
    /// From the start of the file.
    pub offset: u64,
    pub bytes: usize,
}

/// A metadata value; all integers, floats and booleans of an array become `f64`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    U64(u64),
    I64(i64),
    F64(f64),
    Bool(bool),
    String(String),
    Strings(Vec<String>),
    Numbers(Vec<f64>),
}

/// The key-value part of the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(BTreeMap<String, Value>);

impl Metadata {
    /// Forgets vocabulary and merges: tens of megabytes that nobody needs once there is a tokenizer.
    pub fn forget_arrays(&mut self) {
        self.0.retain(|_, value| !matches!(value, Value::Strings(_) | Value::Numbers(_)));
    }

    /// Says something else than the file does.
    pub fn set(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }
}

/// Why a file is no GGUF that can be read.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    #[error("this is not a GGUF model file")]
    NotGguf,
    #[error("this GGUF file has version {0}; versions 2 and 3 are supported")]
    Version(u32),
    #[error("the file ends in the middle of its header; it may be cut off")]
    Truncated,
    #[error("the file is cut off: tensor {name} ends at byte {end}, the file at byte {size}")]
    CutOff { name: String, end: u64, size: u64 },
    #[error("the header of this file is damaged: {0}")]
    Damaged(&'static str),
    #[error("tensor {name} has a type ({id}) that is not supported; supported are {}", quant::names())]
    TensorType { name: String, id: u32 },
    #[error("this is part {number} of {of} of a split model; all parts have to be opened together")]
    Split { number: u64, of: u64 },
    #[error("the model has no tensor {0}")]
    MissingTensor(String),
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl Gguf {
    /// Reads the header, as much of the file as it takes; of a split model those of all parts, as one.
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
                Err(GgufError::Truncated) if length == MAX_HEADER => return Err(GgufError::Damaged("it is larger than that of any model")),
                done => return done,
            }
        }
    }

    /// How many files the model was split into (llama.cpp's `gguf-split`).
    fn n_parts(&self) -> u64 {
        self.metadata.u64("split.count").unwrap_or(1)
    }

    /// Whether this is one part of several.
    pub fn is_split(&self) -> bool {
        self.n_parts() > 1
    }

    /// Whether this is part `i` of `n`.
    fn check_split(&self, i: usize, n: usize) -> Result<(), GgufError> {
        let number = self.metadata.u64("split.no").unwrap_or(0);
        if self.n_parts() == n as u64 && number == i as u64 {
            return Ok(());
        }
        Err(GgufError::Split { number: number.saturating_add(1), of: self.n_parts() })
    }

    /// Takes in the tensors of the part that begins at `start`.
    fn append(&mut self, part: Self, start: u64) -> Result<(), GgufError> {
        self.tensors.extend(part.tensors.into_iter().map(|tensor| Tensor { offset: tensor.offset + start, ..tensor }));
        self.check_names()
    }

    fn check_names(&self) -> Result<(), GgufError> {
        let names: HashSet<&str> = self.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        if names.len() < self.tensors.len() { Err(GgufError::Damaged("two of its tensors have the same name")) } else { Ok(()) }
    }

    /// Where the last tensor ends.
    pub fn end(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.offset + tensor.bytes as u64).max().unwrap_or(0)
    }

    /// Parses the header at the start of `bytes`, of a file of `size` bytes.
    pub fn parse(bytes: &[u8], size: u64) -> Result<Self, GgufError> {
        let (mut reader, n_tensors, n_values) = Reader::open(bytes)?;
        let metadata = reader.metadata(n_values)?;
        let mut tensors = reader.tensors(n_tensors)?;
        let data_start = reader.data_start(&metadata)?;
        for tensor in &mut tensors {
            tensor.offset = tensor.offset.checked_add(data_start).ok_or(GgufError::Damaged("an offset is too large"))?;
            let end = tensor.offset.saturating_add(tensor.bytes as u64);
            if end > size {
                return Err(GgufError::CutOff { name: tensor.name.clone(), end, size });
            }
        }
        let gguf = Self { metadata, tensors, size };
        gguf.check_names()?;
        Ok(gguf)
    }

    /// The metadata values that lie wholly in `bytes`, the beginning of a file.
    pub fn glance(bytes: &[u8]) -> Result<Metadata, GgufError> {
        let (mut reader, _, n_values) = Reader::open(bytes)?;
        let mut values = BTreeMap::new();
        for _ in 0..reader.count(n_values, 12)? {
            match reader.pair() {
                Ok((key, value)) => values.insert(key, value),
                Err(GgufError::Truncated) => break,
                Err(error) => return Err(error),
            };
        }
        Ok(Metadata(values))
    }

    /// The tensor of this name.
    pub fn tensor(&self, name: &str) -> Result<&Tensor, GgufError> {
        self.find(name).ok_or_else(|| GgufError::MissingTensor(name.to_owned()))
    }

    /// The tensor of this name, where the model has it.
    pub fn find(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// How many weights the model has.
    pub fn n_parameters(&self) -> u64 {
        self.tensors.iter().map(|tensor| tensor.n_values()).sum()
    }

    /// The tensor type that holds most of the weights.
    pub fn main_quant(&self) -> Option<&'static Quant> {
        let values = |id: u32| self.tensors.iter().filter(|tensor| tensor.quant.id == id).map(Tensor::n_values).sum::<u64>();
        quant::QUANTS.iter().filter(|quant| values(quant.id) > 0).max_by_key(|quant| values(quant.id))
    }
}

impl Tensor {
    fn n_values(&self) -> u64 {
        self.shape.iter().map(|&length| length as u64).product()
    }
}

impl Metadata {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub fn str(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// A whole number, whatever its type in the file.
    pub fn u64(&self, key: &str) -> Option<u64> {
        match *self.get(key)? {
            Value::U64(number) => Some(number),
            Value::I64(number) => number.try_into().ok(),
            _ => None,
        }
    }

    /// Any number.
    pub fn f64(&self, key: &str) -> Option<f64> {
        match *self.get(key)? {
            Value::U64(number) => Some(number as f64),
            Value::I64(number) => Some(number as f64),
            Value::F64(number) => Some(number),
            _ => None,
        }
    }

    pub fn bool(&self, key: &str) -> Option<bool> {
        match *self.get(key)? {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    pub fn strings(&self, key: &str) -> Option<&[String]> {
        match self.get(key)? {
            Value::Strings(strings) => Some(strings),
            _ => None,
        }
    }

    pub fn numbers(&self, key: &str) -> Option<&[f64]> {
        match self.get(key)? {
            Value::Numbers(numbers) => Some(numbers),
            _ => None,
        }
    }
}

impl<K: Into<String>> FromIterator<(K, Value)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(values: I) -> Self {
        Self(values.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

/// Reads little-endian values; running out of bytes is `Truncated`.
struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// A reader behind magic and version, and how many tensors and values there are.
    fn open(bytes: &'a [u8]) -> Result<(Self, u64, u64), GgufError> {
        if bytes.get(..4) != Some(MAGIC) {
            return Err(GgufError::NotGguf);
        }
        let mut reader = Self { bytes, position: 4 };
        match reader.u32()? {
            2 | 3 => {}
            version => return Err(GgufError::Version(version)),
        }
        let (n_tensors, n_values) = (reader.u64()?, reader.u64()?);
        Ok((reader, n_tensors, n_values))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], GgufError> {
        let rest = &self.bytes[self.position..];
        let length = usize::try_from(length).map_err(|_| GgufError::Truncated)?;
        let taken = rest.get(..length).ok_or(GgufError::Truncated)?;
        self.position += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], GgufError> {
        Ok(self.take(N as u64)?.try_into().expect("take gives as many bytes as asked for"))
    }

    fn u32(&mut self) -> Result<u32, GgufError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, GgufError> {
        self.array().map(u64::from_le_bytes)
    }

    fn string(&mut self) -> Result<String, GgufError> {
        let length = self.u64()?;
        // A length beyond any header is damage, not a reason to read on.
        if length > MAX_HEADER as u64 {
            return Err(GgufError::Damaged("a text is too long"));
        }
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// A count of things that take at least `bytes_each`; more than any header holds is damage.
    fn count(&self, count: u64, bytes_each: u64) -> Result<usize, GgufError> {
        if count > MAX_HEADER as u64 / bytes_each {
            return Err(GgufError::Damaged("a count is too large"));
        }
        Ok(count as usize)
    }

    fn metadata(&mut self, n_values: u64) -> Result<Metadata, GgufError> {
        let mut values = BTreeMap::new();
        for _ in 0..self.count(n_values, 12)? {
            let (key, value) = self.pair()?;
            values.insert(key, value);
        }
        Ok(Metadata(values))
    }

    fn pair(&mut self) -> Result<(String, Value), GgufError> {
        let key = self.string()?;
        let kind = self.u32()?;
        Ok((key, self.value(kind)?))
    }

    fn value(&mut self, kind: u32) -> Result<Value, GgufError> {
        const STRING: u32 = 8;
        const ARRAY: u32 = 9;
        match kind {
            STRING => Ok(Value::String(self.string()?)),
            ARRAY => {
                let kind = self.u32()?;
                let count = self.u64()?;
                match kind {
                    STRING => Ok(Value::Strings((0..self.count(count, 8)?).map(|_| self.string()).collect::<Result<_, _>>()?)),
                    ARRAY => Err(GgufError::Damaged("it has arrays of arrays")),
                    _ => Ok(Value::Numbers((0..self.count(count, 1)?).map(|_| self.number(kind)).collect::<Result<_, _>>()?)),
                }
            }
            _ => self.scalar(kind),
        }
    }

    fn number(&mut self, kind: u32) -> Result<f64, GgufError> {
        Ok(match self.scalar(kind)? {
            Value::U64(number) => number as f64,
            Value::I64(number) => number as f64,
            Value::F64(number) => number,
            Value::Bool(flag) => f64::from(u8::from(flag)),
            Value::String(_) | Value::Strings(_) | Value::Numbers(_) => unreachable!("scalars are numbers and booleans"),
        })
    }

    fn scalar(&mut self, kind: u32) -> Result<Value, GgufError> {
        Ok(match kind {
            0 => Value::U64(u8::from_le_bytes(self.array()?).into()),
            1 => Value::I64(i8::from_le_bytes(self.array()?).into()),
            2 => Value::U64(u16::from_le_bytes(self.array()?).into()),
            3 => Value::I64(i16::from_le_bytes(self.array()?).into()),
            4 => Value::U64(self.u32()?.into()),
            5 => Value::I64(i32::from_le_bytes(self.array()?).into()),
            6 => Value::F64(f32::from_le_bytes(self.array()?).into()),
            7 => Value::Bool(u8::from_le_bytes(self.array()?) != 0),
            10 => Value::U64(self.u64()?),
            11 => Value::I64(i64::from_le_bytes(self.array()?)),
            12 => Value::F64(f64::from_le_bytes(self.array()?)),
            _ => return Err(GgufError::Damaged("it has a value of unknown type")),
        })
    }

    /// The tensor table; offsets are still those of the file's data part.
    fn tensors(&mut self, n_tensors: u64) -> Result<Vec<Tensor>, GgufError> {
        (0..self.count(n_tensors, 24)?).map(|_| self.tensor()).collect()
    }

    fn tensor(&mut self) -> Result<Tensor, GgufError> {
        let name = self.string()?;
        let n_dimensions = self.u32()?;
        if n_dimensions > MAX_DIMENSIONS {
            return Err(GgufError::Damaged("a tensor has more than four dimensions"));
        }
        let shape: Vec<u64> = (0..n_dimensions).map(|_| self.u64()).collect::<Result<_, _>>()?;
        let id = self.u32()?;
        let offset = self.u64()?;
        let quant = quant::by_id(id).ok_or_else(|| GgufError::TensorType { name: name.clone(), id })?;
        let too_large = GgufError::Damaged("a tensor has an impossible shape");
        let Some(values) = shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length)) else { return Err(too_large) };
        let whole_rows = shape.first().is_none_or(|columns| columns.is_multiple_of(quant.block as u64));
        match quant.bytes(values).and_then(|bytes| usize::try_from(bytes).ok()) {
            Some(bytes) if whole_rows && values > 0 && usize::try_from(values).is_ok() => {
                Ok(Tensor { name, shape: shape.iter().map(|&length| length as usize).collect(), quant, offset, bytes })
            }
            _ => Err(too_large),
        }
    }

    /// Where tensor data begins: after the header, aligned.
    fn data_start(&self, metadata: &Metadata) -> Result<u64, GgufError> {
        let alignment = metadata.u64("general.alignment").unwrap_or(DEFAULT_ALIGNMENT);
        if !alignment.is_power_of_two() || alignment > MAX_HEADER as u64 {
            return Err(GgufError::Damaged("its alignment is no power of two"));
        }
        Ok((self.position as u64).next_multiple_of(alignment))
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
        bytes.extend([1u64, 2].map(u64::to_le_bytes).as_flattened());
        string(&mut bytes, "general.name");
        bytes.extend(8u32.to_le_bytes());
        string(&mut bytes, "tiny");
        string(&mut bytes, "scores");
        bytes.extend([9u32, 6].map(u32::to_le_bytes).as_flattened());
        bytes.extend(2u64.to_le_bytes());
        bytes.extend([0.5f32, -1.0].map(f32::to_le_bytes).as_flattened());
        string(&mut bytes, "output.weight");
        bytes.extend(2u32.to_le_bytes());
        bytes.extend([2u64, 3].map(u64::to_le_bytes).as_flattened());
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(32) + 24, 7);
        bytes
    }

    #[test]
    fn metadata_and_tensors_are_read() {
        let file = file();
        let gguf = pollster::block_on(Gguf::read(&crate::model::source::Memory(file.clone()))).unwrap();
        assert_eq!(gguf.metadata.str("general.name"), Some("tiny"));
        assert_eq!(gguf.metadata.numbers("scores"), Some(&[0.5, -1.0][..]));
        let tensor = gguf.tensor("output.weight").unwrap();
        assert_eq!((tensor.shape.as_slice(), tensor.bytes, tensor.offset), (&[2, 3][..], 24, file.len() as u64 - 24));
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
