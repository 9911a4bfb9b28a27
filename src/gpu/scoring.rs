//! Scoring: the base text once, then of each pass what comes after its first edit, as many passes together as fit.

use std::ops::ControlFlow;

use web_time::Instant;

use super::GpuModel;
use super::batch::{Suffix, fitting, suffix, suffix_rows};
use super::device::Buffer;
use super::forward::{Comparison, Positions, Scoring, Scratch, blocks, cache_length};
use super::kernels::attended::Attended;
use super::kernels::{divergence::divergence, log_sum_exp::log_prob, padded};
use super::recording::Recording;
use crate::lm::{LmError, Pass, Readout, ScoreRequest, check_request};
use crate::model::tokenizer::TokenId;

/// Bytes that rows of suffixes may take at once, beside one block's temporaries.
const MAX_CHUNK_BYTES: usize = 192 << 20;
/// How long the visitor waits for the next passes, roughly.
const CHUNK_SECONDS: f64 = 0.4;

/// A position to score.
#[derive(Clone, Copy)]
struct Position {
    /// Row of x whose state predicts the target.
    row: usize,
    target: TokenId,
    /// Among the job's targets.
    index: usize,
}

/// What was scored of the base text.
struct Base {
    readout: Readout,
    /// ln of the sum of exp(logit), for each target.
    log_sum_exps: Vec<f32>,
    /// Normalised states that predict the targets, `[targets, padded dim]`, where divergences are wanted.
    states: Option<Buffer>,
}

/// Memory for one chunk of passes.
struct Chunk {
    scratch: Scratch,
    /// Keys and values of the suffixes, one layer's at a time.
    cache: Buffer,
}

impl GpuModel {
    /// See [`crate::lm::LanguageModel::score`].
    pub(super) async fn score_job(
        &mut self,
        job: &ScoreRequest<'_>,
        mut on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        check_request(&self.transformer.config, job)?;
        let scored = self.score_checked_job(job, &mut on_readout).await;
        self.text.length = 0;
        scored
    }

    async fn score_checked_job(
        &mut self,
        job: &ScoreRequest<'_>,
        on_readout: &mut impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        self.decoding = None;
        let (gpu, config) = (&self.gpu, &self.transformer.config);
        let scoring = gpu.allocating(|| Scoring::new(gpu, config, job.divergences)).await?;
        let base = self.score_base(job, &scoring).await?;
        if on_readout(0, &base.readout).await.is_break() {
            return Ok(());
        }
        let lengths: Vec<usize> = job.passes.iter().map(|pass| suffix(job, pass).positions.len()).collect();
        let max_rows = self.max_chunk_rows();
        let mut wanted = self.gpu.variant.block_rows;
        let mut memory: Option<Chunk> = None;
        let mut done = 0;
        while done < job.passes.len() {
            let n = fitting(lengths[done..].iter().copied(), wanted.min(max_rows));
            let rows: usize = lengths[done..done + n].iter().sum();
            if memory.as_ref().is_none_or(|chunk| chunk.scratch.rows < rows) {
                // The smaller one goes before the larger one comes.
                drop(memory.take());
                memory = Some(self.chunk(rows.max(1)).await?);
            }
            let began = Instant::now();
            let chunk = memory.as_ref().expect("just made");
            let readouts = self.score_passes(job, &job.passes[done..done + n], &base, chunk, &scoring).await?;
            for (i, readout) in readouts.iter().enumerate() {
                if on_readout(done + i + 1, readout).await.is_break() {
                    return Ok(());
                }
            }
            done += n;
            wanted = next_chunk(wanted, rows, began.elapsed().as_secs_f64());
        }
        Ok(())
    }

