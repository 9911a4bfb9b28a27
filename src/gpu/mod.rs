//! The engine on WebGPU: our own WGSL kernels, in browsers and natively through Vulkan.
//!
//! Weights stay as quantised as in the file; activations and sums are f32. Scoring takes the base text through the
//! layers once, and of every perturbed text only what comes after its first edit: rows of many passes together, layer
//! by layer, each attending to the shared prefix's keys and to its own suffix (`batch`). A few numbers a position come
//! back, never logits.

pub mod batch;
pub mod device;
pub mod format;
mod forward;
mod kernel;
mod kernels;
mod load;
mod recording;
#[cfg(test)]
mod testing;
pub mod variant;
mod weights;

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use web_time::Instant;

use crate::lm::sample::Sampler;
use crate::lm::{Backend, Counters, Job, LanguageModel, LmError, LoadError, Pass, Readout, check_known, check_length};
use crate::model::config::Config;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::TokenId;
use batch::{Row, fitting, suffix, suffix_rows, text_rows};
use device::{Buffer, Gpu};
use forward::{Choice, Positions, Rows, Scoring, Scratch, Transformer, angles, blocks, cache_length};
use kernels::log_sum_exp;
use recording::{Program, Recording};

/// Rows of a text that go through all layers before the next ones do.
const PREFILL_ROWS: usize = 2048;
/// Bytes that rows of suffixes may take at once, beside one block's temporaries.
const MAX_CHUNK_BYTES: usize = 192 << 20;
/// How long the visitor waits for the next passes, roughly.
const CHUNK_SECONDS: f64 = 0.4;

/// A model on the GPU.
pub struct GpuModel {
    transformer: Transformer,
    /// Radians at position 1.
    frequencies: Vec<f64>,
    text: Text,
    /// For a token at a time, once the text has room; with its memory.
    decoding: Option<Decoding>,
    counters: Counters,
    gpu: Rc<Gpu>,
}

/// Keys and values of the text so far.
#[derive(Default)]
struct Text {
    /// One a layer; empty until the first token.
    caches: Vec<Buffer>,
    /// `[capacity, head_dim / 2]` of (cos, sin).
    angles: Option<Buffer>,
    /// Tokens it has room for.
    capacity: usize,
    /// Tokens in it.
    length: usize,
}

/// One token through the whole model, recorded once and run for each.
struct Decoding {
    program: Program,
    row: Buffer,
    choice: Choice,
    _scratch: Scratch,
}

