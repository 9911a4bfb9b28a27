//! The transformer, in the order of its layers: which kernel runs on which memory.

use std::ops::Range;

use super::device::{Buffer, Gpu};
use super::kernels::attended::{self, Attended, Looking};
use super::kernels::attention::{self, Attention};
use super::kernels::best::{self, Ballot};
use super::kernels::divergence::{self, Tiles};
use super::kernels::embed::{self, Embed};
use super::kernels::heads::{self, Heads, cached_slot, qkv_width};
use super::kernels::log_sum_exp::{self, Tile};
use super::kernels::matmul::{self, Matmul};
use super::kernels::rms_norm::{self, RmsNorm};
use super::kernels::{argmax, gather, padded, sample, swiglu};
use super::recording::Recording;
use super::weights::{Matrix, Slab};
use crate::model::config::Config;

/// All weights, in GPU memory.
pub struct Transformer {
    pub config: Config,
    pub embedding: Matrix,
    pub layers: Vec<Layer>,
    /// `[dim]`.
    pub norm: Buffer,
    /// `None` where the embedding serves as LM head too.
    pub output: Option<Matrix>,
}

pub struct Layer {
    /// `[dim]`.
    pub attention_norm: Buffer,
    /// Rows of q, of k, of v.
    pub qkv: Matrix,
    /// `[qkv rows]`, or nothing.
    pub bias: Buffer,
    /// Of a query head, of a key head: `[2, head_dim]`, or nothing.
    pub head_norms: Buffer,
    pub attention_output: Matrix,
    /// `[dim]`.
    pub ffn_norm: Buffer,
    /// Rows of gate, of up.
    pub gate_up: Matrix,
    pub down: Matrix,
}

/// Memory for rows on their way: all of `x`, the rest for a block of rows at a time.
pub struct Scratch {
    /// `[rows, padded dim]`, the residual stream.
    pub x: Buffer,
    /// `[block, padded dim]`.
    normed: Buffer,
    /// `[block, qkv_width]`.
    qkv: Buffer,
    /// `[block, padded n_heads head_dim]`.
    mixed: Buffer,
    /// `[block, gate and up, ffn_dim]`.
    gate_up: Buffer,
    /// `[block, padded ffn_dim]`.
    gated: Buffer,
    /// Rows that fit in `x`.
    pub rows: usize,
    /// Rows that fit in the others.
    pub block: usize,
}

impl Scratch {
    pub fn new(gpu: &Gpu, config: &Config, rows: usize, block: usize) -> Self {
        let dim = padded(config.dim);
        Self {
            x: gpu.buffer("x", rows * dim),
            normed: gpu.buffer("normed", block * dim),
            qkv: gpu.buffer("qkv", block * qkv_width(config)),
            mixed: gpu.buffer("mixed", block * padded(config.n_heads * config.head_dim)),
            gate_up: gpu.buffer("gate_up", 2 * block * config.ffn_dim),
            gated: gpu.buffer("gated", block * padded(config.ffn_dim)),
            rows,
            block,
        }
    }
}

/// Rows to compute, and where their keys and values are.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    pub rows: &'a Buffer,
    pub n: usize,
    /// Whether some are mixed of two embeddings.
    pub mixed: bool,
    /// `[positions, head_dim / 2]` of (cos, sin).
    pub angles: &'a Buffer,
    /// Keys and values of the text, one buffer a layer.
    pub text: &'a [Buffer],
    /// Where the rows' own ones go: those of the text, or of suffixes; one buffer a layer, or one for all layers in turn.
    pub own: &'a [Buffer],
    /// Where attention weights are summed; of rows of the text.
    pub attended: Option<&'a Attended>,
}

