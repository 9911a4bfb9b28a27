//! Scores the base text once, then the suffix of each pass from its first edit on. Computes as many passes together as fit.

use std::ops::Range;

use web_time::Instant;

use super::GpuModel;
use super::activations::Activations;
use super::batch::{Row, Sequence, Suffix, count_fitting, suffix, suffix_rows};
use super::buffer::Buffer;
use super::head_buffers::TileBuffers;
use super::kernels::attention_mass::AttentionSums;
use super::kernels::kl_divergence::kl_divergence;
use super::kernels::log_sum_exp::{log_prob, log_sum_exp};
use super::kernels::{padded, top_tokens};
use super::layer_caches::LayerCaches;
use super::mixer_sizes::MixerSizes;
use super::positions::{BaseStates, Position, PositionScores, StateUse};
use super::recurrent_states::length_of_passes;
use crate::lm::{Input, LmError, OnReadout, Pass, RankedToken, Readout, ScoreRequest};
use glasscage_model::tokenizer::TokenId;

/// Maximum bytes for the rows of suffixes, in addition to the temporary buffers of one block.
const MAX_CHUNK_BYTES: usize = 192 << 20;
/// Maximum number of passes that are computed together in models with recurrent layers. Their states take 1 MB each in a model with 0.8
/// billion parameters.
const MAX_RECURRENT_PASSES: usize = 24;
/// Target time between updates for the user, in seconds.
const CHUNK_SECONDS: f64 = 0.4;

/// Scores of the base text.
struct BaseScores {
    readout: Readout,
    /// ln of the sum of exp(logit), for each target.
    log_sum_exps: Vec<f64>,
    /// Normalized states that predict the targets, `[targets, padded dim]`, if divergences are requested.
    states: Option<Buffer>,
}

/// Buffers for passes that are computed together.
struct ChunkBuffers {
    activations: Activations,
    /// Caches of the suffixes, for one layer at a time.
    caches: LayerCaches,
}

/// Passes that are computed together.
#[derive(Default)]
struct Chunk {
    rows: Vec<Row>,
    sequences: Vec<Sequence>,
    positions: Vec<Position>,
    /// End of each pass's positions.
    ends: Vec<usize>,
}

