//! What every engine can do: continue a text, and score it under perturbations.

pub mod blocks;
mod callback;
mod error;
pub mod generate;
mod request;
pub mod rng;
pub mod sample;
mod score;

use std::ops::ControlFlow;

pub use callback::Callback;
pub use error::{LmError, LoadError};
pub use request::{Edit, InfillRequest, Infills, Input, Pass, Readout, ScoreRequest, check_known, check_length, check_request};
pub use score::score_base;

use crate::model::config::Config;
use crate::model::tokenizer::TokenId;
use sample::Sampler;

/// Gets the number of a readout, and the readout.
pub type OnReadout<'a> = dyn for<'r> Callback<(usize, &'r Readout)> + 'a;

/// A decoder-only language model, loaded and ready.
#[allow(async_fn_in_trait, reason = "used through generics in one thread: no `Send` bound is wanted")]
pub trait LanguageModel {
    fn config(&self) -> &Config;

    fn backend(&self) -> Backend;

    /// Forgets the text so far; the next one has at most `capacity` tokens.
    fn reset(&mut self, capacity: usize);

    /// Appends `tokens` to the text so far and samples the token after them.
    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError>;

    /// Scores `request.targets`, in the text as it is and in each pass. `on_readout` gets the base readout as number 0,
    /// then that of pass `i` as number `i + 1`, in order, and may break off. The text so far is forgotten.
    async fn score(
        &mut self,
        request: &ScoreRequest<'_>,
        mut on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        self.score_text(request, &mut async |(number, readout): (usize, &Readout)| on_readout(number, readout).await).await
    }

    /// [`Self::score`], which is for callers; this is for engines.
    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError>;

    /// Fills gaps with as many tokens as they have, each the most likely one after those before it; the first is never the original
    /// one. `on_step` is called now and then and may break off: then there is nothing. The text so far is forgotten.
    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError>;

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
    /// The GPU, such as "nvidia ampere"; empty where none computes, or nobody tells.
    pub device: String,
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
    /// How often work was handed to the GPU.
    pub submissions: usize,
    /// From the GPU.
    pub bytes_read_back: u64,
    /// GPU memory in use at once, at most.
    pub peak_gpu_bytes: u64,
    /// Kernels compiled.
    pub pipelines: usize,
}
