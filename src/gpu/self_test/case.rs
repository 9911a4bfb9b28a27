//! What one kernel computed, and what is right.

use crate::gpu::buffer::Buffer;
use crate::gpu::device::Gpu;
use crate::gpu::recording::Recording;

/// Of the largest value that a kernel should compute, this part may be missing or too much.
const TOLERANCE: f32 = 5e-5;

/// What a kernel computed, and what is right.
pub struct Case {
    /// As a visitor reads it.
    pub what: String,
    pub computed: Buffer,
    right: Right,
}

enum Right {
    /// f32; NaN where it does not matter.
    About(Vec<f32>),
    Exactly(Vec<u32>),
}

impl Case {
    pub fn about(what: impl Into<String>, computed: Buffer, right: Vec<f32>) -> Self {
        Self { what: what.into(), computed, right: Right::About(right) }
    }

    pub fn exactly(what: &str, computed: Buffer, right: Vec<u32>) -> Self {
        Self { what: what.into(), computed, right: Right::Exactly(right) }
    }

    /// How many values are compared, from the first on.
    pub fn length(&self) -> usize {
        match &self.right {
            Right::About(values) => values.len(),
            Right::Exactly(words) => words.len(),
        }
    }

    pub fn is_right(&self, computed: &[u32]) -> bool {
        match &self.right {
            Right::Exactly(words) => words == computed,
            Right::About(values) => {
                // Weights that are no numbers are the file's fault.
                let finite = || values.iter().zip(computed).filter(|(value, _)| value.is_finite());
                let largest = finite().fold(0.0, |largest: f32, (value, _)| largest.max(value.abs()));
                finite().all(|(value, &bits)| (f32::from_bits(bits) - value).abs() <= TOLERANCE * largest)
            }
        }
    }
}

/// Runs one kernel.
pub fn submit<'a>(gpu: &'a Gpu, record: impl FnOnce(&mut Recording<'a>)) {
    let mut recording = Recording::new(gpu);
    record(&mut recording);
    recording.run();
}

/// Rows of `length` values with zeros after each.
pub fn with_padding(values: &[f32], length: usize, stride: usize) -> Vec<f32> {
    values.chunks(length).flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, stride - length))).collect()
}
