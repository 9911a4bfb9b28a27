//! Buffers for the rows that pass through the layers.

use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::{RowView, padded};
use super::mixer_sizes::MixerSizes;
use glasscage_model::config::Config;

/// A buffer of rows that have the same stride.
pub struct RowBuffer {
    pub buffer: Buffer,
    /// Distance from one row to the next, in f32 values.
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

    /// The buffer as rows with a smaller stride.
    pub fn view_of(&self, stride: usize) -> RowView<'_> {
        RowView::new(&self.buffer, stride)
    }

    /// The rows from row `first` on.
    pub fn view_from(&self, first: usize) -> RowView<'_> {
        self.view().starting_at(first)
    }
}

/// The residual stream of all rows of a batch, and temporary buffers for one block of rows at a time.
pub struct Activations {
    /// `[rows, padded dim]`, the residual stream.
    pub x: RowBuffer,
    /// `[block, padded dim]`: rows after the norm.
    pub normed: RowBuffer,
    /// `[block, ..]`: what the layer projects (see [`MixerSizes`]): queries, keys and values, or the inputs of a convolution.
    pub projected: RowBuffer,
    /// `[block, ..]`: prepared inputs of layers that cannot prepare them in place. One value per row in other models.
    pub prepared: RowBuffer,
    /// `[block, ..]`: products between the tokens of a chunk, for DeltaNet layers. One value per row in other models.
    pub products: RowBuffer,
    /// `[block, ..]`: outputs of the attention heads, of a convolution, or of DeltaNet heads.
    pub mixed: RowBuffer,
    /// `[block, gate and up, ffn_dim]`.
    pub gate_up: RowBuffer,
    /// `[block, padded ffn_dim]`.
    pub gated: RowBuffer,
    /// Number of rows that fit in `x`.
    pub rows: usize,
    /// Number of rows that fit in the other buffers.
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