    /// The base text of a job: its keys and values stay.
    async fn score_base(&mut self, job: &ScoreRequest<'_>, scoring: &Scoring) -> Result<Base, LmError> {
        let read = &job.inputs(&[])[..job.targets.end - 1];
        self.make_room(read.len()).await?;
        let scratch = self.scratch(read.len().min(super::PREFILL_ROWS)).await?;
        let states = job.divergences.then(|| self.gpu.buffer("base states", job.targets.len() * padded(self.transformer.config.dim)));
        let attended =
            (!job.attended.is_empty()).then(|| Attended::new(&self.gpu, &self.transformer.config, job.targets.clone(), job.attended));
        let (mut log_probs, mut log_sum_exps) = (Vec::new(), Vec::new());
        for chunk in read.chunks(scratch.rows) {
            let start = self.text.length;
            self.append(chunk, &scratch, attended.as_ref());
            // The state that predicts target t is the one at t - 1.
            let here = job.targets.start.max(start + 1)..job.targets.end.min(start + chunk.len() + 1);
            let positions: Vec<_> =
                here.map(|t| Position { row: t - 1 - start, target: job.tokens[t], index: t - job.targets.start }).collect();
            let scored = self.heads(&scratch.x, scoring, &positions, Other::Keep(states.as_ref())).await?;
            log_probs.extend(scored.chunks(4).map(log_prob));
            log_sum_exps.extend(scored.chunks(4).map(|state| state[0] + state[1].ln()));
        }
        check_finite(&log_probs)?;
        let divergences = if job.divergences { vec![0.0; log_probs.len()] } else { Vec::new() };
        let attention = match &attended {
            Some(attended) => self.attention(attended).await?,
            None => Vec::new(),
        };
        Ok(Base { readout: Readout { log_probs, divergences, attention }, log_sum_exps, states })
    }

    /// What was attended to, `[targets, ranges]`.
    async fn attention(&self, attended: &Attended) -> Result<Vec<f64>, LmError> {
        let config = &self.transformer.config;
        Ok(attended.over_heads(config, &self.gpu.read_f32(attended.sums(), attended.length(config)).await?))
    }