impl GpuModel {
    /// Loads the weights in bounded pieces. Returns the model and the file's SHA-256; `None` where `on_progress`
    /// (bytes read) broke off.
    pub async fn load(
        gpu: Rc<Gpu>,
        source: &impl ByteSource,
        gguf: &Gguf,
        on_progress: impl AsyncFnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<(Self, String)>, LoadError> {
        let Some((transformer, frequencies, sha256)) = load::load(&gpu, source, gguf, on_progress).await? else { return Ok(None) };
        let counters = Counters::default();
        Ok(Some((Self { transformer, frequencies, text: Text::default(), decoding: None, counters, gpu }, sha256)))
    }

    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Makes room for a text of `capacity` tokens, and forgets the one before.
    async fn make_room(&mut self, capacity: usize) -> Result<(), LmError> {
        self.text.length = 0;
        if self.text.capacity >= capacity && !self.text.caches.is_empty() {
            return Ok(());
        }
        (self.text, self.decoding) = (Text::default(), None);
        let (gpu, config) = (&self.gpu, &self.transformer.config);
        self.text = gpu
            .allocating(|| Text {
                caches: (0..config.n_layers).map(|_| gpu.buffer("text cache", cache_length(config, capacity))).collect(),
                angles: Some(gpu.buffer_with_f32("angles", &angles(&self.frequencies, capacity))),
                capacity,
                length: 0,
            })
            .await?;
        Ok(())
    }

    /// Appends tokens to the text; their hidden states are rows of the returned memory's x, from row 0 on.
    async fn append(&mut self, tokens: &[TokenId], scratch: &Scratch) -> Result<(), LmError> {
        let rows = text_rows(tokens, self.text.length);
        self.through_layers(&rows, scratch, None);
        self.text.length += tokens.len();
        Ok(())
    }

    /// Takes rows through all layers.
    fn through_layers(&mut self, rows: &[Row], scratch: &Scratch, suffixes: Option<&Buffer>) {
        self.counters.forward_tokens += rows.len();
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let row_buffer = gpu.buffer_with("rows", &Row::words(rows));
        let angles = self.text.angles.as_ref().expect("the text has room");
        let rows = Rows { rows: &row_buffer, n: rows.len(), angles, text: &self.text.caches, suffixes };
        let mut recording = Recording::new(gpu);
        transformer.embed(&mut recording, scratch, rows);
        recording.run();
        for i in 0..transformer.layers.len() {
            for block in blocks(rows.n, scratch.block) {
                let mut recording = Recording::new(gpu);
                transformer.layer(&mut recording, i, scratch, rows, block);
                recording.run();
            }
        }
    }

    /// ln p of `targets[i].1` after row `targets[i].0` of x.
    async fn log_probs(&mut self, x: &Buffer, scoring: &Scoring, targets: &[(usize, TokenId)]) -> Result<Vec<f64>, LmError> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        self.counters.head_positions += targets.len();
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let positions = Positions {
            rows: gpu.buffer_with("positions", &targets.iter().map(|target| target.0 as u32).collect::<Vec<_>>()),
            targets: gpu.buffer_with("targets", &targets.iter().map(|target| target.1).collect::<Vec<_>>()),
            state: gpu.buffer("state", 4 * targets.len()),
            n: targets.len(),
        };
        for block in blocks(positions.n, scoring.block) {
            let mut recording = Recording::new(gpu);
            transformer.pick(&mut recording, x, scoring, &positions, block);
            recording.run();
            for tile in transformer.tiles(scoring.vocab_tile) {
                let mut recording = Recording::new(gpu);
                transformer.score(&mut recording, scoring, &positions, block, &tile);
                recording.run();
            }
        }
        let state = gpu.read_f32(&positions.state, 4 * positions.n).await?;
        let log_probs: Vec<f64> = state.chunks(4).map(log_sum_exp::log_prob).collect();
        if log_probs.iter().all(|log_prob| log_prob.is_finite()) { Ok(log_probs) } else { Err(LmError::NotFinite) }
    }

    /// Memory for texts of up to `rows` rows at a time.
    async fn scratch(&self, rows: usize) -> Result<Scratch, LmError> {
        let block = self.gpu.variant.block_rows.min(rows);
        self.gpu.allocating(|| Scratch::new(&self.gpu, &self.transformer.config, rows, block)).await
    }

    fn check(&self, tokens: &[TokenId]) -> Result<(), LmError> {
        check_known(&self.transformer.config, tokens)?;
        check_length(&self.transformer.config, self.text.length + tokens.len())
    }

    /// The base text of a job: keys and values stay, log-probabilities come back.
    async fn score_base(&mut self, job: &Job<'_>, scoring: &Scoring) -> Result<Readout, LmError> {
        let read = &job.tokens[..job.targets.end - 1];
        self.make_room(read.len()).await?;
        let scratch = self.scratch(read.len().min(PREFILL_ROWS)).await?;
        let mut log_probs = Vec::with_capacity(job.targets.len());
        for chunk in read.chunks(scratch.rows) {
            let start = self.text.length;
            self.append(chunk, &scratch).await?;
            // The state that predicts target t is the one at t - 1.
            let here = job.targets.start.max(start + 1)..job.targets.end.min(start + chunk.len() + 1);
            let targets: Vec<_> = here.map(|t| (t - 1 - start, job.tokens[t])).collect();
            log_probs.extend(self.log_probs(&scratch.x, scoring, &targets).await?);
        }
        Ok(Readout { log_probs })
    }

