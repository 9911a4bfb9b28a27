//! Passes positions through the LM head. Returns a few numbers for each position, never logits.

use super::GpuModel;
use super::activations::RowBuffer;
use super::buffer::Buffer;
use super::device::Gpu;
use super::head_buffers::{BaseBlock, PositionBuffers, TileBuffers};
use super::kernels::{gather, top_tokens};
use super::recording::Recording;
use super::submissions::Submissions;
use crate::lm::LmError;
use crate::lm::blocks::blocks;
use glasscage_model::tokenizer::TokenId;

/// A position to score.
#[derive(Clone, Copy)]
pub struct Position {
    /// Row of x whose state predicts the target.
    pub row: usize,
    pub target: TokenId,
    /// Index of the target among the request's targets.
    pub target_index: usize,
}

/// Data of the base text that passes are compared with, if divergences are requested.
pub struct BaseStates<'a> {
    /// Normalized states that predict the targets, `[targets, padded dim]`.
    pub states: &'a Buffer,
    /// ln of the sum of exp(logit), for each target.
    pub log_sum_exps: &'a [f64],
}

/// Results of positions.
#[derive(Default)]
pub struct PositionScores {
    /// Four numbers for each position: its state after [`log_sum_exp`](super::kernels::log_sum_exp) and
    /// [`kl_divergence`](super::kernels::kl_divergence).
    pub states: Vec<f32>,
    /// [`N_WORDS`](top_tokens::N_WORDS) words for each position: see [`top_tokens`]. Empty if not requested.
    pub top_tokens: Vec<u32>,
}

/// Additional use of the normalized hidden states of positions, besides scoring.
pub enum StateUse<'a> {
    None,
    /// Store the states of the base text for its passes: `[targets, padded dim]`.
    Store(&'a Buffer),
    /// Compare the states with those of the base text.
    Compare(BaseStates<'a>),
}

impl GpuModel {
    /// Scores positions whose hidden states are rows of x. Finds their most likely tokens if `ranks`.
    pub(super) async fn score_positions(
        &mut self,
        x: &RowBuffer,
        tile_buffers: &TileBuffers,
        positions: &[Position],
        state_use: StateUse<'_>,
        ranks: bool,
    ) -> Result<PositionScores, LmError> {
        if positions.is_empty() {
            return Ok(PositionScores::default());
        }
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let buffers = upload(gpu, positions, ranks);
        let mut submissions = Submissions::new(gpu);
        for block in blocks(0..positions.len(), tile_buffers.block) {
            let mut recording = Recording::new(gpu);
            transformer.gather_positions(&mut recording, x, tile_buffers, &buffers, &block);
            submissions.add(recording).await?;
            let base_block = state_use.apply(&mut submissions, gpu, tile_buffers, &positions[block.clone()]).await?;
            self.counters.head_positions += block.len() + base_block.as_ref().map_or(0, |base| base.n);
            for tile in transformer.vocab_tiles(tile_buffers.vocab_tile) {
                let mut recording = Recording::new(gpu);
                transformer.accumulate_log_probs(&mut recording, tile_buffers, &buffers, &block, &tile);
                if let Some(base_block) = &base_block {
                    transformer.accumulate_kl(&mut recording, tile_buffers, base_block, &buffers, &block, &tile);
                }
                submissions.add(recording).await?;
            }
            base_block.into_iter().for_each(|block| submissions.keep(block.base));
        }
        submissions.finish().await?;
        let states = gpu.read_f32(&buffers.state, 4 * positions.len()).await?;
        let top_tokens = match &buffers.top_tokens {
            Some(entries) => gpu.read(entries, top_tokens::N_WORDS * positions.len()).await?,
            None => Vec::new(),
        };
        Ok(PositionScores { states, top_tokens })
    }
}

fn upload(gpu: &Gpu, positions: &[Position], ranks: bool) -> PositionBuffers {
    let column = |value: fn(&Position) -> u32| positions.iter().map(value).collect::<Vec<_>>();
    PositionBuffers {
        rows: gpu.buffer_with("positions", &column(|position| position.row as u32)),
        targets: gpu.buffer_with("targets", &column(|position| position.target)),
        state: gpu.buffer("state", 4 * positions.len()),
        top_tokens: ranks.then(|| gpu.buffer("top tokens", top_tokens::N_WORDS * positions.len())),
    }
}

impl StateUse<'_> {
    /// Stores or compares the normalized states of a block of positions. Returns `Some` if they are compared.
    async fn apply(
        &self,
        submissions: &mut Submissions<'_>,
        gpu: &Gpu,
        tile_buffers: &TileBuffers,
        block: &[Position],
    ) -> Result<Option<BaseBlock>, LmError> {
        match self {
            Self::None => Ok(None),
            Self::Store(states) => {
                submissions.finish().await?;
                let normed = &tile_buffers.normed;
                // The targets of the base text are consecutive.
                gpu.copy(&normed.buffer, states, block[0].target_index * normed.stride, block.len() * normed.stride);
                Ok(None)
            }
            Self::Compare(base) => base.block(submissions, gpu, tile_buffers, block).await.map(Some),
        }
    }
}

impl BaseStates<'_> {
    /// Gathers the base text's states for a block of positions. If several passes score the same target, its base logits are computed
    /// once.
    async fn block(
        &self,
        submissions: &mut Submissions<'_>,
        gpu: &Gpu,
        tile_buffers: &TileBuffers,
        block: &[Position],
    ) -> Result<BaseBlock, LmError> {
        let mut targets: Vec<usize> = block.iter().map(|position| position.target_index).collect();
        targets.sort_unstable();
        targets.dedup();
        let row = |position: &Position| targets.binary_search(&position.target_index).expect("it is among them") as u32;
        let base_of = |position: &Position| [row(position), (self.log_sum_exps[position.target_index] as f32).to_bits()];
        let index = gpu.buffer_with("base positions", &targets.iter().map(|&target| target as u32).collect::<Vec<_>>());
        let base = gpu.buffer_with("base", &block.iter().flat_map(base_of).collect::<Vec<_>>());
        let gathered = &tile_buffers.base.as_ref().expect("it is allocated where divergences are wanted").states;
        let mut recording = Recording::new(gpu);
        gather::record(&mut recording, &index, 0, self.states, &gathered.buffer, targets.len(), gathered.stride);
        submissions.add(recording).await?;
        submissions.keep(index);
        Ok(BaseBlock { n: targets.len(), base })
    }
}
