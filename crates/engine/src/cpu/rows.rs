//! Rows of a matrix in the layout of the file, and buffers to decode some of them.

use std::ops::Range;

#[cfg(target_arch = "wasm32")]
use glasscage_model::dequantize::Scales;
use glasscage_model::dequantize::{GROUP, Integers};
use glasscage_model::quant::Quant;

/// `[rows, columns]`, each row in whole blocks.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub quant: &'static Quant,
    pub columns: usize,
    pub bytes: &'a [u8],
}

impl<'a> Rows<'a> {
    pub fn len(&self) -> usize {
        self.bytes.len() / self.row_bytes()
    }

    pub fn slice(&self, rows: Range<usize>) -> Self {
        let row_bytes = self.row_bytes();
        Self { bytes: &self.bytes[rows.start * row_bytes..rows.end * row_bytes], ..*self }
    }

    /// The bytes of each row.
    pub fn each(&self) -> impl Iterator<Item = &'a [u8]> {
        self.bytes.chunks_exact(self.row_bytes())
    }

    fn row_bytes(&self) -> usize {
        self.columns / self.quant.block * self.quant.block_bytes
    }
}

/// Rows decoded as integers. Scales and minima of each row are padded with zeros to a multiple of four.
pub struct IntegerRows {
    columns: usize,
    /// `[rows, columns]`.
    pub quants: Vec<i8>,
    /// `[rows, stride]`.
    pub scales: Vec<f32>,
    pub minima: Vec<f32>,
}

/// Number of values that each row of `columns` values has in [`IntegerRows::scales`].
fn stride(columns: usize) -> usize {
    columns.div_ceil(4 * GROUP) * 4
}

/// The negated sum of each group of x, padded with zeros to a multiple of four.
pub fn negated_sums(x: &[f32]) -> Vec<f32> {
    let mut sums: Vec<f32> = x.chunks(GROUP).map(|group| -group.iter().sum::<f32>()).collect();
    sums.resize(stride(x.len()), 0.0);
    sums
}

impl IntegerRows {
    /// Room for integers, scales and minima.
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { quants: vec![0; rows * columns], ..Self::without_quants(rows, columns) }
    }

    /// Room for scales and minima only.
    pub fn without_quants(rows: usize, columns: usize) -> Self {
        let floats = vec![0.0; rows * stride(columns)];
        Self { columns, quants: Vec::new(), scales: floats.clone(), minima: floats }
    }

    /// Decodes as many rows as fit.
    pub fn unpack(&mut self, rows: &Rows<'_>, unpack: fn(&[u8], &mut Integers<'_>)) {
        let stride = stride(self.columns);
        let floats = self.scales.chunks_exact_mut(stride).zip(self.minima.chunks_exact_mut(stride));
        for ((blocks, quants), (scales, minima)) in rows.each().zip(self.quants.chunks_exact_mut(self.columns)).zip(floats) {
            unpack(blocks, &mut Integers { quants, scales, minima });
        }
    }

    /// Decodes scales and minima of as many rows as fit.
    #[cfg(target_arch = "wasm32")]
    pub fn unpack_scales(&mut self, rows: &Rows<'_>, unpack: Scales) {
        let stride = stride(self.columns);
        let floats = self.scales.chunks_exact_mut(stride).zip(self.minima.chunks_exact_mut(stride));
        for (blocks, (scales, minima)) in rows.each().zip(floats) {
            unpack(blocks, scales, minima);
        }
    }
}
