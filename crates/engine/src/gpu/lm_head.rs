//! The LM head: computes logits from hidden states, and reduces the logits to a few numbers on the GPU.

use std::ops::Range;

use super::activations::RowBuffer;
use super::buffer::Buffer;
use super::forward::{Transformer, project};
use super::head_buffers::{BaseBlock, InfillBuffers, PositionBuffers, SampleBuffers, TileBuffers};
use super::kernels::kl_divergence::{self, KlDivergence};
use super::kernels::log_sum_exp::{self, LogSumExp};
use super::kernels::masked_argmax::{self, MaskedArgmax};
use super::kernels::matmul::{self, Matmul};
use super::kernels::top_tokens::{self, TopTokens};
use super::kernels::{RowView, argmax, gather, sample};
use super::recording::Recording;
use super::weights::{Matrix, Slab};
use crate::lm::blocks::blocks;

/// Consecutive rows of a slab of the LM head.
pub struct VocabTile<'a> {
    slab: &'a Slab,
    rows: Range<usize>,
}

impl VocabTile<'_> {
    /// Index of the first token.
    fn token(&self) -> usize {
        self.slab.rows.start + self.rows.start
    }
}

impl Transformer {
    fn head(&self) -> &Matrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }

    /// The vocabulary in tiles of at most `length` tokens, in order.
    pub fn vocab_tiles(&self, length: usize) -> impl Iterator<Item = VocabTile<'_>> {
        let tiles_of = move |slab: &'_ Slab| blocks(0..slab.rows.len(), length);
        self.head().slabs.iter().flat_map(move |slab| tiles_of(slab).map(move |rows| VocabTile { slab, rows }))
    }

    /// Applies the norm before the LM head to `n` rows of x.
    pub fn final_norm<'a>(&'a self, recording: &mut Recording<'a>, x: RowView<'a>, n: usize, y: &'a RowBuffer) {
        self.normalize(recording, x, n, false, Some(&self.norm), y);
    }

    /// Gathers and normalizes the hidden states of a block of positions.
    pub fn gather_positions<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        x: &'a RowBuffer,
        tile_buffers: &'a TileBuffers,
        positions: &'a PositionBuffers,
        block: &Range<usize>,
    ) {
        let (gathered, first, n) = (&tile_buffers.gathered, block.start, block.len());
        gather::record(recording, &positions.rows, first, &x.buffer, &gathered.buffer, n, x.stride);
        self.final_norm(recording, gathered.view(), n, &tile_buffers.normed);
    }

    /// Chooses the token after row `row` of x: the most likely one if `is_greedy`, else a sampled one.
    pub fn sample_token<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        x: &'a RowBuffer,
        row: usize,
        buffers: &'a SampleBuffers,
        is_greedy: bool,
    ) {
        let (SampleBuffers { normed, logits, slices, draw, chosen }, n) = (buffers, self.config.vocab_size);
        let read = self.normalize(recording, x.view_from(row), 1, true, Some(&self.norm), normed);
        project(recording, self.head(), 1, true, read, logits.view());
        match is_greedy {
            true => argmax::record(recording, &logits.buffer, n, slices, chosen),
            false => sample::record(recording, &logits.buffer, n, draw, chosen),
        }
    }

    /// Adds one tile of the vocabulary to the log-probabilities of a block of positions, and to their most likely tokens if requested.
    pub fn accumulate_log_probs<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        tile_buffers: &'a TileBuffers,
        positions: &'a PositionBuffers,
        block: &Range<usize>,
        tile: &VocabTile<'a>,
    ) {
        let (PositionBuffers { targets, state, top_tokens, .. }, logits) = (positions, &tile_buffers.logits);
        let (first, n) = (block.start, block.len());
        tile_logits(recording, tile, n, &tile_buffers.normed, logits);
        let (token, length) = (tile.token(), tile.rows.len());
        log_sum_exp::record(recording, &LogSumExp { logits, targets, state, first, n, token, length });
        if let Some(entries) = top_tokens {
            top_tokens::record(recording, &TopTokens { logits, entries, first, n, token, length });
        }
    }

    /// Adds one tile of the vocabulary to the divergences from the base text. Call after [`Transformer::accumulate_log_probs`] of the
    /// same tile.
    pub fn accumulate_kl<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        tile_buffers: &'a TileBuffers,
        base_block: &'a BaseBlock,
        positions: &'a PositionBuffers,
        block: &Range<usize>,
        tile: &VocabTile<'a>,
    ) {
        let Some(base_buffers) = &tile_buffers.base else { return };
        tile_logits(recording, tile, base_block.n, &base_buffers.states, &base_buffers.logits);
        let (logits, base_logits, base, state) = (&tile_buffers.logits, &base_buffers.logits, &base_block.base, &positions.state);
        let (first, n, length) = (block.start, block.len(), tile.rows.len());
        kl_divergence::record(recording, &KlDivergence { logits, base_logits, base, state, first, n, length });
    }

    /// Updates the most likely allowed tokens of a block of rows with one tile of the vocabulary.
    pub fn accumulate_argmax<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        tile_buffers: &'a TileBuffers,
        infill_buffers: &'a InfillBuffers,
        block: &Range<usize>,
        tile: &VocabTile<'a>,
    ) {
        let (InfillBuffers { excluded, forbidden, best }, logits) = (infill_buffers, &tile_buffers.logits);
        let (first, n) = (block.start, block.len());
        tile_logits(recording, tile, n, &tile_buffers.normed, logits);
        let (token, length) = (tile.token(), tile.rows.len());
        masked_argmax::record(recording, &MaskedArgmax { logits, excluded, forbidden, best, first, n, token, length });
    }
}

/// The logits of `n` normalized states over one tile, `[n, length of the tile]`.
fn tile_logits<'a>(recording: &mut Recording<'a>, tile: &VocabTile<'a>, n: usize, states: &'a RowBuffer, logits: &'a Buffer) {
    let logits = RowView::new(logits, tile.rows.len());
    matmul::record(recording, &Matmul::by_rows(tile.slab, tile.rows.clone(), n, states.view(), logits));
}
