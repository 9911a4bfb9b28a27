//! The tensor types of GGUF that we read. Sizes are those of ggml's block structs (ggml-common.h).

/// One tensor type: `block` values are stored in `block_bytes` bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Quant {
    pub name: &'static str,
    /// `ggml_type` in the file.
    pub id: u32,
    pub block: usize,
    pub block_bytes: usize,
}

const fn quant(name: &'static str, id: u32, block: usize, block_bytes: usize) -> Quant {
    Quant { name, id, block, block_bytes }
}

/// All tensor types that can be read.
pub const QUANTS: &[Quant] = &[
    quant("F32", 0, 1, 4),
    quant("F16", 1, 1, 2),
    quant("Q4_0", 2, 32, 18),
    quant("Q4_1", 3, 32, 20),
    quant("Q5_0", 6, 32, 22),
    quant("Q5_1", 7, 32, 24),
    quant("Q8_0", 8, 32, 34),
    quant("Q2_K", 10, 256, 84),
    quant("Q3_K", 11, 256, 110),
    quant("Q4_K", 12, 256, 144),
    quant("Q5_K", 13, 256, 176),
    quant("Q6_K", 14, 256, 210),
    quant("BF16", 30, 1, 2),
];

/// The tensor type with this `ggml_type`.
pub fn by_id(id: u32) -> Option<&'static Quant> {
    QUANTS.iter().find(|quant| quant.id == id)
}

impl Quant {
    /// Bytes that `values` values take; `None` where they do not fill whole blocks, or are too many to count.
    pub fn bytes(&self, values: u64) -> Option<u64> {
        (values.is_multiple_of(self.block as u64)).then(|| values / self.block as u64)?.checked_mul(self.block_bytes as u64)
    }
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
