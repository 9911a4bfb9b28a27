//! Reads a few kilobytes of the model's own weights.

use crate::gpu::weights::shape;
use crate::lm::LoadError;
use glasscage_model::config::Config;
use glasscage_model::gguf::{Gguf, GgufError, Tensor};
use glasscage_model::quant::{QUANTS, Quant};
use glasscage_model::source::ByteSource;
use glasscage_model::tensors::{is_ignored, trimmed};

/// Size of the matrix that is built from a tensor's first values. Smaller if the tensor is smaller.
pub const ROWS: usize = 64;
pub const COLUMNS: usize = 512;

/// The first values of a tensor as a matrix.
pub struct Sample {
    pub quant: &'static Quant,
    pub columns: usize,
    pub bytes: Vec<u8>,
    /// `[rows, columns]`.
    pub values: Vec<f32>,
    /// Whether the model's embedding has this tensor type.
    pub is_embedding: bool,
}

/// One sample for each tensor type of the model's matrices.
pub async fn read(source: &impl ByteSource, gguf: &Gguf, config: &Config) -> Result<Vec<Sample>, LoadError> {
    let mut samples = Vec::new();
    for quant in QUANTS {
        let is_of_type = |tensor: &&Tensor| tensor.quant == quant && trimmed(tensor).len() > 1 && !is_ignored(&tensor.name, config);
        let of_type: Vec<&Tensor> = gguf.tensors.iter().filter(is_of_type).collect();
        let Some(largest) = of_type.iter().max_by_key(|tensor| tensor.bytes) else { continue };
        let (rows, columns) = shape(largest);
        let values = rows * columns;
        let columns = values.min(COLUMNS);
        let rows = (values / columns.max(1)).min(ROWS);
        let length = quant.bytes((rows * columns) as u64).unwrap_or_default() as usize;
        let bytes = source.read_at(largest.offset, length).await.map_err(GgufError::from)?;
        let is_embedding = of_type.iter().any(|tensor| tensor.name == "token_embd.weight");
        samples.push(Sample::new(quant, columns, bytes, is_embedding));
    }
    Ok(samples)
}

impl Sample {
    pub fn new(quant: &'static Quant, columns: usize, bytes: Vec<u8>, is_embedding: bool) -> Self {
        Self { quant, columns, values: quant.values(&bytes), bytes, is_embedding }
    }

    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }
}