    /// Some passes together: one readout for each.
    async fn score_passes(
        &mut self,
        job: &Job<'_>,
        passes: &[Pass],
        base: &Readout,
        scratch: &Scratch,
        cache: &Buffer,
        scoring: &Scoring,
    ) -> Result<Vec<Readout>, LmError> {
        let (mut rows, mut targets, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for pass in passes {
            let suffix = suffix(job, pass);
            let first = rows.len();
            targets.extend(suffix.targets.clone().map(|t| (first + t - 1 - suffix.positions.start, job.tokens[t])));
            rows.extend(suffix_rows(job, pass, first));
            own.push(suffix.targets);
        }
        if !rows.is_empty() {
            self.through_layers(&rows, scratch, Some(cache));
        }
        let mut log_probs = self.log_probs(&scratch.x, scoring, &targets).await?.into_iter();
        let readout = |own: Range<usize>| {
            let mut readout = base.clone();
            let before = own.start.saturating_sub(job.targets.start);
            own.zip(&mut log_probs).enumerate().for_each(|(i, (_, log_prob))| readout.log_probs[before + i] = log_prob);
            readout
        };
        Ok(own.into_iter().map(readout).collect())
    }

    /// Bytes that a row of a suffix takes in memory that all rows of a chunk take together.
    fn chunk_row_bytes(&self) -> usize {
        let config = &self.transformer.config;
        4 * (kernels::padded(config.dim) + cache_length(config, 1))
    }
}

impl LanguageModel for GpuModel {
    fn config(&self) -> &Config {
        &self.transformer.config
    }

    fn backend(&self) -> Backend {
        Backend { name: if self.gpu.adapter.is_software { "webgpu-software" } else { "webgpu" }.into(), precision: "f32".into() }
    }

    fn reset(&mut self, capacity: usize) {
        self.text.length = 0;
        if self.text.capacity < capacity {
            (self.text, self.decoding) = (Text { capacity, ..Text::default() }, None);
        }
    }

    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        self.check(tokens)?;
        if self.text.caches.is_empty() {
            self.make_room(self.text.capacity.max(tokens.len())).await?;
        }
        check_capacity(self.text.length + tokens.len(), self.text.capacity)?;
        if self.decoding.is_none() {
            self.decoding = Some(self.decoding().await?);
        }
        self.counters.head_positions += 1;
        if let &[token] = tokens {
            let decoding = self.decoding.as_ref().expect("just made");
            self.gpu.write(&decoding.row, 0, &Row::words(&text_rows(&[token], self.text.length)));
            decoding.program.run(&self.gpu);
            self.text.length += 1;
            self.counters.forward_tokens += 1;
        } else {
            self.prefill(tokens).await?;
        }
        self.choose(sampler).await
    }

