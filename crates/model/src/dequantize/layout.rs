//! Layouts of blocks of 32 values that kernels can multiply in place: value = scale (quant - `zero`) + minimum.

/// A block has the scale as f16, then the minimum as f16, then the fifth bits, then the other bits.
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
