//! Layouts of blocks that kernels can multiply in place.

/// 32 values: value = scale (quant - `zero`) + minimum. A block has the scale as f16, then the minimum as f16, then the fifth bits, then
/// the other bits.
#[derive(Clone, Copy, Debug)]
pub struct BlockOf32 {
    /// Size in bytes.
    pub bytes: usize,
    /// Bits of each integer: 4 or 5 without a sign, or 8 with a sign.
    pub bits: u32,
    /// The integer that means zero, apart from the minimum; 0 if there are 8 bits.
    pub zero: i8,
    /// Whether the block has a minimum; otherwise it is 0.
    pub has_minimum: bool,
}

impl BlockOf32 {
    /// Position of the integers, or of their lower four bits.
    pub const fn quants_at(&self) -> usize {
        self.bytes - if self.bits == 8 { 32 } else { 16 }
    }
}

pub const Q4_0: BlockOf32 = BlockOf32 { bytes: 18, bits: 4, zero: 8, has_minimum: false };
pub const Q4_1: BlockOf32 = BlockOf32 { bytes: 20, bits: 4, zero: 0, has_minimum: true };
pub const Q5_0: BlockOf32 = BlockOf32 { bytes: 22, bits: 5, zero: 16, has_minimum: false };
pub const Q5_1: BlockOf32 = BlockOf32 { bytes: 24, bits: 5, zero: 0, has_minimum: true };
pub const Q8_0: BlockOf32 = BlockOf32 { bytes: 34, bits: 8, zero: 0, has_minimum: false };

/// 256 values in groups of [`GROUP`](super::GROUP): value = scale (quant - `zero`) - minimum. The lower four bits of the
/// integers are at one place of the block, and the others at another.
#[derive(Clone, Copy, Debug)]
pub struct BlockOf256 {
    /// Size in bytes.
    pub bytes: usize,
    /// Bits of each integer, without a sign. With 4 or 5, each 32 bytes hold the lower bits of 64 values in a row. With 6, each 64 bytes
    /// hold those of 128 values. The first half of the values is in the lower halves of the bytes, and the other half in the upper halves.
    pub bits: u32,
    /// Position of the lower four bits.
    pub lower_at: usize,
    /// Position of the upper bits, if there are any. With 5, 32 bytes hold a bit of each group of 32 values. With 6, each 32 bytes hold two
    /// bits of each group of 32 of 128 values. The lowest bits of the bytes are those of the first group.
    pub upper_at: usize,
    /// The integer that means zero, apart from the minimum.
    pub zero: i8,
}

pub const Q4_K: BlockOf256 = BlockOf256 { bytes: 144, bits: 4, lower_at: 16, upper_at: 16, zero: 0 };
pub const Q5_K: BlockOf256 = BlockOf256 { bytes: 176, bits: 5, lower_at: 48, upper_at: 16, zero: 0 };
pub const Q6_K: BlockOf256 = BlockOf256 { bytes: 210, bits: 6, lower_at: 0, upper_at: 128, zero: 32 };
