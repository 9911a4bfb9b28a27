//! A row of the tensor table.

use crate::model::quant::Quant;

/// Where a tensor lies and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    /// Fastest-running dimension first, as in the file: a matrix is `[columns, rows]`.
    pub shape: Vec<usize>,
    pub quant: &'static Quant,
    /// From the start of the file.
    pub offset: u64,
    pub bytes: usize,
}

impl Tensor {
    pub(super) fn n_values(&self) -> u64 {
        self.shape.iter().map(|&length| length as u64).product()
    }
}