impl Transformer {
    /// Rows to their embeddings.
    pub fn embed<'a>(&'a self, recording: &mut Recording<'a>, scratch: &'a Scratch, rows: Rows<'a>) {
        let Rows { rows, n, mixed, .. } = rows;
        embed::record(recording, &self.embedding, &Embed { rows, mixed, x: &scratch.x, first: 0, n, stride: padded(self.config.dim) });
    }

    /// A block of rows through layer `i`. A row attends to no later one, so blocks in order are right.
    pub fn layer<'a>(&'a self, recording: &mut Recording<'a>, i: usize, scratch: &'a Scratch, rows: Rows<'a>, block: Block) {
        let (layer, config) = (&self.layers[i], &self.config);
        let Scratch { x, normed, qkv, mixed, gate_up, gated, .. } = scratch;
        let Rows { rows, angles, text, own, attended, .. } = rows;
        let (dim, qkv_width) = (padded(config.dim), qkv_width(config));
        let own = &own[i.min(own.len() - 1)];
        let Block { first, n } = block;

        self.normalize(recording, x, block, &layer.attention_norm, normed);
        block.project(recording, &layer.qkv, normed, dim, qkv, qkv_width);
        let (bias, norms) = (&layer.bias, &layer.head_norms);
        heads::record(recording, config, &Heads { rows, first, n, bias, norms, angles, qkv, cache: own });
        attention::record(recording, config, &Attention { rows, first, n, qkv, shared: &text[i], own, y: mixed });
        if let Some(attended) = attended {
            attended::record(recording, config, &Looking { rows, first, n, qkv, text: &text[i] }, attended);
        }
        block.add_projected(recording, &layer.attention_output, mixed, padded(config.n_heads * config.head_dim), x, dim);

        self.normalize(recording, x, block, &layer.ffn_norm, normed);
        block.project(recording, &layer.gate_up, normed, dim, gate_up, 2 * config.ffn_dim);
        swiglu::record(recording, gate_up, gated, n, config.ffn_dim, padded(config.ffn_dim));
        block.add_projected(recording, &layer.down, gated, padded(config.ffn_dim), x, dim);
    }

    fn normalize<'a>(&'a self, recording: &mut Recording<'a>, x: &'a Buffer, Block { first, n }: Block, weight: &'a Buffer, y: &'a Buffer) {
        let Config { dim, norm_epsilon: epsilon, .. } = self.config;
        rms_norm::record(recording, &RmsNorm { x, first, weight, y, n, dim, stride: padded(dim), epsilon });
    }

    fn head(&self) -> &Matrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }
}

/// Some rows of `x`; the temporaries hold these from their row 0 on.
#[derive(Clone, Copy)]
pub struct Block {
    pub first: usize,
    pub n: usize,
}

/// `0..n` in blocks of at most `size`.
pub fn blocks(n: usize, size: usize) -> impl Iterator<Item = Block> {
    (0..n).step_by(size).map(move |first| Block { first, n: size.min(n - first) })
}

impl Block {
    /// y = x W^T between temporaries.
    fn project<'a>(self, recording: &mut Recording<'a>, w: &'a Matrix, x: &'a Buffer, x_stride: usize, y: &'a Buffer, y_stride: usize) {
        for slab in &w.slabs {
            let (rows, column) = (0..slab.rows.len(), slab.rows.start);
            let matmul = Matmul { slab, rows, n: self.n, x, x_first: 0, x_stride, y, y_first: 0, y_stride, column, add: false };
            matmul::record(recording, &matmul);
        }
    }

    /// The residual stream += x W^T.
    fn add_projected<'a>(
        self,
        recording: &mut Recording<'a>,
        w: &'a Matrix,
        x: &'a Buffer,
        x_stride: usize,
        y: &'a Buffer,
        y_stride: usize,
    ) {
        for slab in &w.slabs {
            let (rows, column) = (0..slab.rows.len(), slab.rows.start);
            let matmul = Matmul { slab, rows, n: self.n, x, x_first: 0, x_stride, y, y_first: self.first, y_stride, column, add: true };
            matmul::record(recording, &matmul);
        }
    }
}

/// Memory to choose the next token with.
pub struct Choice {
    /// `[padded dim]`.
    normed: Buffer,
    /// `[vocab_size]`.
    logits: Buffer,
    best: Buffer,
    /// How to draw a token, where that is left to chance: see [`sample::words`].
    pub draw: Buffer,
    /// Token, and its logit's bits.
    pub chosen: Buffer,
}