    /// Some passes together: one readout for each.
    async fn score_passes(
        &mut self,
        job: &ScoreRequest<'_>,
        passes: &[Pass],
        base: &Base,
        chunk: &Chunk,
        scoring: &Scoring,
    ) -> Result<Vec<Readout>, LmError> {
        let (mut rows, mut positions, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for pass in passes {
            let Suffix { positions: read, targets } = suffix(job, pass);
            let row = |t: usize| rows.len() + t - 1 - read.start;
            positions.extend(targets.map(|t| Position { row: row(t), target: job.tokens[t], index: t - job.targets.start }));
            rows.extend(suffix_rows(job, pass, rows.len()));
            ends.push(positions.len());
        }
        if !rows.is_empty() {
            self.through_layers(&rows, &chunk.scratch, Some(std::slice::from_ref(&chunk.cache)), None);
        }
        let scored = self.heads(&chunk.scratch.x, scoring, &positions, Other::Compare(base)).await?;
        let mut readouts = vec![base.readout.of_a_pass(); passes.len()];
        for (i, (position, state)) in positions.iter().zip(scored.chunks(4)).enumerate() {
            let readout = &mut readouts[ends.partition_point(|&end| end <= i)];
            readout.log_probs[position.index] = log_prob(state);
            if job.divergences {
                readout.divergences[position.index] = divergence(state, base.log_sum_exps[position.index]);
            }
        }
        readouts.iter().try_for_each(|readout| check_finite(&readout.log_probs))?;
        Ok(readouts)
    }

    /// Positions through the LM head: the state of each as `log_sum_exp` and `divergence` leave it, four numbers.
    async fn heads(&mut self, x: &Buffer, scoring: &Scoring, positions: &[Position], other: Other<'_>) -> Result<Vec<f32>, LmError> {
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let column = |value: fn(&Position) -> u32| positions.iter().map(value).collect::<Vec<_>>();
        let on_gpu = Positions {
            rows: gpu.buffer_with("positions", &column(|position| position.row as u32)),
            targets: gpu.buffer_with("targets", &column(|position| position.target)),
            state: gpu.buffer("state", 4 * positions.len()),
        };
        for block in blocks(positions.len(), scoring.block) {
            let of_block = &positions[block.first..block.first + block.n];
            let mut recording = Recording::new(gpu);
            transformer.pick(&mut recording, x, scoring, &on_gpu, block);
            recording.run();
            let compared = other.prepare(gpu, scoring, of_block, padded(transformer.config.dim));
            self.counters.head_positions += block.n + compared.as_ref().map_or(0, |compared| compared.rows);
            for tile in transformer.tiles(scoring.vocab_tile) {
                let mut recording = Recording::new(gpu);
                transformer.score(&mut recording, scoring, &on_gpu, block, &tile);
                if let Some(compared) = &compared {
                    transformer.compare(&mut recording, scoring, compared, &on_gpu, block, &tile);
                }
                recording.run();
            }
        }
        gpu.read_f32(&on_gpu.state, 4 * positions.len()).await
    }

    async fn chunk(&self, rows: usize) -> Result<Chunk, LmError> {
        let cache = || self.gpu.buffer("suffix cache", cache_length(&self.transformer.config, rows));
        Ok(Chunk { scratch: self.scratch(rows).await?, cache: self.gpu.allocating(cache).await? })
    }

    /// Rows of suffixes whose residual stream, keys and values fit in memory together, and in a buffer each.
    fn max_chunk_rows(&self) -> usize {
        let config = &self.transformer.config;
        let (x, cache) = (4 * padded(config.dim), 4 * cache_length(config, 1));
        let in_a_buffer = self.gpu.max_buffer_bytes / x.max(cache) as u64;
        (MAX_CHUNK_BYTES / (x + cache)).min(usize::try_from(in_a_buffer).unwrap_or(usize::MAX))
    }
}

/// What else is done with the picked states of a block.
enum Other<'a> {
    /// They are the base text's, and kept where there is memory for them.
    Keep(Option<&'a Buffer>),
    /// They are compared with the base text's, where those were kept.
    Compare(&'a Base),
}

impl Other<'_> {
    fn prepare(&self, gpu: &super::device::Gpu, scoring: &Scoring, positions: &[Position], stride: usize) -> Option<Comparison> {
        match self {
            Self::Keep(states) => {
                if let (Some(states), Some(first)) = (states, positions.first()) {
                    gpu.copy(&scoring.normed, states, first.index * stride, positions.len() * stride);
                }
                None
            }
            Self::Compare(base) => {
                let states = base.states.as_ref()?;
                // Several passes score the same target: its base logits are computed once.
                let mut indices: Vec<usize> = positions.iter().map(|position| position.index).collect();
                indices.sort_unstable();
                indices.dedup();
                let row = |position: &Position| indices.binary_search(&position.index).expect("it is among them") as u32;
                let base_of = |position: &Position| [row(position), base.log_sum_exps[position.index].to_bits()];
                let index = gpu.buffer_with("base positions", &indices.iter().map(|&index| index as u32).collect::<Vec<_>>());
                let base = gpu.buffer_with("base", &positions.iter().flat_map(base_of).collect::<Vec<_>>());
                let mut recording = Recording::new(gpu);
                let picked = scoring.base_states.as_ref().expect("there is memory where states were kept");
                super::kernels::gather::record(&mut recording, &index, 0, states, picked, indices.len(), stride);
                recording.run();
                Some(Comparison { rows: indices.len(), base })
            }
        }
    }
}

/// Rows of the next chunk, after one of `rows` took `seconds`: at most twice as many as before, for the first chunks include
/// what is done only once.
fn next_chunk(wanted: usize, rows: usize, seconds: f64) -> usize {
    let affordable = rows as f64 * CHUNK_SECONDS / seconds.max(1e-3);
    (affordable as usize).clamp(wanted / 2, 2 * wanted).max(1)
}

fn check_finite(log_probs: &[f64]) -> Result<(), LmError> {
    if log_probs.iter().all(|log_prob| log_prob.is_finite()) { Ok(()) } else { Err(LmError::NotFinite) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_towards_the_time_that_a_visitor_waits() {
        assert_eq!(next_chunk(64, 60, 0.01), 128);
        assert_eq!(next_chunk(64, 60, 0.4), 60);
        assert_eq!(next_chunk(64, 60, 40.0), 32);
        assert_eq!(next_chunk(1, 0, 1.0), 1);
    }
}
