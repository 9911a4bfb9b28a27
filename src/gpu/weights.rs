//! Matrices in GPU memory, quantized as in the file, and how a file is streamed into them.

use std::collections::HashMap;
use std::ops::Range;

use super::buffer::Buffer;
use super::device::Gpu;
use super::format::{self, Format};
use crate::model::gguf::Tensor;
use crate::model::quant::Quant;

/// Consecutive rows of a matrix that have one type and fit in one buffer.
pub struct Slab {
    pub buffer: Buffer,
    pub format: &'static Format,
    /// Which rows of the matrix.
    pub rows: Range<usize>,
    /// Groups of 16 values in a row.
    pub groups: usize,
    quant: &'static Quant,
}

/// Tensors with the same columns, one below the other.
pub struct Matrix {
    /// In the order of their rows.
    pub slabs: Vec<Slab>,
}

impl Slab {
    fn new(gpu: &Gpu, quant: &'static Quant, columns: usize, rows: Range<usize>) -> Self {
        let buffer = gpu.buffer(quant.name, rows.len() * format::row_words(quant, columns));
        Self { buffer, format: format::of(quant), rows, groups: format::groups(columns), quant }
    }

    /// A slab of rows as they are in a file.
    pub fn from_bytes(gpu: &Gpu, quant: &'static Quant, columns: usize, bytes: &[u8]) -> Self {
        let row_bytes = quant.bytes(columns as u64).expect("whole blocks") as usize;
        let slab = Self::new(gpu, quant, columns, 0..bytes.len() / row_bytes);
        slab.write(gpu, columns, 0, bytes);
        slab
    }

    /// Writes rows of a file from row `first` of this slab on.
    fn write(&self, gpu: &Gpu, columns: usize, first: usize, bytes: &[u8]) {
        let mut repacked = Vec::new();
        let row_bytes = self.quant.bytes(columns as u64).expect("checked when the header was read") as usize;
        bytes.chunks_exact(row_bytes).for_each(|row| format::repack_row(self.quant, columns, row, &mut repacked));
        gpu.write_bytes(&self.buffer, first * format::row_words(self.quant, columns), &repacked);
    }
}

/// Rows and columns of a tensor; a vector is one row.
pub fn shape(tensor: &Tensor) -> (usize, usize) {
    (tensor.shape.iter().skip(1).product(), tensor.shape.first().copied().unwrap_or(1))
}

/// `matvec_shared` computes four rows per workgroup, and a dispatch has at most 65,535 workgroups along an axis.
const MAX_ROWS: usize = 4 * 65_535;

