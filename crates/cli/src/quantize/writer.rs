//! Writes the header of a GGUF file. Format: ggml's docs/gguf.md, version 3, little endian.

use glasscage_model::gguf::Tensor;
use glasscage_model::quant::Quant;

const VERSION: u32 = 3;
const DEFAULT_ALIGNMENT: u64 = 32;
/// Type of a metadata value: a 32-bit whole number.
const U32: u32 = 4;
/// Version of ggml's quantized types (`GGML_QNT_VERSION`).
const QUANTIZATION_VERSION: u32 = 2;
const FILE_TYPE: &str = "general.file_type";
const QUANTIZATION: &str = "general.quantization_version";
/// Prefix of the keys of a split model. The written file is whole.
const SPLIT: &str = "split.";

pub struct Header {
    /// The header up to the first tensor's data.
    pub bytes: Vec<u8>,
    /// Number of bytes between the end of each tensor's data and the next tensor's.
    pub padding: Vec<usize>,
}

impl Header {
    /// The header of a file with these tensors, each with its tensor type in the file, in this order. It repeats `pairs`, the key-value
    /// pairs of the original file, except those that say how its weights are stored.
    pub fn new(pairs: &[(String, &[u8])], file_type: u32, tensors: &[(&Tensor, &Quant)], alignment: Option<u64>) -> Self {
        let alignment = alignment.unwrap_or(DEFAULT_ALIGNMENT);
        let kept: Vec<&[u8]> = pairs.iter().filter(|(key, _)| is_kept(key)).map(|(_, bytes)| *bytes).collect();
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((tensors.len() as u64).to_le_bytes());
        bytes.extend((kept.len() as u64 + 2).to_le_bytes());
        kept.into_iter().for_each(|pair| bytes.extend(pair));
        for (key, value) in [(FILE_TYPE, file_type), (QUANTIZATION, QUANTIZATION_VERSION)] {
            push_text(&mut bytes, key);
            bytes.extend([U32, value].map(u32::to_le_bytes).as_flattened());
        }
        let mut offset = 0_u64;
        let mut padding = Vec::with_capacity(tensors.len());
        for (tensor, quant) in tensors {
            push_text(&mut bytes, &tensor.name);
            bytes.extend((tensor.shape.len() as u32).to_le_bytes());
            tensor.shape.iter().for_each(|&length| bytes.extend((length as u64).to_le_bytes()));
            bytes.extend(quant.id.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
            let end = offset + quant.bytes(tensor.n_values()).expect("whole blocks");
            offset = end.next_multiple_of(alignment);
            padding.push((offset - end) as usize);
        }
        bytes.resize(bytes.len().next_multiple_of(alignment as usize), 0);
        Self { bytes, padding }
    }
}

fn is_kept(key: &str) -> bool {
    key != FILE_TYPE && key != QUANTIZATION && !key.starts_with(SPLIT)
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}
