//! The engine on WebGPU: our own WGSL kernels, in browsers and natively through Vulkan.
//!
//! Weights stay quantized as in the file. Activations and sums are f32. Scoring passes the base text through the layers once. Of each
//! perturbed text, it computes only the suffix that starts at the first edit: rows of many passes together, layer by layer. Each row
//! attends to the base text's keys before that edit and to the keys of its own suffix (`batch`). The GPU returns a few numbers per
//! position, never logits.

mod activations;
mod adapter_name;
pub mod batch;
mod buffer;
pub mod catalog;
mod decode;
mod decode_step;
mod delta_net;
#[cfg(not(target_arch = "wasm32"))]
pub mod description;
pub mod device;
pub mod format;
mod forward;
mod head_buffers;
mod infill;
mod kernel;
mod kernels;
mod layer_caches;
mod layer_input;
mod lm_head;
mod load;
pub mod memory;
mod mixer_sizes;
mod mixers;
mod pacing;
pub mod peak_throughput;
mod pipeline;
mod positions;
#[cfg(not(target_arch = "wasm32"))]
pub mod profiler;
mod recording;
mod recurrent_states;
mod replay;
mod scoring;
pub mod self_test;
pub mod shapes;
mod submissions;
#[cfg(test)]
mod testing;
mod text_cache;
#[cfg(not(target_arch = "wasm32"))]
mod timestamps;
pub mod variant;
mod wait;
mod watch;
mod weight_check;
mod weights;
mod wgsl;

use std::ops::Range;
use std::rc::Rc;

use crate::lm::blocks::blocks;
use crate::lm::sample::Sampler;
use crate::lm::{
    Backend, Callback, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, LoadError, OnReadout, ScoreRequest, check_request,
};
use activations::Activations;
use batch::{Row, Sequence, text_rows};
use decode_step::DecodeStep;
use device::Gpu;
use forward::Transformer;
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_model::tokenizer::TokenId;
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(crate) use kernel::WrongKernel;
use kernels::attention;
use kernels::attention_mass::AttentionSums;
use kernels::delta_rule::CHUNK;
use layer_caches::LayerCaches;
use layer_input::{Batch, Replayed};
use mixer_sizes::MixerSizes;
use pacing::rows_per_dispatch;
use recording::Recording;
use recurrent_states::RecurrentStates;
use replay::{Replay, chunked_blocks};
use self_test::SelfTest;
use submissions::Submissions;
use text_cache::TextCache;
use watch::Watch;

/// Rows of a text that pass through all layers together.
const PREFILL_ROWS: usize = 2048;
/// Smallest block of rows, if blocks are made smaller to keep submissions short.
const MIN_BLOCK_ROWS: usize = 64;

/// A model on the GPU.
pub struct GpuModel {
    transformer: Transformer,
    /// See [`Config::rotations`].
    rotations: Vec<Vec<f64>>,
    text: TextCache,
    /// Inputs of the last scored text that are still in its cache.
    scored: Vec<Input>,
    /// Decode step for one token at a time. Recorded when it is first needed.
    decode_step: Option<DecodeStep>,
    counters: Counters,
    gpu: Rc<Gpu>,
    /// See [`GpuModel::watch`].
    watch: Option<Watch>,
}

impl GpuModel {
    /// Loads the weights in bounded pieces. Returns the model and the file's SHA-256. Returns `None` if `on_progress` (bytes read)
    /// cancels.
    pub async fn load(
        gpu: Rc<Gpu>,
        source: &impl ByteSource,
        gguf: &Gguf,
        on_progress: &mut dyn Callback<u64>,
    ) -> Result<Option<(Self, String)>, LoadError> {
        let Some((transformer, rotations, sha256)) = load::load(&gpu, source, gguf, on_progress).await? else { return Ok(None) };
        let (text, counters) = (TextCache::default(), Counters::default());
        Ok(Some((Self { transformer, rotations, text, scored: Vec::new(), decode_step: None, counters, gpu, watch: None }, sha256)))
    }

    pub fn gpu(&self) -> &Rc<Gpu> {
        &self.gpu
    }

