//! The engine on candle's CPU tensors: the fallback without a GPU, and the oracle for the GPU engine.
//!
//! All activations and sums are f32. Candle's own quantized models round activations to 8 bits, which adds up to 0.03 nat of noise to the
//! scores. Weights stay as in the file: `product` decodes them when it multiplies.

mod attention;
mod attention_mass;
mod cache;
mod convolution;
mod delta_net;
mod exponentials;
mod forward;
#[cfg(target_arch = "wasm32")]
mod fused;
mod growing;
mod lm_head;
mod masked;
mod normalize;
mod parallel;
mod product;
mod rows;
mod schedule;
mod scoring;
#[cfg(not(target_arch = "wasm32"))]
mod threads;
mod weight;
mod weights;
mod workers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use candle_core::Tensor;

use crate::lm::sample::Sampler;
use crate::lm::{
    Backend, Callback, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, LoadError, OnReadout, OnReadouts, Readout,
    ScoreRequest, check_known, check_length,
};
use attention_mass::AttentionMass;
use cache::{Cache, ScoredText};
use forward::Transformer;
use glasscage_message::Message;
use glasscage_model::config::Config;
use glasscage_model::gguf::{Gguf, Tensor as FileTensor};
use glasscage_model::source::ByteSource;
use glasscage_model::stream::{stream, stream_again};
use glasscage_model::tensors;
use glasscage_model::tokenizer::TokenId;
pub use masked::{MaskedLm, MaskedLmError};
pub use parallel::{HelperEvent, Helpers, OwnedScoreRequest};
pub use schedule::{Unit, tokens};
pub use scoring::HelperJob;
use weight::Weight;
pub use workers::{is_worth_helpers, n_workers};

/// A model on the CPU.
pub struct CandleModel {
    transformer: Arc<Transformer>,
    /// Per-layer caches of the current context.
    text: Cache,
    /// The text that was scored last, without edits.
    scored: Option<ScoredText>,
    counters: Counters,
    weight_bytes: usize,
    /// Workers that score passes, too.
    helpers: Option<Rc<dyn Helpers>>,
    /// If it returns true, scoring soon ends with [`LmError::Stopped`].
    is_stopped: RefCell<Rc<dyn Fn() -> bool>>,
}

/// Bytes of a model's weights.
pub fn memory(gguf: &Gguf) -> u64 {
    gguf.tensors.iter().map(|tensor| tensor.bytes as u64).sum()
}

impl From<candle_core::Error> for LmError {
    fn from(error: candle_core::Error) -> Self {
        Self::Engine(Message::verbatim(&first_line(&error)))
    }
}

impl From<candle_core::Error> for LoadError {
    fn from(error: candle_core::Error) -> Self {
        Self::Weights(Message::verbatim(&first_line(&error)))
    }
}

/// What has been read of a model file.
struct ReadFile {
    config: Config,
    weights: HashMap<String, Weight>,
    /// The bytes of a tensor of which only a part has been read.
    bytes: Vec<u8>,
}

impl ReadFile {
    fn new(gguf: &Gguf) -> Result<Self, LoadError> {
        let config = Config::from_gguf(gguf)?;
        tensors::check(gguf, &config)?;
        Ok(Self { config, weights: HashMap::new(), bytes: Vec::new() })
    }

    fn add_piece(&mut self, tensor: &FileTensor, piece: &[u8]) -> Result<(), LoadError> {
        if tensors::is_ignored(&tensor.name, &self.config) {
            return Ok(());
        }
        if self.bytes.is_empty() {
            self.bytes.try_reserve_exact(tensor.bytes).map_err(|_| LoadError::TooLarge)?;
        }
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() == tensor.bytes {
            let whole = std::mem::take(&mut self.bytes);
            self.weights.insert(tensor.name.clone(), Weight::new(tensor, whole));
        }
        Ok(())
    }

    fn into_model(self) -> Result<CandleModel, LoadError> {
        let weight_bytes = self.weights.values().map(Weight::bytes).sum();
        Ok(CandleModel::new(Arc::new(Transformer::new(self.config, self.weights)?), weight_bytes))
    }
}

impl CandleModel {
    /// A model with weights that other threads may use, too.
    fn new(transformer: Arc<Transformer>, weight_bytes: usize) -> Self {
        let (text, counters) = (transformer.empty_cache(false), Counters::default());
        let (helpers, is_stopped) = (None, RefCell::new(Rc::new(|| false) as Rc<dyn Fn() -> bool>));
        Self { text, scored: None, transformer, counters, weight_bytes, helpers, is_stopped }
    }

    /// Loads the weights in bounded pieces. Returns the model and the file's SHA-256. Returns `None` if `on_progress` (bytes read)
    /// cancels.
    pub async fn load(
        source: &impl ByteSource,
        gguf: &Gguf,
        on_progress: &mut dyn Callback<u64>,
    ) -> Result<Option<(Self, String)>, LoadError> {
        let mut file = ReadFile::new(gguf)?;
        let on_piece = |tensor: &FileTensor, piece: &[u8]| file.add_piece(tensor, piece);
        let sha256 = stream(source, gguf, on_piece, async |bytes| on_progress.call(bytes).await).await?;
        let Some(sha256) = sha256 else { return Ok(None) };
        Ok(Some((file.into_model()?, sha256)))
    }

