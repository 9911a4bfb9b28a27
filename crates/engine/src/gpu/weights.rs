//! Matrices in GPU memory, quantized as in the file, and streaming a file into them.

use std::collections::HashMap;
use std::ops::Range;

use super::buffer::Buffer;
use super::device::Gpu;
use super::format::{self, Format};
use glasscage_model::gguf::Tensor;
use glasscage_model::quant::Quant;

/// Consecutive rows of a matrix that have one type and fit in one buffer.
pub struct Slab {
    pub buffer: Buffer,
    pub format: &'static Format,
    /// Range of matrix rows in this slab.
    pub rows: Range<usize>,
    /// Groups of 16 values in a row, and 4-byte words in a row.
    pub groups: usize,
    pub row_words: usize,
    /// See [`Variant::interleaved_rows`](super::variant::Variant::interleaved_rows).
    interleaved_rows: usize,
    quant: &'static Quant,
}

/// Tensors with the same number of columns, stacked by rows.
pub struct Matrix {
    /// Slabs in row order.
    pub slabs: Vec<Slab>,
}

impl Slab {
    /// A slab whose weights are all zero.
    pub fn new(gpu: &Gpu, quant: &'static Quant, columns: usize, rows: Range<usize>) -> Self {
        let (row_words, interleaved_rows) = (format::row_words(quant, columns), gpu.variant.interleaved_rows);
        let buffer = gpu.buffer(quant.name, rows.len().next_multiple_of(interleaved_rows) * row_words);
        Self { buffer, format: format::of(quant), rows, groups: format::groups(columns), row_words, interleaved_rows, quant }
    }

    /// A slab of rows in the layout of a file.
    pub fn from_bytes(gpu: &Gpu, quant: &'static Quant, columns: usize, bytes: &[u8]) -> Self {
        let row_bytes = quant.bytes(columns as u64).expect("whole blocks") as usize;
        let slab = Self::new(gpu, quant, columns, 0..bytes.len() / row_bytes);
        slab.write(gpu, columns, 0, bytes);
        slab
    }

    /// Number of columns, padded to a whole group.
    pub fn columns(&self) -> usize {
        self.groups * format::GROUP
    }

    /// Writes rows of a file, starting at row `first` of this slab. Interleaved rows must be written together, as far as the slab has
    /// them.
    fn write(&self, gpu: &Gpu, columns: usize, first: usize, bytes: &[u8]) {
        let repacked = format::repack(self.quant, columns, bytes, self.interleaved_rows);
        gpu.write_bytes(&self.buffer, first * self.row_words, &repacked);
    }
}

/// Rows and columns of a tensor; a vector is one row.
pub fn shape(tensor: &Tensor) -> (usize, usize) {
    (tensor.shape.iter().skip(1).product(), tensor.shape.first().copied().unwrap_or(1))
}

/// `matvec_shared` computes 16 rows per workgroup, and a dispatch has at most 65,535 workgroups along an axis.
const MAX_ROWS: usize = 16 * 65_535;

