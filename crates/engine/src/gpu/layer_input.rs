//! Inputs of one layer: the rows to compute and the caches to read and write.

use std::ops::Range;

use super::activations::Activations;
use super::batch::Sequence;
use super::buffer::Buffer;
use super::kernels::attention_mass::AttentionSums;
use super::layer_caches::LayerCaches;
use super::recurrent_states::RecurrentStates;
use super::replay::Replay;

/// Rows to compute, and the caches with their keys and values.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// See [`super::batch::Row`].
    pub rows: &'a Buffer,
    pub n: usize,
    /// Whether this is the single row of a decode step: see [`Matmul::is_step`].
    pub is_step: bool,
    /// Maximum number of keys that a row attends to.
    pub n_keys: usize,
    /// Whether some rows blend two embeddings.
    pub blends: bool,
    /// For each rotation, `[positions, rotated_dim / 2]` of (cos, sin).
    pub angles: &'a [Buffer],
    /// Caches of the text, and caches of these rows. Both are the same for rows of the text.
    pub text: &'a LayerCaches,
    pub own: &'a LayerCaches,
    /// Recurrent states: those of the text, or of sequences that are not part of the text.
    pub recurrent_states: &'a RecurrentStates,
    /// Rows grouped by text, for recurrent layers. Other layers read this from the rows.
    pub sequences: &'a [Sequence],
    /// Part of the text that recurrent layers recompute.
    pub replayed: Option<&'a Replayed>,
    /// Buffer for sums of attention weights and flow; only for rows of the text.
    pub attention_sums: Option<&'a AttentionSums>,
}

/// The part of the text that one recurrent layer at a time recomputes, because sequences begin inside the text.
pub struct Replayed {
    pub replay: Replay,
    /// Rows of the text, from its start on.
    pub rows: Buffer,
    /// Convolution inputs of these rows: `[tokens, slot]`.
    pub columns: Buffer,
}

/// A block of rows after the projection of layer `layer`. The projected values are in [`Activations::projected`].
pub struct Mixed<'a> {
    pub layer: usize,
    pub activations: &'a Activations,
    pub batch: Batch<'a>,
    pub block: Range<usize>,
}