    /// Loads a model that another worker has loaded, too, and does not compute the SHA-256 again.
    pub async fn load_again(source: &impl ByteSource, gguf: &Gguf) -> Result<Self, LoadError> {
        let mut file = ReadFile::new(gguf)?;
        stream_again(source, gguf, |tensor, piece| file.add_piece(tensor, piece)).await?;
        file.into_model()
    }

    /// Bytes of the weights.
    pub fn weight_bytes(&self) -> usize {
        self.weight_bytes
    }

    /// Shares passes with `helpers`, which load the same model.
    pub fn share_passes(&mut self, helpers: Rc<dyn Helpers>) {
        self.helpers = Some(helpers);
    }

    /// The workers that share passes with this one.
    pub fn helpers(&self) -> Option<&dyn Helpers> {
        self.helpers.as_deref()
    }

    /// Sets the stop check: when it returns true, scoring soon ends with [`LmError::Stopped`].
    pub fn stop_when(&self, is_stopped: Rc<dyn Fn() -> bool>) {
        self.is_stopped.replace(is_stopped);
    }

    /// Reads `inputs` after the text in `cache`, and adds them to it. Returns their hidden states, `[inputs, dim]`.
    fn forward(&mut self, inputs: &[Input], cache: &mut Cache, attention_mass: &mut AttentionMass) -> Result<Tensor, LmError> {
        check_length(&self.transformer.config, cache.length + inputs.len())?;
        self.counters.forward_tokens += inputs.len();
        Ok(self.transformer.forward(inputs, cache, attention_mass)?)
    }

    /// Reads `tokens` after the text in `cache`, and adds them to it. Returns the logits after the last token.
    fn logits_after(&mut self, tokens: &[TokenId], cache: &mut Cache) -> Result<Vec<f32>, LmError> {
        check_known(&self.transformer.config, tokens)?;
        let inputs: Vec<Input> = tokens.iter().map(|&token| token.into()).collect();
        let hidden = self.forward(&inputs, cache, &mut AttentionMass::default())?;
        self.counters.head_positions += 1;
        let last = hidden.narrow(0, hidden.dim(0)? - 1, 1)?;
        let normalized = self.transformer.normalize_last(&last)?;
        let logits = self.transformer.logits(&normalized, 0..self.transformer.config.vocab_size)?;
        Ok(logits.flatten_all()?.to_vec1::<f32>()?)
    }

    /// The tokens of one infill span, from the cache of the text before it.
    async fn fill(
        &mut self,
        request: &InfillRequest<'_>,
        span: &Range<usize>,
        text: &mut Cache,
        on_step: &mut dyn Callback<()>,
    ) -> Result<Option<Vec<TokenId>>, LmError> {
        let (mut token, position) = request.before(span);
        let mut cache = self.transformer.prefix(text, position)?;
        let mut filled = Vec::with_capacity(span.len());
        for i in 0..span.len() {
            if on_step.call(()).await.is_break() {
                return Ok(None);
            }
            let mut logits = self.logits_after(&[token], &mut cache)?;
            let original = (i == 0).then_some(&request.tokens[span.start]);
            request.forbidden.iter().chain(original).for_each(|&token| logits[token as usize] = f32::MIN);
            token = Sampler::greedy().sample(&logits)?;
            filled.push(token);
            if request.ends.contains(&token) {
                break;
            }
        }
        Ok(Some(filled))
    }
}

impl LanguageModel for CandleModel {
    fn config(&self) -> &Config {
        &self.transformer.config
    }

    fn backend(&self) -> Backend {
        Backend { name: "candle-cpu".into(), precision: "f32".into(), device: String::new() }
    }

    fn reset(&mut self, _capacity: usize) {
        // Free the memory for the next text.
        self.scored = None;
        self.text = self.transformer.empty_cache(false);
    }

    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        let mut text = std::mem::replace(&mut self.text, self.transformer.empty_cache(false));
        let logits = self.logits_after(tokens, &mut text)?;
        self.text = text;
        sampler.sample(&logits)
    }

    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        let mut on_readout = async |(_, number, readout): (usize, usize, &Readout)| on_readout.call((number, readout)).await;
        self.score_requests(std::slice::from_ref(request), &mut on_readout).await
    }

    async fn score_texts(&mut self, requests: &[ScoreRequest<'_>], on_readout: &mut OnReadouts<'_>) -> Result<(), LmError> {
        self.score_requests(requests, on_readout).await
    }

    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        check_known(&self.transformer.config, &[request.tokens, request.forbidden, &[request.start_token]].concat())?;
        self.text = self.transformer.empty_cache(false);
        let end = request.spans.iter().map(|span| request.before(span).1).max().unwrap_or(0);
        let known = self.scored.take().filter(|scored| scored.tokens.starts_with(&request.tokens[..end]));
        let mut text = known.map_or_else(|| self.transformer.empty_cache(true), |scored| scored.cache);
        if text.length < end {
            let inputs: Vec<Input> = request.tokens[..end].iter().map(|&token| token.into()).collect();
            self.forward(&inputs, &mut text, &mut AttentionMass::default())?;
        }
        let mut infills = Vec::with_capacity(request.spans.len());
        for span in request.spans {
            match self.fill(request, span, &mut text, on_step).await? {
                Some(filled) => infills.push(filled),
                None => return Ok(None),
            }
        }
        Ok(Some(infills))
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// The first line of candle's message, without a backtrace.
fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
