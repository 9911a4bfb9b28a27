//! What every engine can do: continue a text, and score it under perturbations.

pub mod generate;
pub mod sample;

use std::ops::ControlFlow;

use crate::model::config::{Config, ConfigError};
use crate::model::gguf::GgufError;
use crate::model::tensors::TensorsError;
use crate::model::tokenizer::TokenId;
use sample::Sampler;

/// A decoder-only language model, loaded and ready.
#[allow(async_fn_in_trait)] // used through generics in one thread: no `Send` bound is wanted
pub trait LanguageModel {
    fn config(&self) -> &Config;

    fn backend(&self) -> Backend;

    /// Forgets the text so far; the next one has at most `capacity` tokens.
    fn reset(&mut self, capacity: usize);

    /// Appends `tokens` to the text so far and samples the token after them.
    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError>;

    /// Scores `job.targets`, in the text as it is and in each pass. `on_readout` gets the base readout as number 0,
    /// then that of pass `i` as number `i + 1`, in order, and may break off. The text so far is forgotten.
    async fn score(&mut self, job: &Job<'_>, on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>) -> Result<(), LmError>;

    /// Work done since the model was loaded.
    fn counters(&self) -> Counters;
}

/// What computed a result, for the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Such as `candle-cpu`.
    pub name: String,
    /// Of activations and accumulation, such as `f32`.
    pub precision: String,
}

/// A text to score: the model reads `tokens` as replaced by each pass and always predicts the original targets.
pub struct Job<'a> {
    pub tokens: &'a [TokenId],
    /// Positions in `tokens` whose log-probability is wanted; at least one, none is position 0.
    pub targets: std::ops::Range<usize>,
    pub passes: &'a [Pass],
    /// Whether readouts need divergences: up to twice the work of the LM head.
    pub divergences: bool,
}

/// One perturbation: tokens replaced by as many others. At least one edit, ascending, none empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    pub edits: Vec<Edit>,
}

/// `tokens` stand at `start..start + tokens.len()` instead of the original ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub start: usize,
    pub tokens: Vec<TokenId>,
}

impl Pass {
    /// The first position that differs from the base text: everything before is shared with it.
    pub fn start(&self) -> usize {
        self.edits.first().map_or(0, |edit| edit.start)
    }

    /// The perturbed text.
    pub fn apply(&self, tokens: &[TokenId]) -> Vec<TokenId> {
        let mut perturbed = tokens.to_vec();
        for edit in &self.edits {
            perturbed[edit.start..edit.start + edit.tokens.len()].copy_from_slice(&edit.tokens);
        }
        perturbed
    }
}

/// What one pass measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    /// ln p(x_t | x_<t) in nats for each target t; before the first edit of a pass that of the base text.
    pub log_probs: Vec<f64>,
    /// KL(p_t of the base text || p_t of the pass) in nats for each target t, over the whole vocabulary; 0 before the first
    /// edit. Empty where the job did not ask for it.
    pub divergences: Vec<f64>,
}

/// Work done, for tests and benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tokens taken through the transformer.
    pub forward_tokens: usize,
    /// Positions taken through the LM head.
    pub head_positions: usize,
    /// Kernels started on the GPU.
    pub dispatches: usize,
    /// From the GPU.
    pub bytes_read_back: u64,
    /// GPU memory in use at once, at most.
    pub peak_gpu_bytes: u64,
    /// Kernels compiled.
    pub pipelines: usize,
}

/// Why an engine could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LmError {
    #[error("prompt and answer have {tokens} tokens, {} more than the {limit} that this model can read", tokens - limit)]
    TooLong { tokens: usize, limit: usize },
    #[error("the text has a token ({0}) that the model does not know")]
    UnknownToken(TokenId),
    #[error("the model computed something that is no number; its file may be damaged")]
    NotFinite,
    #[error("the engine failed: {0}")]
    Engine(String),
    #[error("this browser or machine gives no access to a GPU")]
    NoGpu,
    #[error("the GPU stopped working: {0}")]
    DeviceLost(String),
    #[error("the GPU has not enough memory: {} MB were in use", bytes / 1_000_000)]
    OutOfGpuMemory { bytes: u64 },
}

/// Why a model could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Tensors(#[from] TensorsError),
    #[error("there is not enough memory for this model")]
    TooLarge,
    #[error("the weights could not be read: {0}")]
    Weights(String),
    #[error(transparent)]
    Engine(#[from] LmError),
}

/// Checks that the model knows all of `tokens`.
pub fn check_known(config: &Config, tokens: &[TokenId]) -> Result<(), LmError> {
    let unknown = tokens.iter().find(|&&token| token as usize >= config.vocab_size);
    unknown.map_or(Ok(()), |&token| Err(LmError::UnknownToken(token)))
}

/// Checks that the model can read `n_tokens` tokens.
pub fn check_length(config: &Config, n_tokens: usize) -> Result<(), LmError> {
    let limit = config.context_length;
    if n_tokens > limit { Err(LmError::TooLong { tokens: n_tokens, limit }) } else { Ok(()) }
}
