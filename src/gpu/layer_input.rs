//! What a layer gets: rows, and where it keeps what the rows after them need.

use std::ops::Range;

use super::activations::Activations;
use super::batch::Sequence;
use super::buffer::Buffer;
use super::kernels::attention_mass::AttentionSums;
use super::layer_caches::LayerCaches;

/// Rows to compute, and where their keys and values are.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// See [`super::batch::Row`].
    pub rows: &'a Buffer,
    pub n: usize,
    /// Whether they are the one row of a step of generating: see [`Matmul::is_step`].
    pub is_step: bool,
    /// Keys that a row sees, at most.
    pub n_keys: usize,
    /// Whether some rows blend two embeddings.
    pub blends: bool,
    /// Of each rotation, `[positions, head_dim / 2]` of (cos, sin).
    pub angles: &'a [Buffer],
    /// What the layers keep of the text, and of the rows: the same for rows of the text.
    pub text: &'a LayerCaches,
    pub own: &'a LayerCaches,
    /// Slots that layers with a memory take in turn.
    pub text_ring: usize,
    pub own_ring: usize,
    /// Which rows are of one text, for layers with a memory; others know it by the rows.
    pub sequences: &'a [Sequence],
    /// Rows of the text as far as a sequence begins in it.
    pub text_rows: &'a Buffer,
    /// Where attention weights and flow are summed; for rows of the text only.
    pub attention_sums: Option<&'a AttentionSums>,
}

/// What was projected of a block of rows in layer `layer`, in [`Activations::projected`].
pub struct Mixed<'a> {
    pub layer: usize,
    pub activations: &'a Activations,
    pub batch: Batch<'a>,
    pub block: Range<usize>,
}