/// Divides tensors into slabs of at most `max_bytes`. Each part is a tensor type and a number of rows of `columns` columns. Interleaved
/// rows always belong to one tensor.
fn divide(
    parts: &[(&'static Quant, usize)],
    columns: usize,
    interleaved_rows: usize,
    max_bytes: u64,
) -> Vec<(&'static Quant, Range<usize>)> {
    let mut slabs: Vec<(&'static Quant, Range<usize>)> = Vec::new();
    let mut row = 0;
    for &(quant, rows) in parts {
        let fitting = max_bytes / (4 * format::row_words(quant, columns) as u64).max(1);
        let max_rows = usize::try_from(fitting).unwrap_or(MAX_ROWS).clamp(interleaved_rows, MAX_ROWS) / interleaved_rows * interleaved_rows;
        let end = row + rows;
        while row < end {
            let has_room = |rows: &Range<usize>| rows.len() < max_rows && rows.len().is_multiple_of(interleaved_rows);
            let same = slabs.last_mut().filter(|last| last.0 == quant && has_room(&last.1));
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

/// Uploads the tensors of a file, piece by piece, into reserved matrices.
#[derive(Default)]
pub struct WeightUploader {
    matrices: Vec<Option<Matrix>>,
    /// Tensor name to matrix index and first row in that matrix.
    locations: HashMap<String, (usize, usize)>,
    vectors: HashMap<String, Vec<f32>>,
    /// Bytes of the current tensor that are not uploaded yet: an incomplete group of interleaved rows, or the beginning of a vector.
    pending: Vec<u8>,
    /// The next row of the current tensor.
    row: usize,
}

/// Handle of a reserved matrix.
#[derive(Clone, Copy)]
pub struct MatrixId(usize);

impl WeightUploader {
    /// Allocates a matrix for tensors that have the same number of columns.
    pub fn reserve(&mut self, gpu: &Gpu, tensors: &[&Tensor]) -> MatrixId {
        let columns = tensors.first().map_or(0, |tensor| shape(tensor).1);
        let parts: Vec<_> = tensors.iter().map(|tensor| (tensor.quant, shape(tensor).0)).collect();
        let slabs = divide(&parts, columns, gpu.variant.interleaved_rows, gpu.max_matrix_bytes)
            .into_iter()
            .map(|(quant, rows)| Slab::new(gpu, quant, columns, rows));
        let mut row = 0;
        for (tensor, (_, rows)) in tensors.iter().zip(&parts) {
            self.locations.insert(tensor.name.clone(), (self.matrices.len(), row));
            row += rows;
        }
        self.matrices.push(Some(Matrix { slabs: slabs.collect() }));
        MatrixId(self.matrices.len() - 1)
    }

    /// Uploads the next bytes of `tensor`. Tensors come in order, each from its first byte to its last.
    pub fn upload(&mut self, gpu: &Gpu, tensor: &Tensor, piece: &[u8]) {
        // A submission frees the staging memory of earlier writes.
        gpu.queue.submit([]);
        self.pending.extend_from_slice(piece);
        let (rows, columns) = shape(tensor);
        let row_bytes = tensor.bytes / rows.max(1);
        match self.locations.get(&tensor.name) {
            Some(&(matrix, first)) => {
                let whole = complete_rows(self.pending.len() / row_bytes, rows - self.row, gpu.variant.interleaved_rows);
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
    }

    /// Takes a filled matrix.
    pub fn take_matrix(&mut self, id: MatrixId) -> Matrix {
        self.matrices[id.0].take().expect("each matrix is taken once")
    }

    /// Values of a tensor that was not reserved as a matrix. Empty if the model has no such tensor.
    pub fn vector(&self, name: &str) -> Vec<f32> {
        self.vectors.get(name).cloned().unwrap_or_default()
    }
}

/// Number of rows to write if `read` rows are available and `left` rows are missing in total: whole interleaved groups, or all at the
/// end.
fn complete_rows(read: usize, left: usize, interleaved_rows: usize) -> usize {
    if read == left { read } else { read / interleaved_rows * interleaved_rows }
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
    use glasscage_model::quant::by_id;

    #[test]
    fn tensors_of_one_type_share_slabs() {
        let (q8_0, f16) = (by_id(8).unwrap(), by_id(1).unwrap());
        let rows =
            |parts: &[(&'static Quant, usize)], max: u64| divide(parts, 32, 1, max).into_iter().map(|slab| slab.1).collect::<Vec<_>>();
        assert_eq!(rows(&[(q8_0, 3), (q8_0, 4), (f16, 2)], 1 << 20), [0..7, 7..9]);
        // A Q8_0 row of 32 values takes 36 bytes.
        assert_eq!(rows(&[(q8_0, 3), (q8_0, 4)], 4 * 36), [0..4, 4..7]);
        assert_eq!(rows(&[(q8_0, 2)], 1), [0..1, 1..2]);
    }

    #[test]
    fn interleaved_rows_belong_to_one_tensor() {
        let q8_0 = by_id(8).unwrap();
        let rows = |parts: &[usize], max: u64| {
            let parts: Vec<_> = parts.iter().map(|&rows| (q8_0, rows)).collect();
            divide(&parts, 32, 8, max).into_iter().map(|slab| slab.1).collect::<Vec<_>>()
        };
        assert_eq!(rows(&[16, 8, 5, 8], 1 << 20), [0..29, 29..37]);
        assert_eq!(rows(&[20], 15 * 36), [0..8, 8..16, 16..20]);
        assert_eq!(rows(&[9], 1), [0..8, 8..9]);
    }

    #[test]
    fn rows_wait_for_their_interleaved_group() {
        assert_eq!([3, 8, 19, 20].map(|read| complete_rows(read, 20, 8)), [0, 8, 16, 20]);
        assert_eq!(complete_rows(3, 20, 1), 3);
    }
}