impl Choice {
    pub fn new(gpu: &Gpu, config: &Config) -> Self {
        Self {
            normed: gpu.buffer("normed", padded(config.dim)),
            logits: gpu.buffer("logits", config.vocab_size),
            best: gpu.buffer("best", 2 * argmax::PARTS),
            draw: gpu.buffer("draw", sample::DRAW_WORDS),
            chosen: gpu.buffer("chosen", 2),
        }
    }
}

impl Transformer {
    /// The token after row `row` of x: the most likely one, or one drawn.
    pub fn choose<'a>(&'a self, recording: &mut Recording<'a>, x: &'a Buffer, row: usize, choice: &'a Choice, is_greedy: bool) {
        self.normalize(recording, x, Block { first: row, n: 1 }, &self.norm, &choice.normed);
        Block { first: 0, n: 1 }.project(
            recording,
            self.head(),
            &choice.normed,
            padded(self.config.dim),
            &choice.logits,
            self.config.vocab_size,
        );
        let Choice { logits, best, draw, chosen, .. } = choice;
        match is_greedy {
            true => argmax::record(recording, logits, self.config.vocab_size, best, chosen),
            false => sample::record(recording, logits, self.config.vocab_size, draw, chosen),
        }
    }
}

/// What gaps may be filled with, and what they are filled with.
pub struct Choices {
    /// One token for each row that it does not take.
    pub excluded: Buffer,
    /// See [`best::bits`].
    pub forbidden: Buffer,
    /// `[rows, 2]`: see [`Ballot`].
    pub best: Buffer,
}

impl Transformer {
    /// A block of rows of x made ready for the LM head.
    pub fn ready<'a>(&'a self, recording: &mut Recording<'a>, x: &'a Buffer, scoring: &'a Scoring, block: Block) {
        self.normalize(recording, x, block, &self.norm, &scoring.normed);
    }

    /// Takes one tile of the vocabulary into the choices of the block made ready.
    pub fn choose_each<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        scoring: &'a Scoring,
        choices: &'a Choices,
        block: Block,
        tile: &VocabularyTile<'a>,
    ) {
        let (token, length) = self.logits(recording, scoring, block, tile);
        let (logits, Choices { excluded, forbidden, best }, Block { first, n }) = (&scoring.logits, choices, block);
        best::record(recording, &Ballot { logits, excluded, forbidden, best, first, n, token, length });
    }

    /// The logits of a block made ready, over one tile: its first token and its length.
    fn logits<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        scoring: &'a Scoring,
        block: Block,
        tile: &VocabularyTile<'a>,
    ) -> (usize, usize) {
        let length = tile.rows.len();
        let (x, x_stride, y, y_stride) = (&scoring.normed, padded(self.config.dim), &scoring.logits, length);
        let (slab, rows, n) = (tile.slab, tile.rows.clone(), block.n);
        matmul::record(recording, &Matmul { slab, rows, n, x, x_first: 0, x_stride, y, y_first: 0, y_stride, column: 0, add: false });
        (tile.slab.rows.start + tile.rows.start, length)
    }
}

/// Memory to score positions with.
pub struct Scoring {
    /// `[block, padded dim]`.
    picked: Buffer,
    pub normed: Buffer,
    /// `[block, vocab_tile]`.
    logits: Buffer,
    /// The same for the base text's states and logits, where they are compared.
    pub base_states: Option<Buffer>,
    base_logits: Option<Buffer>,
    pub block: usize,
    pub vocab_tile: usize,
}

/// Positions to score: row of x and target token of each, and their results.
pub struct Positions {
    pub rows: Buffer,
    pub targets: Buffer,
    /// `[n, 4]`: see [`log_sum_exp`].
    pub state: Buffer,
}

/// The base text's states for a block of positions.
pub struct Comparison {
    /// How many, in `Scoring::base_states`.
    pub rows: usize,
    /// `[block, 2]`: see [`divergence`].
    pub base: Buffer,
}

