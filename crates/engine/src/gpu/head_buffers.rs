//! Buffers of the LM head: its inputs and its results.

use super::activations::RowBuffer;
use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::masked_argmax::token_bitmap;
use super::kernels::sample::GpuDraw;
use super::kernels::{argmax, padded};
use glasscage_model::config::Config;
use glasscage_model::tokenizer::TokenId;

/// Buffers to choose one token from the logits of one position.
pub struct SampleBuffers {
    /// `[1, padded dim]`.
    pub normed: RowBuffer,
    /// `[1, vocab_size]`.
    pub logits: RowBuffer,
    /// See [`argmax::record`].
    pub slices: Buffer,
    /// A [`GpuDraw`], for random sampling.
    pub draw: Buffer,
    /// The token, and the bits of a number that is finite if all logits are finite.
    pub chosen: Buffer,
}

impl SampleBuffers {
    pub fn new(gpu: &Gpu, config: &Config) -> Self {
        Self {
            normed: RowBuffer::new(gpu, "normed", 1, padded(config.dim)),
            logits: RowBuffer::new(gpu, "logits", 1, config.vocab_size),
            slices: gpu.buffer("slices", 2 * argmax::N_SLICES),
            draw: gpu.buffer("draw", GpuDraw::N_WORDS),
            chosen: gpu.buffer("chosen", 2),
        }
    }
}

/// Buffers to pass positions through the LM head: one block of positions and one tile of the vocabulary at a time.
pub struct TileBuffers {
    /// `[block, padded dim]`: states of the positions.
    pub gathered: RowBuffer,
    /// `[block, padded dim]`.
    pub normed: RowBuffer,
    /// `[block, vocab_tile]`.
    pub logits: Buffer,
    /// Hidden states and logits of the base text, if divergences are requested.
    pub base: Option<BaseTileBuffers>,
    /// Maximum number of positions in a block.
    pub block: usize,
    /// Maximum number of tokens in a tile of the vocabulary.
    pub vocab_tile: usize,
}

/// Hidden states and logits of the base text, for comparison.
pub struct BaseTileBuffers {
    /// `[block, padded dim]`, normalized.
    pub states: RowBuffer,
    /// `[block, vocab_tile]`.
    pub logits: Buffer,
}

impl TileBuffers {
    pub fn new(gpu: &Gpu, config: &Config, with_divergences: bool) -> Self {
        let (block, vocab_tile) = (gpu.variant.block_rows, gpu.variant.vocab_tile.min(config.vocab_size));
        let states = |label: &str| RowBuffer::new(gpu, label, block, padded(config.dim));
        Self {
            gathered: states("gathered"),
            normed: states("normed"),
            logits: gpu.buffer("logits", block * vocab_tile),
            base: with_divergences
                .then(|| BaseTileBuffers { states: states("base states"), logits: gpu.buffer("base logits", block * vocab_tile) }),
            block,
            vocab_tile,
        }
    }
}

/// Positions to score: their rows of x, their target tokens, and the results.
pub struct PositionBuffers {
    pub rows: Buffer,
    pub targets: Buffer,
    /// `[n, 4]`: see [`super::kernels::log_sum_exp`].
    pub state: Buffer,
    /// `[n, N_TOP_TOKENS, 2]`: see [`super::kernels::top_tokens`]. `None` if the most likely tokens are not requested.
    pub top_tokens: Option<Buffer>,
}

/// Positions of the base text that a block of positions is compared with.
pub struct BaseBlock {
    /// Number of used rows in [`BaseTileBuffers::states`].
    pub n: usize,
    /// `[block, 2]`: see [`super::kernels::kl_divergence::KlDivergence`].
    pub base: Buffer,
}

/// Not a token of any vocabulary.
pub const NO_TOKEN: TokenId = TokenId::MAX;

/// Buffers to fill infill spans, one token of each span at a time.
pub struct InfillBuffers {
    /// For each row, one token that must not be chosen.
    pub excluded: Buffer,
    /// See [`token_bitmap`].
    pub forbidden: Buffer,
    /// `[rows, 2]`: see [`super::kernels::masked_argmax::MaskedArgmax`].
    pub best: Buffer,
}

impl InfillBuffers {
    /// Buffers for `rows` infill spans. No span is filled with a token of `forbidden`.
    pub fn new(gpu: &Gpu, config: &Config, rows: usize, forbidden: &[TokenId]) -> Self {
        Self {
            excluded: gpu.buffer("excluded", rows.max(1)),
            forbidden: gpu.buffer_with("forbidden", &token_bitmap(forbidden, config.vocab_size)),
            best: gpu.buffer("best", 2 * rows.max(1)),
        }
    }

    /// Starts the search for the next token of the first `excluded.len()` rows.
    pub fn begin_token(&self, gpu: &Gpu, excluded: &[TokenId]) {
        gpu.write(&self.excluded, 0, excluded);
        gpu.write(&self.best, 0, &[f32::NEG_INFINITY.to_bits(), NO_TOKEN].repeat(excluded.len()));
    }
}