    async fn score(&mut self, job: &Job<'_>, mut on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>) -> Result<(), LmError> {
        check_known(&self.transformer.config, job.tokens)?;
        check_length(&self.transformer.config, job.targets.end - 1)?;
        for pass in job.passes {
            pass.edits.iter().try_for_each(|edit| check_known(&self.transformer.config, &edit.tokens))?;
        }
        self.decoding = None;
        let scoring = self.gpu.allocating(|| Scoring::new(&self.gpu, &self.transformer.config)).await?;
        let base = self.score_base(job, &scoring).await?;
        if on_readout(0, &base).await.is_break() {
            return Ok(());
        }
        let lengths: Vec<usize> = job.passes.iter().map(|pass| suffix(job, pass).positions.len()).collect();
        let max_rows = MAX_CHUNK_BYTES / self.chunk_row_bytes();
        let mut wanted = self.gpu.variant.block_rows;
        let mut memory: Option<(Scratch, Buffer)> = None;
        let mut done = 0;
        while done < job.passes.len() {
            let n = fitting(lengths[done..].iter().copied(), wanted.min(max_rows));
            let rows: usize = lengths[done..done + n].iter().sum();
            if memory.as_ref().is_none_or(|(scratch, _)| scratch.rows < rows) {
                drop(memory.take());
                let cache = |rows| self.gpu.buffer("suffix cache", cache_length(&self.transformer.config, rows));
                memory = Some((self.scratch(rows.max(1)).await?, self.gpu.allocating(|| cache(rows.max(1))).await?));
            }
            let (scratch, cache) = memory.as_ref().expect("just made");
            let began = Instant::now();
            let readouts = self.score_passes(job, &job.passes[done..done + n], &base, scratch, cache, &scoring).await?;
            let seconds = began.elapsed().as_secs_f64();
            for (i, readout) in readouts.iter().enumerate() {
                if on_readout(done + i + 1, readout).await.is_break() {
                    return Ok(());
                }
            }
            done += n;
            // At most twice as many as before: the first ones include what is done only once.
            let affordable = rows as f64 * CHUNK_SECONDS / seconds.max(1e-3);
            wanted = (affordable as usize).clamp(wanted / 2, 2 * wanted).max(1);
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        let ledger = &self.gpu.ledger;
        Counters {
            dispatches: ledger.dispatches.get(),
            bytes_read_back: ledger.bytes_read_back.get(),
            peak_gpu_bytes: ledger.peak_bytes.get(),
            pipelines: self.gpu.n_pipelines(),
            ..self.counters
        }
    }
}

impl GpuModel {
    /// Takes a prompt through the layers, and chooses after its last token.
    async fn prefill(&mut self, tokens: &[TokenId]) -> Result<(), LmError> {
        let scratch = self.scratch(tokens.len().min(PREFILL_ROWS)).await?;
        for chunk in tokens.chunks(scratch.rows) {
            self.append(chunk, &scratch).await?;
        }
        let last = (tokens.len() - 1) % scratch.rows;
        let decoding = self.decoding.as_ref().expect("made before");
        let mut recording = Recording::new(&self.gpu);
        self.transformer.choose(&mut recording, &scratch.x, last, &decoding.choice);
        recording.run();
        Ok(())
    }

    /// Records one token's way through the model.
    async fn decoding(&self) -> Result<Decoding, LmError> {
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let scratch = self.scratch(1).await?;
        let (row, choice) = gpu.allocating(|| (gpu.buffer("row", 6), Choice::new(gpu, &transformer.config))).await?;
        let angles = self.text.angles.as_ref().expect("the text has room");
        let mut recording = Recording::new(gpu);
        let rows = Rows { rows: &row, n: 1, angles, text: &self.text.caches, suffixes: None };
        transformer.embed(&mut recording, &scratch, rows);
        for i in 0..transformer.layers.len() {
            blocks(1, 1).for_each(|block| transformer.layer(&mut recording, i, &scratch, rows, block));
        }
        transformer.choose(&mut recording, &scratch.x, 0, &choice);
        let program = recording.finish();
        Ok(Decoding { program, row, choice, _scratch: scratch })
    }

    /// The next token: the most likely one is known on the GPU, anything else is drawn from the logits.
    async fn choose(&self, sampler: &mut Sampler) -> Result<TokenId, LmError> {
        let choice = &self.decoding.as_ref().expect("made before").choice;
        let vocab_size = self.transformer.config.vocab_size;
        if !sampler.is_greedy() {
            return sampler.sample(&self.gpu.read_f32(&choice.logits, vocab_size).await?);
        }
        let chosen = self.gpu.read(&choice.chosen, 2).await?;
        let is_choice = (chosen[0] as usize) < vocab_size && f32::from_bits(chosen[1]).is_finite();
        if is_choice { Ok(chosen[0]) } else { Err(LmError::NotFinite) }
    }
}

fn check_capacity(tokens: usize, limit: usize) -> Result<(), LmError> {
    if tokens > limit { Err(LmError::TooLong { tokens, limit }) } else { Ok(()) }
}