impl Scoring {
    pub fn new(gpu: &Gpu, config: &Config, divergences: bool) -> Self {
        let (block, vocab_tile) = (gpu.variant.block_rows, gpu.variant.vocab_tile.min(config.vocab_size));
        let dim = padded(config.dim);
        Self {
            picked: gpu.buffer("picked", block * dim),
            normed: gpu.buffer("normed", block * dim),
            logits: gpu.buffer("logits", block * vocab_tile),
            base_states: divergences.then(|| gpu.buffer("base states", block * dim)),
            base_logits: divergences.then(|| gpu.buffer("base logits", block * vocab_tile)),
            block,
            vocab_tile,
        }
    }
}

impl Transformer {
    /// A block of positions made ready for the LM head.
    pub fn pick<'a>(&'a self, recording: &mut Recording<'a>, x: &'a Buffer, scoring: &'a Scoring, positions: &'a Positions, block: Block) {
        gather::record(recording, &positions.rows, block.first, x, &scoring.picked, block.n, padded(self.config.dim));
        self.normalize(recording, &scoring.picked, Block { first: 0, n: block.n }, &self.norm, &scoring.normed);
    }

    /// The vocabulary in tiles, in order.
    pub fn tiles(&self, length: usize) -> impl Iterator<Item = VocabularyTile<'_>> {
        let tiles_of =
            move |slab| blocks(slab_rows(slab), length).map(move |Block { first, n }| VocabularyTile { slab, rows: first..first + n });
        self.head().slabs.iter().flat_map(tiles_of)
    }

    /// Takes one tile of the vocabulary into the log-probabilities of the picked block: logits never leave a tile.
    pub fn score<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        scoring: &'a Scoring,
        positions: &'a Positions,
        block: Block,
        tile: &VocabularyTile<'a>,
    ) {
        let (token, length) = self.logits(recording, scoring, block, tile);
        let (logits, Positions { targets, state, .. }, Block { first, n }) = (&scoring.logits, positions, block);
        log_sum_exp::record(recording, &Tile { logits, targets, state, first, n, token, length });
    }
}

impl Transformer {
    /// Takes one tile into the divergences from the base text; after [`Transformer::score`] of the same tile.
    pub fn compare<'a>(
        &'a self,
        recording: &mut Recording<'a>,
        scoring: &'a Scoring,
        compared: &'a Comparison,
        positions: &'a Positions,
        block: Block,
        tile: &VocabularyTile<'a>,
    ) {
        let (Some(x), Some(y)) = (&scoring.base_states, &scoring.base_logits) else { return };
        let (slab, rows, length) = (tile.slab, tile.rows.clone(), tile.rows.len());
        let (n, x_stride) = (compared.rows, padded(self.config.dim));
        matmul::record(
            recording,
            &Matmul { slab, rows, n, x, x_first: 0, x_stride, y, y_first: 0, y_stride: length, column: 0, add: false },
        );
        // The block's own part of the positions' state, and of nothing else.
        let (logits, base, state) = (&scoring.logits, &compared.base, &positions.state);
        divergence::record(recording, &Tiles { logits, base_logits: y, base, state, first: block.first, n: block.n, length });
    }
}

/// Some rows of a slab of the LM head.
pub struct VocabularyTile<'a> {
    slab: &'a Slab,
    rows: Range<usize>,
}

fn slab_rows(slab: &Slab) -> usize {
    slab.rows.len()
}

/// f32 of the keys and values of one layer, for so many slots.
pub fn cache_length(config: &Config, slots: usize) -> usize {
    slots * cached_slot(config)
}

/// Cosine and sine of each rotation at positions `0..length`: `[length, head_dim / 2, 2]`.
pub fn angles(frequencies: &[f64], length: usize) -> Vec<f32> {
    let angle = |position: usize| frequencies.iter().map(move |frequency| position as f64 * frequency);
    (0..length).flat_map(angle).flat_map(|angle| [angle.cos() as f32, angle.sin() as f32]).collect()
}
