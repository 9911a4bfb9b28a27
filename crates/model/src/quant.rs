//! The supported tensor types of GGUF. Sizes are those of ggml's block structs (ggml-common.h).

use super::dequantize::{self, Format, dequantize};

/// One tensor type: `block` values are stored in `block_bytes` bytes.
#[derive(Debug)]
pub struct Quant {
    pub name: &'static str,
    /// `ggml_type` in the file.
    pub id: u32,
    pub block: usize,
    pub block_bytes: usize,
    /// Positions of the floating-point numbers in a block: the value itself, or scale and minimum.
    floats: Floats,
    /// How to read its values.
    pub format: Format,
}

impl PartialEq for Quant {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Quant {}

/// Adjacent floating-point numbers in a block.
#[derive(Debug)]
struct Floats {
    /// Position of the first number's two upper bytes.
    at: usize,
    /// At most two.
    count: usize,
    /// Exponent bits in the two upper bytes. Only infinities and NaN have all of them set.
    exponent: u16,
}

const fn quant(name: &'static str, id: u32, block: usize, block_bytes: usize, floats: Floats, format: Format) -> Quant {
    Quant { name, id, block, block_bytes, floats, format }
}

const Q4_K: Format = Format::BlocksOf256(dequantize::Q4_K, dequantize::scales_of_q4_k, dequantize::q4_k);
const Q5_K: Format = Format::BlocksOf256(dequantize::Q5_K, dequantize::scales_of_q5_k, dequantize::q5_k);
const Q6_K: Format = Format::BlocksOf256(dequantize::Q6_K, dequantize::scales_of_q6_k, dequantize::q6_k);

/// `count` f16 numbers from byte `at` of a block.
const fn f16(at: usize, count: usize) -> Floats {
    Floats { at, count, exponent: 0x7C00 }
}

/// One number whose two upper bytes, at byte `at`, are a bf16.
const fn bf16(at: usize) -> Floats {
    Floats { at, count: 1, exponent: 0x7F80 }
}

/// All tensor types that can be read.
pub const QUANTS: &[Quant] = &[
    quant("F32", 0, 1, 4, bf16(2), Format::Floats(dequantize::f32)),
    quant("F16", 1, 1, 2, f16(0, 1), Format::Floats(dequantize::f16)),
    quant("Q4_0", 2, 32, dequantize::Q4_0.bytes, f16(0, 1), Format::BlocksOf32(dequantize::Q4_0, dequantize::q4_0)),
    quant("Q4_1", 3, 32, dequantize::Q4_1.bytes, f16(0, 2), Format::BlocksOf32(dequantize::Q4_1, dequantize::q4_1)),
    quant("Q5_0", 6, 32, dequantize::Q5_0.bytes, f16(0, 1), Format::BlocksOf32(dequantize::Q5_0, dequantize::q5_0)),
    quant("Q5_1", 7, 32, dequantize::Q5_1.bytes, f16(0, 2), Format::BlocksOf32(dequantize::Q5_1, dequantize::q5_1)),
    quant("Q8_0", 8, 32, dequantize::Q8_0.bytes, f16(0, 1), Format::BlocksOf32(dequantize::Q8_0, dequantize::q8_0)),
    quant("Q2_K", 10, 256, 84, f16(80, 2), Format::Integers(dequantize::q2_k)),
    quant("Q3_K", 11, 256, 110, f16(108, 1), Format::Integers(dequantize::q3_k)),
    quant("Q4_K", 12, 256, dequantize::Q4_K.bytes, f16(0, 2), Q4_K),
    quant("Q5_K", 13, 256, dequantize::Q5_K.bytes, f16(0, 2), Q5_K),
    quant("Q6_K", 14, 256, dequantize::Q6_K.bytes, f16(208, 1), Q6_K),
    quant("IQ4_NL", 20, 32, 18, f16(0, 1), Format::Integers(dequantize::iq4_nl)),
    quant("IQ4_XS", 23, 256, 136, f16(0, 1), Format::Integers(dequantize::iq4_xs)),
    quant("BF16", 30, 1, 2, bf16(0), Format::Floats(dequantize::bf16)),
];

/// The tensor type with this `ggml_type`.
pub fn by_id(id: u32) -> Option<&'static Quant> {
    QUANTS.iter().find(|quant| quant.id == id)
}

impl Quant {
    /// Size of `values` values in bytes; `None` if they do not fill whole blocks, or if the size overflows.
    pub fn bytes(&self, values: u64) -> Option<u64> {
        (values.is_multiple_of(self.block as u64)).then(|| values / self.block as u64)?.checked_mul(self.block_bytes as u64)
    }

    /// The values of whole blocks.
    pub fn values(&self, blocks: &[u8]) -> Vec<f32> {
        let mut values = vec![0.0; blocks.len() / self.block_bytes * self.block];
        dequantize(self.format, blocks, &mut values);
        values
    }

    /// Whether all values in these whole blocks are finite.
    pub fn is_finite(&self, blocks: &[u8]) -> bool {
        let &Self { block_bytes, floats: Floats { at, count, exponent }, .. } = self;
        match block_bytes {
            // If the size is a constant, the compiler vectorizes the check.
            2 => none_is(exponent, blocks.as_chunks::<2>().0.iter().copied()),
            4 => none_is(exponent, blocks.as_chunks::<4>().0.iter().map(|block| [block[2], block[3]])),
            _ => {
                let of_block = |block: &[u8]| [[block[at], block[at + 1]], [block[at + 2 * count - 2], block[at + 2 * count - 1]]];
                none_is(exponent, blocks.chunks_exact(block_bytes).flat_map(of_block))
            }
        }
    }
}

/// Whether no number has all exponent bits set in its two upper bytes.
fn none_is(exponent: u16, numbers: impl Iterator<Item = [u8; 2]>) -> bool {
    !numbers.fold(false, |found, number| found | (u16::from_le_bytes(number) & exponent == exponent))
}

/// Names of all types, for messages.
pub fn names() -> String {
    QUANTS.iter().map(|quant| quant.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fill_whole_blocks_or_have_no_size() {
        let q8_0 = by_id(8).unwrap();
        assert_eq!((q8_0.bytes(64), q8_0.bytes(33)), (Some(68), None));
        assert_eq!(q8_0.bytes(u64::MAX - 31), None);
    }
}
