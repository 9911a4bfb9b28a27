//! Reads the fields of a GGUF header in order.

use super::error::GgufError;
use super::metadata::{Metadata, Value};
use super::tensor::Tensor;
use crate::quant;
use glasscage_message::message;

const MAGIC: &[u8; 4] = b"GGUF";
/// Maximum size of a header in bytes. The largest vocabularies make headers of about 12 MB.
pub const MAX_HEADER: usize = 128 << 20;
const MAX_DIMENSIONS: u32 = 4;
const DEFAULT_ALIGNMENT: u64 = 32;
/// Minimum size of a metadata value: the length of its key, and its type.
const MIN_PAIR_BYTES: u64 = 12;
/// Maximum number of elements of all lists together. A vocabulary of 262,144 tokens and its merges have about a million. Each number takes
/// eight bytes here, regardless of its size in the file.
const MAX_ELEMENTS: usize = 1 << 24;
/// Minimum size of a row of the tensor table: the length of its name, the number of dimensions, its type, its offset.
const MIN_TENSOR_BYTES: u64 = 24;

/// Reads little-endian values. Errors with `Truncated` if the bytes run out.
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Number of list elements so far.
    elements: usize,
}

impl<'a> Reader<'a> {
    /// A reader positioned after magic, version and counts, with the numbers of tensors and of metadata values.
    pub fn open(bytes: &'a [u8]) -> Result<(Self, u64, u64), GgufError> {
        if bytes.get(..4) != Some(MAGIC) {
            return Err(GgufError::NotGguf);
        }
        let mut reader = Self { bytes, position: 4, elements: 0 };
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
        // A length above any header is damage. More bytes would not help.
        if length > MAX_HEADER as u64 {
            return Err(GgufError::Damaged(message!("a text is too long")));
        }
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    /// Checks the count of items that take at least `bytes_each`. A count that no header can contain is damage.
    fn count(&self, count: u64, bytes_each: u64) -> Result<usize, GgufError> {
        if count > MAX_HEADER as u64 / bytes_each {
            return Err(GgufError::Damaged(message!("a count is too large")));
        }
        Ok(count as usize)
    }

    pub fn metadata(&mut self, n_values: u64) -> Result<Metadata, GgufError> {
        let mut metadata = Metadata::default();
        for _ in 0..self.count(n_values, MIN_PAIR_BYTES)? {
            let (key, value) = self.pair()?;
            if !metadata.add(&key, value) {
                return Err(GgufError::RepeatedKey(key));
            }
        }
        Ok(metadata)
    }

    /// The bytes of each key-value pair, with its key.
    pub fn raw_pairs(&mut self, n_values: u64) -> Result<Vec<(String, &'a [u8])>, GgufError> {
        let count = self.count(n_values, MIN_PAIR_BYTES)?;
        let pair = |_| {
            let start = self.position;
            let (key, _) = self.pair()?;
            Ok((key, &self.bytes[start..self.position]))
        };
        (0..count).map(pair).collect()
    }

    /// The values that are complete before the bytes end.
    pub fn leading_metadata(&mut self, n_values: u64) -> Result<Metadata, GgufError> {
        let pairs = (0..self.count(n_values, MIN_PAIR_BYTES)?).map(|_| self.pair());
        pairs.take_while(|pair| !matches!(pair, Err(GgufError::Truncated))).collect()
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
                let count = self.count(count, 1)?;
                self.elements += count;
                if self.elements > MAX_ELEMENTS {
                    return Err(GgufError::Damaged(message!("a count is too large")));
                }
                match kind {
                    STRING => Ok(Value::Strings((0..count).map(|_| self.string()).collect::<Result<_, _>>()?)),
                    ARRAY => Err(GgufError::Damaged(message!("it has arrays of arrays"))),
                    _ => Ok(Value::Numbers((0..count).map(|_| self.number(kind)).collect::<Result<_, _>>()?)),
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
            _ => return Err(GgufError::Damaged(message!("it has a value of unknown type"))),
        })
    }

    /// The tensor table. Offsets are still relative to the data part of the file.
    pub fn tensors(&mut self, n_tensors: u64) -> Result<Vec<Tensor>, GgufError> {
        (0..self.count(n_tensors, MIN_TENSOR_BYTES)?).map(|_| self.tensor()).collect()
    }

    fn tensor(&mut self) -> Result<Tensor, GgufError> {
        let name = self.string()?;
        let n_dimensions = self.u32()?;
        if n_dimensions > MAX_DIMENSIONS {
            return Err(GgufError::Damaged(message!("a tensor has more than four dimensions")));
        }
        let shape: Vec<u64> = (0..n_dimensions).map(|_| self.u64()).collect::<Result<_, _>>()?;
        let id = self.u32()?;
        let offset = self.u64()?;
        let quant = quant::by_id(id).ok_or_else(|| GgufError::TensorType { name: name.clone(), id })?;
        let too_large = || GgufError::Damaged(message!("a tensor has an impossible shape"));
        let Some(values) = shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length)) else { return Err(too_large()) };
        let whole_rows = shape.first().is_none_or(|columns| columns.is_multiple_of(quant.block as u64));
        match quant.bytes(values).and_then(|bytes| usize::try_from(bytes).ok()) {
            Some(bytes) if whole_rows && values > 0 && usize::try_from(values).is_ok() => {
                Ok(Tensor { name, shape: shape.iter().map(|&length| length as usize).collect(), quant, offset, bytes })
            }
            _ => Err(too_large()),
        }
    }

    /// Start of the tensor data: after the header, aligned.
    pub fn data_start(&self, metadata: &Metadata) -> Result<u64, GgufError> {
        let alignment = metadata.u64("general.alignment")?.unwrap_or(DEFAULT_ALIGNMENT);
        if !alignment.is_power_of_two() || alignment > MAX_HEADER as u64 {
            return Err(GgufError::Damaged(message!("its alignment is not a power of two")));
        }
        Ok((self.position as u64).next_multiple_of(alignment))
    }
}