    /// While the model computes, repeats this test, which the GPU has passed, and checks the weights. Returns an error if the weights in
    /// GPU memory are not those of the file.
    pub async fn watch(&mut self, self_test: Option<SelfTest>) -> Result<(), LmError> {
        self.watch = match self_test {
            Some(self_test) => Some(Watch::new(self_test, &self.gpu, &self.transformer).await?),
            None => None,
        };
        Ok(())
    }

    /// Returns an error if the GPU has begun to compute incorrectly. Tests the GPU only if a test is due.
    async fn test_if_due(&mut self) -> Result<(), LmError> {
        self.watched(Ok(())).await
    }

    /// Passes on a result, unless the GPU has begun to compute incorrectly.
    async fn watched<T>(&mut self, result: Result<T, LmError>) -> Result<T, LmError> {
        match &mut self.watch {
            Some(watch) => watch.checked(&self.gpu, &self.transformer, result).await,
            None => result,
        }
    }

    /// Clears the current text, and allocates caches for a text of `capacity` tokens. If parts of the text will be replaced, also
    /// allocates recurrent states for `passes` passes that are computed together.
    async fn start_text(&mut self, capacity: usize, passes: Option<usize>) -> Result<(), LmError> {
        self.text.length = 0;
        self.text.recurrent_states.running.set(0);
        self.scored.clear();
        let keeps_other = self.transformer.has_recurrent_layers() && self.text.passes != passes;
        if self.text.capacity < capacity || self.text.caches.is_empty() || keeps_other {
            // The old cache is freed before the new one is allocated; the recorded step uses the old one.
            (self.text, self.decode_step) = (TextCache::default(), None);
            self.text = TextCache::new(&self.gpu, &self.transformer.config, &self.rotations, capacity, passes).await?;
        }
        Ok(())
    }

    /// Appends `inputs` to the text, at most [`PREFILL_ROWS`] at a time. `on_chunk` receives the hidden states of each chunk, rows of `x`
    /// from row 0 on, and their positions in the text.
    async fn prefill(
        &mut self,
        inputs: &[Input],
        attention_sums: Option<&AttentionSums>,
        mut on_chunk: impl AsyncFnMut(&mut Self, &Activations, Range<usize>) -> Result<(), LmError>,
    ) -> Result<(), LmError> {
        let activations = self.activations(inputs.len().clamp(1, PREFILL_ROWS)).await?;
        for chunk in inputs.chunks(activations.rows) {
            let start = self.text.length;
            let sequence = Sequence::of_text(chunk.len(), start);
            self.forward(&text_rows(chunk, start), &[sequence], &activations, None, attention_sums).await?;
            self.text.length += chunk.len();
            on_chunk(self, &activations, start..self.text.length).await?;
        }
        Ok(())
    }

    /// Passes rows through all layers: rows of the text, or of suffixes. Suffixes have their own caches, and can have their own recurrent
    /// states.
    async fn forward(
        &mut self,
        rows: &[Row],
        sequences: &[Sequence],
        activations: &Activations,
        suffix: Option<(&LayerCaches, Option<&RecurrentStates>)>,
        attention_sums: Option<&AttentionSums>,
    ) -> Result<(), LmError> {
        self.counters.forward_tokens += rows.len();
        let (gpu, transformer, text) = (&self.gpu, &self.transformer, &self.text);
        let row_buffer = gpu.buffer_with("rows", &Row::all_words(rows));
        let (own, recurrent_states) = suffix.unwrap_or((&text.caches, None));
        let recurrent_states = recurrent_states.unwrap_or(&text.recurrent_states);
        let replayed = self.replayed(sequences, recurrent_states).await?;
        let batch = Batch {
            rows: &row_buffer,
            n: rows.len(),
            is_step: false,
            n_keys: rows.iter().map(Row::n_keys).max().unwrap_or(0),
            blends: rows.iter().any(|row| row.blend != 0.0),
            angles: &self.text.angles,
            text: &text.caches,
            own,
            recurrent_states,
            sequences,
            replayed: replayed.as_ref(),
            attention_sums,
        };
        let mut submissions = Submissions::new(gpu);
        let mut recording = Recording::new(gpu);
        transformer.embed(&mut recording, activations, batch);
        submissions.add(recording).await?;
        let per_row = attention::operations_per_row(&transformer.config, batch.n_keys);
        for i in 0..transformer.layers.len() {
            if let Some(replayed) = &replayed {
                let mut recording = Recording::new(gpu);
                transformer.replay(&mut recording, i, activations, batch, replayed);
                submissions.add(recording).await?;
            }
            // Dispatches divide matrix products by columns, and attention by rows.
            let at_once = rows_per_dispatch(gpu.pacing.borrow().max_dispatch(), per_row, MIN_BLOCK_ROWS);
            let size = activations.block.min(at_once);
            let has_recurrent_layers = transformer.has_recurrent_layers();
            for block in if has_recurrent_layers { chunked_blocks(sequences, batch.n, size) } else { blocks(0..batch.n, size).collect() } {
                let mut recording = Recording::new(gpu);
                transformer.layer(&mut recording, i, activations, batch, block);
                submissions.add(recording).await?;
            }
        }
        submissions.finish().await?;
        replayed.iter().for_each(|replayed| recurrent_states.running.set(replayed.replay.running));
        Ok(())
    }

