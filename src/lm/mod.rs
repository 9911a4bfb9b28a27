//! What every engine can do: continue a text, and score it under perturbations.

pub mod generate;
pub mod sample;

use std::ops::{ControlFlow, Range};

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

    /// Fills gaps with as many tokens as they have, each the most likely one after those before it; the first is never the original
    /// one. `on_step` is called now and then and may break off: then there is nothing. The text so far is forgotten.
    async fn infill(&mut self, infill: &Infill<'_>, on_step: impl AsyncFnMut() -> ControlFlow<()>) -> Result<Option<Infills>, LmError>;

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

/// A text to score: the model reads `tokens` with the base text's edits and each pass's, and always predicts the original targets.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub tokens: &'a [TokenId],
    /// Positions in `tokens` whose log-probability is wanted; at least one, none is position 0.
    pub targets: Range<usize>,
    /// Of the base text, and so of all passes too.
    pub edits: &'a [Edit],
    pub passes: &'a [Pass],
    /// Whether readouts need divergences: up to twice the work of the LM head.
    pub divergences: bool,
    /// Ascending ranges of positions whose attention weights are wanted of the base text; none of them, for no attention.
    pub attended: &'a [Range<usize>],
}

impl<'a> Job<'a> {
    /// Log-probabilities of the targets, in the text as it is and in each pass.
    pub fn new(tokens: &'a [TokenId], targets: Range<usize>, passes: &'a [Pass]) -> Self {
        Self { tokens, targets, edits: &[], passes, divergences: false, attended: &[] }
    }

    /// What the model reads of the base text, changed by `edits`.
    pub fn inputs(&self, edits: &[Edit]) -> Vec<Input> {
        let mut inputs: Vec<Input> = self.tokens.iter().map(|&token| token.into()).collect();
        for Edit { start, inputs: changed } in self.edits.iter().chain(edits) {
            inputs[*start..start + changed.len()].copy_from_slice(changed);
        }
        inputs
    }
}

/// What is read at a position: the embedding of `token`, moved by `share` of the way to that of `other`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    pub token: TokenId,
    pub other: TokenId,
    /// 0 is `token` alone, 1 is `other` alone.
    pub share: f32,
}

impl From<TokenId> for Input {
    fn from(token: TokenId) -> Self {
        Self { token, other: token, share: 0.0 }
    }
}

/// One perturbation: at least one edit, ascending, none empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    pub edits: Vec<Edit>,
}

/// `inputs` are read at `start..start + inputs.len()` instead of the original tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    pub start: usize,
    pub inputs: Vec<Input>,
}

impl Edit {
    /// Other tokens from `start` on.
    pub fn new(start: usize, tokens: &[TokenId]) -> Self {
        Self { start, inputs: tokens.iter().map(|&token| token.into()).collect() }
    }
}

impl Pass {
    /// The first position that differs from the base text: everything before is shared with it.
    pub fn start(&self) -> usize {
        self.edits.first().map_or(0, |edit| edit.start)
    }

    /// The perturbed text, where edits are of whole tokens.
    pub fn apply(&self, tokens: &[TokenId]) -> Vec<TokenId> {
        Job::new(tokens, 0..0, &[]).inputs(&self.edits).iter().map(|input| input.token).collect()
    }
}

/// Gaps in a text, to be filled by the model itself: each from what stands before it in the original text.
#[derive(Clone, Debug)]
pub struct Infill<'a> {
    pub tokens: &'a [TokenId],
    /// Not empty.
    pub gaps: &'a [Range<usize>],
    /// Tokens that fill no gap, such as control tokens.
    pub forbidden: &'a [TokenId],
    /// Read before a gap that begins the text.
    pub start_token: TokenId,
}

/// For each gap its tokens.
pub type Infills = Vec<Vec<TokenId>>;

impl Infill<'_> {
    /// The token that is read just before a gap, and its position.
    pub fn before(&self, gap: &Range<usize>) -> (TokenId, usize) {
        gap.start.checked_sub(1).map_or((self.start_token, 0), |position| (self.tokens[position], position))
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
    /// Of the base text: for each target t and each range attended to (`[targets, ranges]`) the attention weights on the range, summed
    /// over its positions, all heads and all layers, in the row that predicts t. Empty where the job did not ask for it.
    pub attention: Vec<f64>,
}

impl Readout {
    /// That of a pass which changes nothing.
    pub fn of_a_pass(&self) -> Self {
        Self { log_probs: self.log_probs.clone(), divergences: self.divergences.clone(), attention: Vec::new() }
    }
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

/// Checks that the model knows all that it is to read in a job, and that it is not too long.
pub fn check_job(config: &Config, job: &Job<'_>) -> Result<(), LmError> {
    check_length(config, job.targets.end - 1)?;
    check_known(config, job.tokens)?;
    let edits = job.edits.iter().chain(job.passes.iter().flat_map(|pass| &pass.edits));
    edits.flat_map(|edit| &edit.inputs).try_for_each(|input| check_known(config, &[input.token, input.other]))
}

/// Checks that the model can read `n_tokens` tokens.
pub fn check_length(config: &Config, n_tokens: usize) -> Result<(), LmError> {
    let limit = config.context_length;
    if n_tokens > limit { Err(LmError::TooLong { tokens: n_tokens, limit }) } else { Ok(()) }
}
