//! What a layer gets: rows, and where it keeps what the rows after them need.

use std::ops::Range;

use super::activations::Activations;
use super::batch::Sequence;
use super::buffer::Buffer;
use super::kernels::attention_mass::AttentionSums;
use super::layer_caches::LayerCaches;
use super::memories::Memories;
use super::replay::Replay;

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
    /// Of the text's, or of the sequences that are not of it.
    pub memories: &'a Memories,
    /// Which rows are of one text, for layers with a memory; others know it by the rows.
    pub sequences: &'a [Sequence],
    /// What layers with a memory compute again of the text.
    pub replayed: Option<&'a Replayed>,
    /// Where attention weights and flow are summed; for rows of the text only.
    pub attention_sums: Option<&'a AttentionSums>,
}

/// Of the text, as far as sequences begin in it; of one layer at a time.
pub struct Replayed {
    pub replay: Replay,
    /// Its rows, from the text's beginning on.
    pub rows: Buffer,
    /// What a convolution reads of them: `[tokens, slot]`.
    pub columns: Buffer,
}

/// What was projected of a block of rows in layer `layer`, in [`Activations::projected`].
pub struct Mixed<'a> {
    pub layer: usize,
    pub activations: &'a Activations,
    pub batch: Batch<'a>,
    pub block: Range<usize>,
}