    /// Prepares what recurrent layers recompute if sequences begin inside the text.
    async fn replayed(&self, sequences: &[Sequence], recurrent_states: &RecurrentStates) -> Result<Option<Replayed>, LmError> {
        let (gpu, config) = (&self.gpu, &self.transformer.config);
        let replay =
            Replay::new(sequences, recurrent_states.running.get(), config.taps() - 1).filter(|_| self.transformer.has_recurrent_layers());
        let Some(replay) = replay else { return Ok(None) };
        let tokens = replay.tokens.end;
        let rows = Row::all_words(&text_rows(&vec![0.into(); tokens], 0));
        let allocate = || Replayed {
            replay,
            rows: gpu.buffer_with("replayed rows", &rows),
            columns: gpu.buffer("replayed columns", tokens * MixerSizes::largest_slot(config, true)),
        };
        Ok(Some(gpu.try_allocate(allocate).await?))
    }

    /// Allocates buffers for up to `rows` rows at a time.
    async fn activations(&self, rows: usize) -> Result<Activations, LmError> {
        // With a full chunk as minimum, few or short passes are split into the same chunks as others.
        let least = if self.transformer.has_recurrent_layers() { CHUNK } else { 1 };
        let block = self.gpu.variant.block_rows.min(rows.max(least));
        self.gpu.try_allocate(|| Activations::new(&self.gpu, &self.transformer.config, rows, block)).await
    }
}

impl LanguageModel for GpuModel {
    fn config(&self) -> &Config {
        &self.transformer.config
    }

    fn backend(&self) -> Backend {
        let name = if self.gpu.adapter.is_software { "webgpu-software" } else { "webgpu" };
        Backend { name: name.into(), precision: "f32".into(), device: self.gpu.adapter.name.clone() }
    }

    fn reset(&mut self, capacity: usize) {
        self.text.length = 0;
        self.scored.clear();
        self.decode_step.iter_mut().for_each(DecodeStep::forget);
        if self.text.capacity < capacity {
            (self.text, self.decode_step) = (TextCache { capacity, ..TextCache::default() }, None);
        }
    }

    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        self.scored.clear();
        let token = self.decode(tokens, sampler).await;
        self.watched(token).await
    }

    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        check_request(&self.transformer.config, request)?;
        let scored = self.score_checked(request, on_readout).await;
        self.text.length = 0;
        self.watched(scored).await
    }

    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        let filled = self.infill_spans(request, on_step).await;
        self.watched(filled).await
    }

    fn counters(&self) -> Counters {
        let stats = &self.gpu.stats;
        Counters {
            dispatches: stats.dispatches.get(),
            submissions: stats.submissions.get(),
            bytes_read_back: stats.bytes_read_back.get(),
            readbacks: stats.readbacks.get(),
            peak_gpu_bytes: stats.peak_bytes.get(),
            pipelines: self.gpu.n_pipelines(),
            ..self.counters
        }
    }
}