/// Divides tensors of `columns` columns, given by type and number of rows, into slabs of at most `max_bytes`.
fn divide(parts: &[(&'static Quant, usize)], columns: usize, max_bytes: u64) -> Vec<(&'static Quant, Range<usize>)> {
    let mut slabs: Vec<(&'static Quant, Range<usize>)> = Vec::new();
    let mut row = 0;
    for &(quant, rows) in parts {
        let fitting = max_bytes / (4 * format::row_words(quant, columns) as u64).max(1);
        let max_rows = usize::try_from(fitting).unwrap_or(MAX_ROWS).clamp(1, MAX_ROWS);
        let end = row + rows;
        while row < end {
            let same = slabs.last_mut().filter(|last| last.0 == quant && last.1.len() < max_rows);
            let start = same.as_ref().map_or(row, |last| last.1.start);
            let slab_end = end.min(start + max_rows);
            match same {
                Some(last) => last.1.end = slab_end,
                None => slabs.push((quant, row..slab_end)),
            }
            row = slab_end;
        }
    }
    slabs
}

/// Uploads the tensors of a file, piece by piece, to matrices that were reserved.
#[derive(Default)]
pub struct WeightUploader {
    matrices: Vec<Option<Matrix>>,
    /// By tensor: its matrix, and its first row there.
    locations: HashMap<String, (usize, usize)>,
    vectors: HashMap<String, Vec<f32>>,
    /// Bytes of the current tensor that were not uploaded: less than a row of a matrix, or the beginning of a vector.
    pending: Vec<u8>,
    /// The next row of the current tensor.
    row: usize,
}

/// A matrix that was reserved.
#[derive(Clone, Copy)]
pub struct MatrixId(usize);

impl WeightUploader {
    /// Allocates a matrix for these tensors, which have the same columns.
    pub fn reserve(&mut self, gpu: &Gpu, tensors: &[&Tensor]) -> MatrixId {
        let columns = tensors.first().map_or(0, |tensor| shape(tensor).1);
        let parts: Vec<_> = tensors.iter().map(|tensor| (tensor.quant, shape(tensor).0)).collect();
        let slabs = divide(&parts, columns, gpu.max_matrix_bytes).into_iter().map(|(quant, rows)| Slab::new(gpu, quant, columns, rows));
        let mut row = 0;
        for (tensor, (_, rows)) in tensors.iter().zip(&parts) {
            self.locations.insert(tensor.name.clone(), (self.matrices.len(), row));
            row += rows;
        }
        self.matrices.push(Some(Matrix { slabs: slabs.collect() }));
        MatrixId(self.matrices.len() - 1)
    }

    /// Uploads the next bytes of `tensor`. Tensors come one after the other, each from its first byte to its last.
    pub fn upload(&mut self, gpu: &Gpu, tensor: &Tensor, piece: &[u8]) -> candle_core::Result<()> {
        // A submission frees the staging memory of earlier writes.
        gpu.queue.submit([]);
        self.pending.extend_from_slice(piece);
        let (rows, columns) = shape(tensor);
        let row_bytes = tensor.bytes / rows.max(1);
        match self.locations.get(&tensor.name) {
            Some(&(matrix, first)) => {
                let whole = self.pending.len() / row_bytes;
                let matrix = self.matrices[matrix].as_ref().expect("a matrix is taken after it was filled");
                write_rows(gpu, matrix, columns, first + self.row, &self.pending[..whole * row_bytes], row_bytes);
                self.pending.drain(..whole * row_bytes);
                self.row += whole;
            }
            None if self.pending.len() == tensor.bytes => {
                let values = tensor.quant.values(&self.pending);
                self.vectors.insert(tensor.name.clone(), values);
                self.pending.clear();
            }
            None => {}
        }
        if self.row == rows {
            self.row = 0;
        }
        Ok(())
    }

    /// Takes a filled matrix.
    pub fn take_matrix(&mut self, id: MatrixId) -> Matrix {
        self.matrices[id.0].take().expect("each matrix is taken once")
    }

    /// The values of a tensor that was not reserved as a matrix; empty where the model has no such tensor.
    pub fn vector(&self, name: &str) -> Vec<f32> {
        self.vectors.get(name).cloned().unwrap_or_default()
    }
}

fn write_rows(gpu: &Gpu, matrix: &Matrix, columns: usize, first: usize, bytes: &[u8], row_bytes: usize) {
    let end = first + bytes.len() / row_bytes;
    for slab in &matrix.slabs {
        let rows = first.max(slab.rows.start)..end.min(slab.rows.end);
        if !rows.is_empty() {
            slab.write(
                gpu,
                columns,
                rows.start - slab.rows.start,
                &bytes[(rows.start - first) * row_bytes..(rows.end - first) * row_bytes],
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::quant::by_id;

    #[test]
    fn tensors_of_one_type_share_a_slab_up_to_the_limit() {
        let (q8_0, f16) = (by_id(8).unwrap(), by_id(1).unwrap());
        let rows = |parts: &[(&'static Quant, usize)], max: u64| divide(parts, 32, max).into_iter().map(|slab| slab.1).collect::<Vec<_>>();
        assert_eq!(rows(&[(q8_0, 3), (q8_0, 4), (f16, 2)], 1 << 20), [0..7, 7..9]);
        // A Q8_0 row of 32 values takes 36 bytes.
        assert_eq!(rows(&[(q8_0, 3), (q8_0, 4)], 4 * 36), [0..4, 4..7]);
        assert_eq!(rows(&[(q8_0, 2)], 1), [0..1, 1..2]);
    }
}
