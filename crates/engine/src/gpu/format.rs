//! Layout of quantized tensors in GPU memory: blocks are whole 4-byte words, and rows are whole groups of 16 values.

use super::wgsl::source;
pub use glasscage_model::dequantize::GROUP;
use glasscage_model::quant::Quant;

/// A quantization format on the GPU.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Same name as in [`Quant`].
    pub name: &'static str,
    /// WGSL source of `group_at` and `four`: see `kernels/quant/weights.wgsl`.
    pub wgsl: &'static str,
}

macro_rules! format {
    ($name:literal, $file:literal) => {
        Format { name: $name, wgsl: source!("quant/", $file) }
    };
}

/// One format for each supported tensor type.
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

/// Number of groups in a row of `columns` values. The last group may be padded.
pub fn groups(columns: usize) -> usize {
    columns.div_ceil(GROUP)
}

/// Number of 4-byte words in a row on the GPU.
pub fn row_words(quant: &Quant, columns: usize) -> usize {
    if quant.block == 1 { groups(columns) * GROUP * quant.block_bytes / 4 } else { columns / quant.block * quant.block_bytes.div_ceil(4) }
}

/// Converts rows to the layout that the kernels read: word 0 of each of `interleaved_rows` rows, then word 1 of each, and so on. Then
/// invocations that read one row each share cache lines. Missing rows at the end are zero.
pub fn repack(quant: &Quant, columns: usize, rows: &[u8], interleaved_rows: usize) -> Vec<u8> {
    let mut repacked = Vec::new();
    let row_bytes = quant.bytes(columns as u64).expect("checked when the header was read") as usize;
    rows.chunks_exact(row_bytes).for_each(|row| repack_row(quant, columns, row, &mut repacked));
    if interleaved_rows == 1 { repacked } else { interleave(&repacked, 4 * row_words(quant, columns), interleaved_rows) }
}

fn interleave(rows: &[u8], row_bytes: usize, interleaved_rows: usize) -> Vec<u8> {
    let mut output = vec![0; rows.len().next_multiple_of(interleaved_rows * row_bytes)];
    let together = output.chunks_exact_mut(interleaved_rows * row_bytes).zip(rows.chunks(interleaved_rows * row_bytes));
    for (to, from) in together {
        for (r, row) in from.chunks_exact(row_bytes).enumerate() {
            let words = to[4 * r..].chunks_mut(4 * interleaved_rows).zip(row.chunks_exact(4));
            words.for_each(|(to, word)| to[..4].copy_from_slice(word));
        }
    }
    output
}

/// Appends one row in the layout of the kernels. Pads float rows and odd blocks with zeros, blocks to whole words. If a block begins with
/// its 2-byte scale, moves the scale to the end, so that the quants are aligned.
fn repack_row(quant: &Quant, columns: usize, row: &[u8], output: &mut Vec<u8>) {
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
    use glasscage_model::quant::{QUANTS, by_id};

    #[test]
    fn every_tensor_type_has_format() {
        assert_eq!(QUANTS.iter().map(of).count(), FORMATS.len());
    }

    #[test]
    fn scale_moves_behind_quants() {
        let block: Vec<u8> = (0..34).collect();
        let mut repacked = Vec::new();
        repack_row(by_id(8).unwrap(), 32, &block, &mut repacked);
        assert_eq!(repacked, [&block[2..], &[0, 1, 0, 0]].concat());
    }

    #[test]
    fn words_of_rows_are_interleaved() {
        let f32 = by_id(0).unwrap();
        // Word `i` of row `r` is `100 r + i`.
        let row = |r: u32| (0..16).flat_map(move |i| (100 * r + i).to_le_bytes());
        let rows: Vec<u8> = (0..3).flat_map(row).collect();
        let repacked = repack(f32, 16, &rows, 2);
        let words: Vec<u32> = repacked.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        // Two pairs of rows with 16 words each: rows 0 and 1, then row 2 and zeros.
        assert_eq!((words.len(), &words[..5], &words[32..37]), (64, &[0, 100, 1, 101, 2][..], &[200, 0, 201, 0, 202][..]));
        assert_eq!(repack(f32, 16, &rows, 1), rows);
    }

    #[test]
    fn float_rows_are_padded_to_whole_groups() {
        let mut repacked = Vec::new();
        repack_row(by_id(1).unwrap(), 3, &[1, 2, 3, 4, 5, 6], &mut repacked);
        assert_eq!((repacked.len(), &repacked[..8]), (32, &[1, 2, 3, 4, 5, 6, 0, 0][..]));
    }
}