impl GpuModel {
    /// See [`crate::lm::LanguageModel::score`]. The caller has checked the request.
    pub(super) async fn score_checked(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        self.decode_step = None;
        let (gpu, config) = (&self.gpu, &self.transformer.config);
        let tile_buffers = gpu.try_allocate(|| TileBuffers::new(gpu, config, request.divergences)).await?;
        let base = self.score_base(request, &tile_buffers).await?;
        self.test_if_due().await?;
        if on_readout.call((0, &base.readout)).await.is_break() {
            return Ok(());
        }
        let lengths: Vec<usize> = request.passes.iter().map(|pass| suffix(request, pass).positions.len()).collect();
        let (max_rows, max_passes) = (self.max_chunk_rows(), self.max_chunk_passes(request));
        let mut wanted_rows = self.gpu.variant.block_rows;
        let mut buffers: Option<ChunkBuffers> = None;
        let mut done = 0;
        while done < request.passes.len() {
            let n = count_fitting(lengths[done..].iter().copied(), wanted_rows.min(max_rows)).min(max_passes);
            let rows: usize = lengths[done..done + n].iter().sum();
            let chunk_buffers = self.grow(&mut buffers, rows).await?;
            let began = Instant::now();
            let readouts = self.score_passes(request, &request.passes[done..done + n], &base, chunk_buffers, &tile_buffers).await?;
            // Test before the readouts are reported.
            self.test_if_due().await?;
            for (i, readout) in readouts.iter().enumerate() {
                if on_readout.call((done + i + 1, readout)).await.is_break() {
                    return Ok(());
                }
            }
            done += n;
            wanted_rows = next_chunk_rows(wanted_rows, rows, began.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// Scores the base text of a request. Its keys and values stay in the text cache.
    async fn score_base(&mut self, request: &ScoreRequest<'_>, tile_buffers: &TileBuffers) -> Result<BaseScores, LmError> {
        let inputs = &request.inputs(&[])[..request.base_length()];
        let (passes, known) = (self.max_chunk_passes(request), request.known_base());
        let scored = std::mem::take(&mut self.scored);
        let n_shared = if known.is_some() && self.transformer.config.attends_everywhere() { n_in_common(&scored, inputs) } else { 0 };
        let capacity = request.targets.end - 1;
        let has_room = self.text.capacity >= capacity;
        self.start_text(capacity, Some(passes)).await?;
        // If the text begins like the previous one, continue from its keys and values, unless the cache was replaced.
        self.text.length = if has_room { n_shared } else { 0 };
        let unread = &inputs[self.text.length..];
        let (gpu, config) = (self.gpu.clone(), &self.transformer.config);
        let allocate = || {
            let states = request.divergences.then(|| gpu.buffer("base states", request.targets.len() * padded(config.dim)));
            let attends = !request.attended.is_empty();
            (states, attends.then(|| AttentionSums::new(&gpu, config, request.targets.clone(), request.attended)))
        };
        let (states, sums) = gpu.try_allocate(allocate).await?;
        let mut scored = PositionScores::default();
        let score_chunk = async |model: &mut Self, activations: &Activations, chunk: Range<usize>| {
            if known.is_some() {
                return Ok(());
            }
            // The state that predicts target t is the one at t - 1.
            let targets = request.targets.start.max(chunk.start + 1)..request.targets.end.min(chunk.end + 1);
            let position =
                |t: usize| Position { row: t - 1 - chunk.start, target: request.tokens[t], target_index: t - request.targets.start };
            let positions: Vec<_> = targets.map(position).collect();
            let state_use = states.as_ref().map_or(StateUse::None, StateUse::Store);
            let of_chunk = model.score_positions(&activations.x, tile_buffers, &positions, state_use, request.top_tokens).await?;
            scored.states.extend(of_chunk.states);
            scored.top_tokens.extend(of_chunk.top_tokens);
            Ok(())
        };
        self.prefill(unread, sums.as_ref(), score_chunk).await?;
        self.scored = inputs.to_vec();
        if let Some(readout) = known {
            return Ok(BaseScores { readout, log_sum_exps: Vec::new(), states: None });
        }
        let PositionScores { states: scored, top_tokens } = scored;
        let log_probs: Vec<f64> = scored.chunks(4).map(log_prob).collect();
        let divergences = if request.divergences { vec![0.0; log_probs.len()] } else { Vec::new() };
        let (attention, flow) = match &sums {
            Some(sums) => self.read_attention(sums).await?,
            None => Default::default(),
        };
        let log_sum_exps = scored.chunks(4).map(log_sum_exp).collect();
        let top_tokens = scored.chunks(4).zip(top_tokens.chunks(top_tokens::N_WORDS)).map(ranked_tokens).collect();
        let readout = Readout { log_probs, divergences, attention, flow, top_tokens }.checked()?;
        Ok(BaseScores { readout, log_sum_exps, states })
    }

    /// Attention weights on ranges and flow from them, each `[targets, ranges]`.
    async fn read_attention(&self, sums: &AttentionSums) -> Result<(Vec<f64>, Vec<f64>), LmError> {
        let config = &self.transformer.config;
        Ok(sums.over_heads(config, &self.gpu.read_f32(sums.buffer(), sums.length(config)).await?))
    }

    /// Scores several passes together. Returns one readout for each.
    async fn score_passes(
        &mut self,
        request: &ScoreRequest<'_>,
        passes: &[Pass],
        base: &BaseScores,
        buffers: &ChunkBuffers,
        tile_buffers: &TileBuffers,
    ) -> Result<Vec<Readout>, LmError> {
        let Chunk { rows, sequences, positions, ends } = Chunk::new(request, passes);
        if !rows.is_empty() {
            self.forward(&rows, &sequences, &buffers.activations, Some((&buffers.caches, None)), None).await?;
        }
        let compare = |states| StateUse::Compare(BaseStates { states, log_sum_exps: &base.log_sum_exps });
        let state_use = base.states.as_ref().map_or(StateUse::None, compare);
        let scored = self.score_positions(&buffers.activations.x, tile_buffers, &positions, state_use, false).await?.states;
        let mut readouts = vec![base.readout.of_a_pass(); passes.len()];
        for (i, (position, state)) in positions.iter().zip(scored.chunks(4)).enumerate() {
            let readout = &mut readouts[ends.partition_point(|&end| end <= i)];
            readout.log_probs[position.target_index] = log_prob(state);
            if request.divergences {
                readout.divergences[position.target_index] = kl_divergence(state, base.log_sum_exps[position.target_index]);
            }
        }
        readouts.into_iter().map(Readout::checked).collect()
    }

    /// Returns buffers for a chunk of `rows` rows. Reuses the old buffers if they are large enough.
    async fn grow<'a>(&self, buffers: &'a mut Option<ChunkBuffers>, rows: usize) -> Result<&'a ChunkBuffers, LmError> {
        if buffers.as_ref().is_none_or(|old| old.activations.rows < rows) {
            // Free the smaller buffers before allocating larger ones.
            *buffers = None;
            let rows = rows.max(1);
            let caches = || LayerCaches::for_all_layers(&self.gpu, "suffix cache", &self.transformer.config, rows);
            *buffers = Some(ChunkBuffers { activations: self.activations(rows).await?, caches: self.gpu.try_allocate(caches).await? });
        }
        Ok(buffers.as_ref().expect("just made"))
    }

    /// Maximum number of passes that are computed together in models with recurrent layers: at least 1, and at most the number of passes
    /// if there are any. Unlimited in other models.
    fn max_chunk_passes(&self, request: &ScoreRequest<'_>) -> usize {
        let config = &self.transformer.config;
        if !self.transformer.has_recurrent_layers() {
            return usize::MAX;
        }
        let fits = |&passes: &usize| 4 * length_of_passes(config, passes) <= self.gpu.max_buffer_bytes;
        (1..=request.passes.len().min(MAX_RECURRENT_PASSES)).rev().find(fits).unwrap_or(1)
    }

    /// Maximum number of suffix rows, limited by total memory and by buffer size.
    fn max_chunk_rows(&self) -> usize {
        let config = &self.transformer.config;
        let (x, cache) = (4 * padded(config.dim), 4 * MixerSizes::largest_slot(config, false));
        let in_a_buffer = self.gpu.max_buffer_bytes / x.max(cache) as u64;
        (MAX_CHUNK_BYTES / (x + cache)).min(usize::try_from(in_a_buffer).unwrap_or(usize::MAX))
    }
}

impl Chunk {
    fn new(request: &ScoreRequest<'_>, passes: &[Pass]) -> Self {
        let mut chunk = Self::default();
        for (i, pass) in passes.iter().enumerate() {
            let (Suffix { positions, targets }, first_row) = (suffix(request, pass), chunk.rows.len());
            let row = |t: usize| first_row + t - 1 - positions.start;
            chunk.positions.extend(targets.map(|t| Position {
                row: row(t),
                target: request.tokens[t],
                target_index: t - request.targets.start,
            }));
            chunk.rows.extend(suffix_rows(request, pass, first_row));
            if !positions.is_empty() {
                chunk.sequences.push(Sequence::after_text(first_row..chunk.rows.len(), i + 1, positions.start));
            }
            chunk.ends.push(chunk.positions.len());
        }
        chunk
    }
}

/// The most likely tokens at one position, from its state and its entries.
fn ranked_tokens((state, entries): (&[f32], &[u32])) -> Vec<RankedToken> {
    let ranked = |(token, logit): (TokenId, f32)| RankedToken { token, log_prob: log_prob(&[state[0], state[1], logit]) };
    top_tokens::top_tokens(entries).map(ranked).collect()
}

/// Length of the common prefix of two inputs.
fn n_in_common(inputs: &[Input], others: &[Input]) -> usize {
    inputs.iter().zip(others).take_while(|(input, other)| input == other).count()
}

/// Number of rows in the next chunk, after a chunk of `rows` rows took `seconds`. At most twice as many as before, because the first chunks
/// include one-time work.
fn next_chunk_rows(wanted: usize, rows: usize, seconds: f64) -> usize {
    let affordable = rows as f64 * CHUNK_SECONDS / seconds.max(1e-3);
    (affordable as usize).clamp(wanted / 2, 2 * wanted).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_rows_approach_target_time() {
        assert_eq!(next_chunk_rows(64, 60, 0.01), 128);
        assert_eq!(next_chunk_rows(64, 60, 0.4), 60);
        assert_eq!(next_chunk_rows(64, 60, 40.0), 32);
        assert_eq!(next_chunk_rows(1, 0, 1.0), 1);
    }
}
