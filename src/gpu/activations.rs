//! Memory for rows on their way through the layers.

use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::{RowView, padded};
use super::mixer_sizes::MixerSizes;
use crate::model::config::Config;

/// Rows of the same length in memory.
pub struct RowBuffer {
    pub buffer: Buffer,
    /// f32 from one row to the next.
    pub stride: usize,
}

impl RowBuffer {
    pub fn new(gpu: &Gpu, label: &str, rows: usize, stride: usize) -> Self {
        Self { buffer: gpu.buffer(label, rows * stride), stride }
    }

    /// All rows.
    pub fn view(&self) -> RowView<'_> {
        RowView::new(&self.buffer, self.stride)
    }

    /// All rows of fewer values, closer together.
    pub fn view_of(&self, stride: usize) -> RowView<'_> {
        RowView::new(&self.buffer, stride)
    }

    /// Those from row `first` on.
    pub fn view_from(&self, first: usize) -> RowView<'_> {
        self.view().starting_at(first)
    }
}

/// The residual stream of all rows of a batch, and temporaries of one block of them at a time.
pub struct Activations {
    /// `[rows, padded dim]`, the residual stream.
    pub x: RowBuffer,
    /// `[block, padded dim]`.
    pub normed: RowBuffer,
    /// `[block, ..]`, as a layer needs it (see [`MixerSizes`]): queries, keys and values, or what a convolution takes.
    pub projected: RowBuffer,
    /// `[block, ..]`: what is made of that before it is mixed, in some layers; else next to nothing.
    pub prepared: RowBuffer,
    /// `[block, ..]`: what tokens of a chunk owe to each other, in some layers; else next to nothing.
    pub products: RowBuffer,
    /// `[block, ..]`: the heads' sums of values, or those of a convolution, or what is read of a memory.
    pub mixed: RowBuffer,
    /// `[block, gate and up, ffn_dim]`.
    pub gate_up: RowBuffer,
    /// `[block, padded ffn_dim]`.
    pub gated: RowBuffer,
    /// Rows that fit in `x`.
    pub rows: usize,
    /// Rows that fit in the others.
    pub block: usize,
}

impl Activations {
    pub fn new(gpu: &Gpu, config: &Config, rows: usize, block: usize) -> Self {
        let MixerSizes { projected, prepared, products, mixed, .. } = MixerSizes::largest(config);
        let temporary = |label: &str, stride: usize| RowBuffer::new(gpu, label, block, stride);
        Self {
            x: RowBuffer::new(gpu, "x", rows, padded(config.dim)),
            normed: temporary("normed", padded(config.dim)),
            projected: temporary("projected", projected),
            prepared: temporary("prepared", prepared.max(1)),
            products: temporary("products", products.max(1)),
            mixed: temporary("mixed", mixed),
            gate_up: temporary("gate_up", 2 * config.ffn_dim),
            gated: temporary("gated", padded(config.ffn_dim)),
            rows,
            block,
        }
    }
}
