//! How quantized tensors lie in GPU memory: blocks of whole 4-byte words, rows of whole groups of 16 values.

use super::wgsl::source;
pub use crate::model::dequantize::GROUP;
use crate::model::quant::Quant;

/// A quantization on the GPU.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// As in [`Quant`].
    pub name: &'static str,
    /// `group_at` and `four`: see `kernels/quant/weights.wgsl`.
    pub wgsl: &'static str,
}

macro_rules! format {
    ($name:literal, $file:literal) => {
        Format { name: $name, wgsl: source!("quant/", $file) }
    };
}

/// One for each tensor type that can be read.
pub const FORMATS: &[Format] = &[
    format!("F32", "f32"),
    format!("F16", "f16"),
    format!("BF16", "bf16"),
    format!("Q8_0", "q8_0"),
    format!("Q4_0", "q4_0"),
    format!("Q4_1", "q4_1"),
    format!("Q5_0", "q5_0"),
    format!("Q5_1", "q5_1"),
    format!("Q2_K", "q2_k"),
    format!("Q3_K", "q3_k"),
    format!("Q4_K", "q4_k"),
    format!("Q5_K", "q5_k"),
    format!("Q6_K", "q6_k"),
    format!("IQ4_NL", "iq4_nl"),
    format!("IQ4_XS", "iq4_xs"),
];

/// The format of a tensor type.
pub fn of(quant: &Quant) -> &'static Format {
    FORMATS.iter().find(|format| format.name == quant.name).expect("each tensor type has a format, as a test checks")
}

/// Groups of a row of so many values; the last one may be padded.
pub fn groups(columns: usize) -> usize {
    columns.div_ceil(GROUP)
}

/// 4-byte words of a row on the GPU.
pub fn row_words(quant: &Quant, columns: usize) -> usize {
    if quant.block == 1 { groups(columns) * GROUP * quant.block_bytes / 4 } else { columns / quant.block * quant.block_bytes.div_ceil(4) }
}

/// Appends one row as the kernels read it: float rows and odd blocks padded with zeros, the blocks to whole words. Where a block begins
/// with its 2-byte scale, that is moved to its end, so that the quants are aligned.
pub fn repack_row(quant: &Quant, columns: usize, row: &[u8], output: &mut Vec<u8>) {
    let end = output.len() + 4 * row_words(quant, columns);
    if quant.block_bytes.is_multiple_of(4) || quant.block == 1 {
        output.extend_from_slice(row);
    } else {
        let scale_bytes = if quant.block == 32 { 2 } else { 0 };
        for block in row.chunks_exact(quant.block_bytes) {
            output.extend_from_slice(&block[scale_bytes..]);
            output.extend_from_slice(&block[..scale_bytes]);
            output.extend_from_slice(&[0; 2]);
        }
    }
    output.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::quant::{QUANTS, by_id};

    #[test]
    fn every_tensor_type_has_a_format() {
        assert_eq!(QUANTS.iter().map(of).count(), FORMATS.len());
    }

    #[test]
    fn a_scale_goes_behind_its_quants() {
        let block: Vec<u8> = (0..34).collect();
        let mut repacked = Vec::new();
        repack_row(by_id(8).unwrap(), 32, &block, &mut repacked);
        assert_eq!(repacked, [&block[2..], &[0, 1, 0, 0]].concat());
    }

    #[test]
    fn float_rows_are_padded_to_whole_groups() {
        let mut repacked = Vec::new();
        repack_row(by_id(1).unwrap(), 3, &[1, 2, 3, 4, 5, 6], &mut repacked);
        assert_eq!((repacked.len(), &repacked[..8]), (32, &[1, 2, 3, 4, 5, 6, 0, 0][..]));
    }
}
