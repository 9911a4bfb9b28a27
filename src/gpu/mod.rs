//! The engine on WebGPU: our own WGSL kernels, in browsers and natively through Vulkan.
//!
//! Weights stay as quantised as in the file; activations and sums are f32. Scoring takes the base text through the
//! layers once, and of every perturbed text only what comes after its first edit: rows of many passes together, layer
//! by layer, each attending to the shared prefix's keys and to its own suffix (`batch`). A few numbers a position come
//! back, never logits.

pub mod batch;
pub mod ceilings;
pub mod device;
pub mod format;
mod forward;
mod infill;
mod kernel;
mod kernels;
mod load;
pub mod memory;
mod recording;
mod scoring;
#[cfg(test)]
mod testing;
pub mod variant;
mod weights;

use std::ops::ControlFlow;
use std::rc::Rc;

use crate::lm::sample::Sampler;
use crate::lm::{
    Backend, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, LoadError, Readout, ScoreRequest, check_known, check_length,
};
use crate::model::config::Config;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::TokenId;
use batch::{ROW_WORDS, Row, text_rows};
use device::{Buffer, Gpu};
use forward::{Choice, Rows, Scratch, Transformer, angles, blocks, cache_length};
use kernels::attended::Attended;
use kernels::sample;
use recording::{Program, Recording};

/// Rows of a text that go through all layers before the next ones do.
const PREFILL_ROWS: usize = 2048;

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
    is_greedy: bool,
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

    /// Appends what is read to the text; its hidden states are rows of `scratch.x`, from row 0 on.
    fn append(&mut self, inputs: &[Input], scratch: &Scratch, attended: Option<&Attended>) {
        let rows = text_rows(inputs, self.text.length);
        self.through_layers(&rows, scratch, None, attended);
        self.text.length += inputs.len();
    }

    /// Takes rows of the text through all layers, or of suffixes with keys and values of their own.
    fn through_layers(&mut self, rows: &[Row], scratch: &Scratch, suffixes: Option<&[Buffer]>, attended: Option<&Attended>) {
        self.counters.forward_tokens += rows.len();
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let row_buffer = gpu.buffer_with("rows", &Row::words(rows));
        let angles = self.text.angles.as_ref().expect("the text has room");
        let (text, mixed) = (&self.text.caches[..], rows.iter().any(|row| row.share != 0.0));
        let rows = Rows { rows: &row_buffer, n: rows.len(), mixed, angles, text, own: suffixes.unwrap_or(text), attended };
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

    /// Memory for texts of up to `rows` rows at a time.
    async fn scratch(&self, rows: usize) -> Result<Scratch, LmError> {
        let block = self.gpu.variant.block_rows.min(rows);
        self.gpu.allocating(|| Scratch::new(&self.gpu, &self.transformer.config, rows, block)).await
    }

    fn check(&self, tokens: &[TokenId]) -> Result<(), LmError> {
        check_known(&self.transformer.config, tokens)?;
        check_length(&self.transformer.config, self.text.length + tokens.len())
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
        if self.decoding.as_ref().is_none_or(|decoding| decoding.is_greedy != sampler.is_greedy()) {
            self.decoding = None;
            self.decoding = Some(self.decoding(sampler.is_greedy()).await?);
        }
        self.counters.head_positions += 1;
        let decoding = self.decoding.as_ref().expect("just made");
        if let Some(draw) = sampler.draw() {
            self.gpu.write(&decoding.choice.draw, 0, &sample::words(&draw, self.transformer.config.vocab_size));
        }
        if let &[token] = tokens {
            self.gpu.write(&decoding.row, 0, &Row::words(&text_rows(&[token.into()], self.text.length)));
            decoding.program.run(&self.gpu);
            self.text.length += 1;
            self.counters.forward_tokens += 1;
        } else {
            self.prefill(tokens).await?;
        }
        self.chosen().await
    }

    async fn score(
        &mut self,
        job: &ScoreRequest<'_>,
        on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        self.score_job(job, on_readout).await
    }

    async fn infill(
        &mut self,
        infill: &InfillRequest<'_>,
        on_step: impl AsyncFnMut() -> ControlFlow<()>,
    ) -> Result<Option<Infills>, LmError> {
        self.fill(infill, on_step).await
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
        let inputs: Vec<Input> = tokens.iter().map(|&token| token.into()).collect();
        inputs.chunks(scratch.rows).for_each(|chunk| self.append(chunk, &scratch, None));
        let last = (tokens.len() - 1) % scratch.rows;
        let decoding = self.decoding.as_ref().expect("made before");
        let mut recording = Recording::new(&self.gpu);
        self.transformer.choose(&mut recording, &scratch.x, last, &decoding.choice, decoding.is_greedy);
        recording.run();
        Ok(())
    }

    /// Records one token's way through the model.
    async fn decoding(&self, is_greedy: bool) -> Result<Decoding, LmError> {
        let (gpu, transformer) = (&self.gpu, &self.transformer);
        let scratch = self.scratch(1).await?;
        let (row, choice) = gpu.allocating(|| (gpu.buffer("row", ROW_WORDS), Choice::new(gpu, &transformer.config))).await?;
        let angles = self.text.angles.as_ref().expect("the text has room");
        let mut recording = Recording::new(gpu);
        let text = &self.text.caches;
        let rows = Rows { rows: &row, n: 1, mixed: false, angles, text, own: text, attended: None };
        transformer.embed(&mut recording, &scratch, rows);
        for i in 0..transformer.layers.len() {
            blocks(1, 1).for_each(|block| transformer.layer(&mut recording, i, &scratch, rows, block));
        }
        transformer.choose(&mut recording, &scratch.x, 0, &choice, is_greedy);
        let program = recording.finish();
        Ok(Decoding { program, row, choice, is_greedy, _scratch: scratch })
    }

    /// What the GPU chose.
    async fn chosen(&self) -> Result<TokenId, LmError> {
        let choice = &self.decoding.as_ref().expect("made before").choice;
        let chosen = self.gpu.read(&choice.chosen, 2).await?;
        let is_token = (chosen[0] as usize) < self.transformer.config.vocab_size && f32::from_bits(chosen[1]).is_finite();
        if is_token { Ok(chosen[0]) } else { Err(LmError::NotFinite) }
    }
}

fn check_capacity(tokens: usize, limit: usize) -> Result<(), LmError> {
    if tokens > limit { Err(LmError::TooLong { tokens, limit }) } else { Ok(()) }
}
