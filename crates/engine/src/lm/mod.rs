//! The interface of all engines: they continue a text, and score it under perturbations.

pub mod blocks;
mod callback;
mod error;
pub mod generate;
mod request;
pub mod sample;
mod score;

use std::ops::ControlFlow;

pub use callback::Callback;
pub use error::{LmError, LoadError};
pub use request::{Edit, InfillRequest, Infills, Input, N_TOP_TOKENS, Pass, RankedToken, Readout, ScoreRequest};
pub use request::{check_known, check_length, check_request};
pub use score::score_base;

use glasscage_model::config::Config;
use glasscage_model::tokenizer::TokenId;
use sample::Sampler;

/// Receives the number of a readout and the readout.
pub type OnReadout<'a> = dyn for<'r> Callback<(usize, &'r Readout)> + 'a;

/// Receives the index of a request, the number of a readout, and the readout.
pub type OnReadouts<'a> = dyn for<'r> Callback<(usize, usize, &'r Readout)> + 'a;

/// A decoder-only language model, loaded and ready.
///
/// Methods return [`LmError::TooLong`] for more tokens than the model can read, [`LmError::UnknownToken`] for a token outside the
/// vocabulary, [`LmError::NotFinite`] for a result that is not a number, and [`LmError::Engine`] if the engine fails. If a stop check is
/// set, it ends them with [`LmError::Stopped`], on the CPU only while the model scores. On a GPU, they also return
/// [`LmError::OutOfGpuMemory`], [`LmError::DeviceLost`], and [`LmError::FaultyGpu`] if a repeated self-test fails.
#[allow(async_fn_in_trait, reason = "used through generics in one thread: no `Send` bound is wanted")]
pub trait LanguageModel {
    /// Sizes of the model. The context may be shorter than that of the file, if the engine cannot read more tokens.
    fn config(&self) -> &Config;

    /// The engine and the device that compute.
    fn backend(&self) -> Backend;

    /// Clears the current context. The next text has at most `capacity` tokens.
    fn reset(&mut self, capacity: usize);

    /// Appends `tokens` to the current context and samples the next token.
    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError>;

    /// Scores `request.targets` in the base text and in each pass. Calls `on_readout` in order: number 0 is the base text, number `i + 1`
    /// is pass `i`. `on_readout` may cancel; the result is then `Ok`. Clears the current context. Returns [`LmError::Impossible`] if a
    /// probability is above 1 or a divergence below 0.
    async fn score(
        &mut self,
        request: &ScoreRequest<'_>,
        mut on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        self.score_text(request, &mut async |(number, readout): (usize, &Readout)| on_readout(number, readout).await).await
    }

    /// Implementation of [`Self::score`] by the engine. Callers use `score`.
    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError>;

    /// Scores several requests. Calls `on_readout` in the order of the requests, with the index of the request first: see
    /// [`Self::score`] for cancellation and errors.
    async fn score_all(
        &mut self,
        requests: &[ScoreRequest<'_>],
        mut on_readout: impl AsyncFnMut(usize, usize, &Readout) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        let mut on_readout = async |(request, number, readout): (usize, usize, &Readout)| on_readout(request, number, readout).await;
        self.score_texts(requests, &mut on_readout).await
    }

    /// Implementation of [`Self::score_all`], for engines that share the work of several requests. Callers use `score_all`.
    async fn score_texts(&mut self, requests: &[ScoreRequest<'_>], on_readout: &mut OnReadouts<'_>) -> Result<(), LmError> {
        for (i, request) in requests.iter().enumerate() {
            let mut flow = ControlFlow::Continue(());
            let mut of_request = async |(number, readout): (usize, &Readout)| {
                flow = on_readout.call((i, number, readout)).await;
                flow
            };
            self.score_text(request, &mut of_request).await?;
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Fills each span greedily and keeps its number of tokens, unless it ends early. The first token always differs from the original.
    /// Calls `on_step` from time to time, and returns `None` if it cancels. Clears the current context.
    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError>;

    /// Work done since the model was loaded.
    fn counters(&self) -> Counters;
}

/// Engine and device that computed a result, for the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// For example `candle-cpu`.
    pub name: String,
    /// Number type of activations and accumulation, for example `f32`.
    pub precision: String,
    /// The GPU, for example "nvidia ampere". Empty if the CPU computes or the GPU is unknown.
    pub device: String,
}

/// Work done, for tests and benchmarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tokens processed by the transformer.
    pub forward_tokens: usize,
    /// Positions processed by the LM head.
    pub head_positions: usize,
    /// Kernel dispatches on the GPU.
    pub dispatches: usize,
    /// Submissions to the GPU queue.
    pub submissions: usize,
    /// Bytes copied from the GPU to main memory.
    pub bytes_read_back: u64,
    /// Number of such copies.
    pub readbacks: usize,
    /// Maximum GPU memory in use at one time.
    pub peak_gpu_bytes: u64,
    /// Kernels compiled.
    pub pipelines: usize,
}
