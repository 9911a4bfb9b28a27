//! A row of the tensor table.

use crate::quant::Quant;

/// Type and position of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    /// Fastest dimension first, as in the file: a matrix is `[columns, rows]`.
    pub shape: Vec<usize>,
    pub quant: &'static Quant,
    /// In bytes, from the start of the file.
    pub offset: u64,
    pub bytes: usize,
}

impl Tensor {
    /// Number of weights.
    pub fn n_values(&self) -> u64 {
        self.shape.iter().map(|&length| length as u64).product()
    }
}
