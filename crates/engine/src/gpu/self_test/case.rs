//! The output of one kernel and the correct values.

use crate::gpu::buffer::Buffer;
use crate::gpu::device::Gpu;
use crate::gpu::recording::Recording;

/// Allowed error, relative to the largest correct value.
const TOLERANCE: f32 = 5e-5;

/// The output of one kernel and the correct values.
pub struct Case {
    /// Technical name of the kernel, which the user reads. It is the same in every language.
    pub what: String,
    pub computed: Buffer,
    right: Right,
}

enum Right {
    /// f32; NaN where the value does not matter.
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

    /// Number of values to compare, from the first on.
    pub fn length(&self) -> usize {
        match &self.right {
            Right::About(values) => values.len(),
            Right::Exactly(words) => words.len(),
        }
    }

    /// The largest error of `computed`, relative to the largest correct value. Infinite if a value is not finite, or if an exact result
    /// differs.
    pub fn error(&self, computed: &[u32]) -> f32 {
        match &self.right {
            Right::Exactly(words) => {
                if words == computed {
                    0.0
                } else {
                    f32::INFINITY
                }
            }
            Right::About(values) => {
                // Non-finite weights are the file's fault, so skip them.
                let finite = || values.iter().zip(computed).filter(|(value, _)| value.is_finite());
                let largest = finite().fold(0.0, |largest: f32, (value, _)| largest.max(value.abs()));
                let difference = |(value, &bits): (&f32, &u32)| (f32::from_bits(bits) - value).abs();
                let error = finite().map(difference).fold(0.0, |error: f32, next| if next > error || next.is_nan() { next } else { error });
                match error {
                    0.0 => 0.0,
                    error if error.is_nan() => f32::INFINITY,
                    error => error / largest,
                }
            }
        }
    }

    pub fn is_right(&self, computed: &[u32]) -> bool {
        self.error(computed) <= TOLERANCE
    }
}

/// Runs one kernel.
pub fn submit<'a>(gpu: &'a Gpu, record: impl FnOnce(&mut Recording<'a>)) {
    let mut recording = Recording::new(gpu);
    record(&mut recording);
    recording.run();
}

/// Appends zeros to each row of `length` values, up to `stride` values.
pub fn with_padding(values: &[f32], length: usize, stride: usize) -> Vec<f32> {
    values.chunks(length).flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, stride - length))).collect()
}
