//! Kernel variants, and which adapter uses which.

/// How kernels divide their work on a kind of adapter. All variants compute the same results.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Its name in benchmarks and tests.
    pub name: &'static str,
    /// Whether the invocations of a workgroup share memory, with barriers.
    pub shares_memory: bool,
    /// Rows that pass through a layer together. Limits temporary memory and the time of one dispatch.
    pub block_rows: usize,
    /// Number of matrix rows whose words are interleaved in memory, for invocations that read one row each: see
    /// [`super::format::repack`].
    pub interleaved_rows: usize,
    /// Tokens of the vocabulary in one tile of logits.
    pub vocab_tile: usize,
}

/// All variants.
pub const VARIANTS: &[Variant] = &[
    // Barriers are slow on software adapters, so each invocation works alone, in registers.
    Variant { name: "registers", shares_memory: false, block_rows: 64, interleaved_rows: 1, vocab_tile: 2048 },
    Variant { name: "tiles", shares_memory: true, block_rows: 512, interleaved_rows: 8, vocab_tile: 4096 },
];

impl Variant {
    /// The variant for an adapter.
    pub fn of(is_software: bool) -> &'static Self {
        &VARIANTS[usize::from(!is_software)]
    }
}
