//! The engine on candle's CPU tensors: the fallback without a GPU, and the oracle for the GPU engine.
//!
//! All activations and sums are f32. Candle's own quantized models round activations to 8 bits, which adds up to 0.03 nat of noise to the
//! scores. Weights stay as in the file: `product` decodes them when it multiplies.

mod attention;
mod attention_mass;
mod cache;
mod convolution;
mod delta_net;
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
mod weight;
mod weights;

use std::collections::HashMap;
use std::ops::Range;

use candle_core::Tensor;
use web_time::{Duration, Instant};

use crate::lm::sample::Sampler;
use crate::lm::{
    Backend, Callback, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, LoadError, OnReadout, Pass, Readout, ScoreRequest,
    check_known, check_length, check_request,
};
use attention_mass::AttentionMass;
use cache::Cache;
use forward::Transformer;
use glasscage_message::Message;
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_model::stream::stream;
use glasscage_model::tensors;
use glasscage_model::tokenizer::TokenId;
pub use masked::{MaskedLm, MaskedLmError};
pub use parallel::{OwnedScoreRequest, SecondScorer};
use weight::Weight;

/// A model on the CPU.
pub struct CandleModel {
    transformer: Transformer,
    /// Per-layer caches of the current context.
    text: Cache,
    /// The text that was scored last, without edits.
    scored: Option<ScoredText>,
    counters: Counters,
    weight_bytes: usize,
    /// If set, scores passes in parallel.
    second: Option<Box<dyn SecondScorer>>,
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

impl CandleModel {
    /// Loads the weights in bounded pieces. Returns the model and the file's SHA-256. Returns `None` if `on_progress` (bytes read)
    /// cancels.
    pub async fn load(
        source: &impl ByteSource,
        gguf: &Gguf,
        on_progress: &mut dyn Callback<u64>,
    ) -> Result<Option<(Self, String)>, LoadError> {
        let config = Config::from_gguf(gguf)?;
        tensors::check(gguf, &config)?;
        let mut weights = HashMap::new();
        let mut bytes = Vec::new();
        let sha256 = stream(
            source,
            gguf,
            |tensor, piece| {
                if tensors::is_ignored(&tensor.name, &config) {
                    return Ok(());
                }
                if bytes.is_empty() {
                    bytes.try_reserve_exact(tensor.bytes).map_err(|_| LoadError::TooLarge)?;
                }
                bytes.extend_from_slice(piece);
                if bytes.len() == tensor.bytes {
                    let whole = std::mem::take(&mut bytes);
                    weights.insert(tensor.name.clone(), Weight::new(tensor, whole));
                }
                Ok::<(), LoadError>(())
            },
            async |bytes| on_progress.call(bytes).await,
        );
        let Some(sha256) = sha256.await? else { return Ok(None) };
        let weight_bytes = weights.values().map(Weight::bytes).sum();
        let transformer = Transformer::new(config, weights)?;
        let (text, counters) = (transformer.empty_cache(false), Counters::default());
        Ok(Some((Self { text, scored: None, transformer, counters, weight_bytes, second: None }, sha256)))
    }

    /// Bytes of the weights.
    pub fn weight_bytes(&self) -> usize {
        self.weight_bytes
    }

    /// Shares passes with `second`, which has loaded the same model.
    pub fn share_passes(&mut self, second: Box<dyn SecondScorer>) {
        self.second = Some(second);
    }

    /// The scorer that shares passes with this one.
    pub fn second_scorer(&self) -> Option<&dyn SecondScorer> {
        self.second.as_deref()
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
    fn fill(&mut self, request: &InfillRequest<'_>, gap: &Range<usize>, text: &mut Cache) -> Result<Vec<TokenId>, LmError> {
        let (mut token, position) = request.before(gap);
        let mut cache = self.transformer.prefix(text, position)?;
        let mut filled = Vec::with_capacity(gap.len());
        for i in 0..gap.len() {
            let mut logits = self.logits_after(&[token], &mut cache)?;
            let original = (i == 0).then_some(&request.tokens[gap.start]);
            request.forbidden.iter().chain(original).for_each(|&token| logits[token as usize] = f32::MIN);
            token = Sampler::greedy().sample(&logits)?;
            filled.push(token);
        }
        Ok(filled)
    }

    /// See [`lm_head::read_out`].
    fn read_out(&mut self, hidden: &Tensor, targets: &[TokenId], base: Option<&Tensor>) -> Result<Readout, LmError> {
        self.counters.head_positions += targets.len() * if base.is_some() { 2 } else { 1 };
        lm_head::read_out(&self.transformer, hidden, targets, base)?.checked()
    }

    /// Reads the base text.
    fn read_base(&mut self, request: &ScoreRequest<'_>, attention_mass: &mut AttentionMass) -> Result<BaseText, LmError> {
        let (targets, inputs) = (&request.targets, request.inputs(&[]));
        if request.known_base().is_some() {
            return Ok(BaseText { cache: self.read_known_base(request, &inputs)?, predicting: None });
        }
        let mut cache = self.transformer.empty_cache(true);
        let hidden = self.forward(&inputs[..targets.end - 1], &mut cache, attention_mass)?;
        Ok(BaseText { cache, predicting: Some(hidden.narrow(0, targets.start - 1, targets.len())?) })
    }

    /// Caches of a base text whose readout is known, as far as passes need them. Up to the first edit, they are those of the unedited text,
    /// which is read as a whole. So results do not depend on earlier requests.
    fn read_known_base(&mut self, request: &ScoreRequest<'_>, inputs: &[Input]) -> Result<Cache, LmError> {
        let end = request.base_length();
        let shared = match request.edits.first() {
            Some(edit) if self.transformer.config.attends_everywhere() => edit.start.min(end),
            _ => 0,
        };
        let mut cache = match shared {
            0 => self.transformer.empty_cache(true),
            _ => {
                let mut original = self.original(request)?;
                let shared = self.transformer.prefix(&mut original, shared)?;
                self.scored = Some(ScoredText { tokens: request.tokens[..request.targets.end - 1].to_vec(), cache: original });
                shared
            }
        };
        if shared < end {
            self.forward(&inputs[shared..end], &mut cache, &mut AttentionMass::default())?;
        }
        Ok(cache)
    }

    /// The cache of the text without edits.
    fn original(&mut self, request: &ScoreRequest<'_>) -> Result<Cache, LmError> {
        let tokens = &request.tokens[..request.targets.end - 1];
        if let Some(scored) = self.scored.take().filter(|scored| scored.tokens == tokens) {
            return Ok(scored.cache);
        }
        let (inputs, mut cache) = (tokens.iter().map(|&token| token.into()).collect::<Vec<Input>>(), self.transformer.empty_cache(true));
        self.forward(&inputs, &mut cache, &mut AttentionMass::default())?;
        Ok(cache)
    }

    /// Keeps the text of a request without edits, for later requests with edits.
    fn keep_scored(&mut self, request: &ScoreRequest<'_>, base: BaseText) {
        if request.edits.is_empty() && self.transformer.config.attends_everywhere() {
            self.scored = Some(ScoredText { tokens: request.tokens[..request.targets.end - 1].to_vec(), cache: base.cache });
        }
    }

    /// The readout of a pass, starting at the first target that it can change.
    fn score_changed(&mut self, request: &ScoreRequest<'_>, pass: &Pass, base: &mut BaseText) -> Result<Readout, LmError> {
        let ScoreRequest { tokens, targets, divergences, .. } = request;
        let (start, changed) = (pass.start(), changed_targets(request, pass));
        if changed.is_empty() {
            return Ok(Readout::default());
        }
        let mut cache = self.transformer.prefix(&mut base.cache, start)?;
        let hidden = self.forward(&request.inputs(&pass.edits)[start..targets.end - 1], &mut cache, &mut AttentionMass::default())?;
        let predicting = hidden.narrow(0, changed.start - 1 - start, changed.len())?;
        let base_predicting = base.predicting.as_ref().filter(|_| *divergences);
        let base_predicting = base_predicting.map(|base| base.narrow(0, changed.start - targets.start, changed.len())).transpose()?;
        self.read_out(&predicting, &tokens[changed], base_predicting.as_ref())
    }

    /// Computes `score_changed` of each pass from the last to the first, and passes it with its index to `on_scored` until that cancels.
    /// This is the work of a [`SecondScorer`].
    pub async fn score_from_last(
        &mut self,
        request: &ScoreRequest<'_>,
        on_scored: &mut dyn Callback<(usize, Readout)>,
    ) -> Result<(), LmError> {
        check_request(&self.transformer.config, request)?;
        let mut base = self.read_base(request, &mut AttentionMass::default())?;
        for (number, pass) in request.passes.iter().enumerate().rev() {
            let changed = self.score_changed(request, pass, &mut base)?;
            if on_scored.call((number, changed)).await.is_break() {
                break;
            }
        }
        self.keep_scored(request, base);
        Ok(())
    }

    /// The readout of a pass from the second scorer, if it has one. The counters count it as work of this model.
    async fn scored_elsewhere(
        &mut self,
        request: &ScoreRequest<'_>,
        number: usize,
        patience: Duration,
    ) -> Result<Option<Readout>, LmError> {
        let Some(second) = &self.second else { return Ok(None) };
        let (pass, n_changed) = (&request.passes[number], changed_targets(request, &request.passes[number]).len());
        let readout = second.take(number, patience).await;
        let Some(readout) = readout.filter(|readout| readout.log_probs.len() == n_changed) else { return Ok(None) };
        if n_changed > 0 {
            self.counters.forward_tokens += request.targets.end - 1 - pass.start();
            self.counters.head_positions += n_changed * if request.divergences { 2 } else { 1 };
        }
        readout.checked().map(Some)
    }

    async fn score_passes(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        let ScoreRequest { tokens, targets, passes, .. } = request;
        let mut attention_mass = AttentionMass::new(targets.clone(), request.attended);
        let mut text = self.read_base(request, &mut attention_mass)?;
        let mut base = match (request.known_base(), &text.predicting) {
            (None, Some(predicting)) => self.read_out(predicting, &tokens[targets.clone()], None)?,
            (known, _) => known.unwrap_or_default(),
        };
        base.divergences = vec![0.0; if request.divergences { targets.len() } else { 0 }];
        (base.attention, base.flow) = (attention_mass.sums, attention_mass.flows);
        let base = base.checked()?;
        let mut flow = on_readout.call((0, &base)).await;
        // Wait at most as long as the last pass took.
        let mut patience = Duration::ZERO;
        for (number, pass) in passes.iter().enumerate() {
            if flow.is_break() {
                break;
            }
            let changed = match self.scored_elsewhere(request, number, patience).await? {
                Some(changed) => changed,
                None => {
                    let began = Instant::now();
                    let changed = self.score_changed(request, pass, &mut text)?;
                    patience = began.elapsed();
                    changed
                }
            };
            flow = on_readout.call((number + 1, &base.changed_to(changed))).await;
        }
        self.keep_scored(request, text);
        Ok(())
    }
}

/// The targets whose predictions a pass can change. The state at t - 1 predicts target t.
fn changed_targets(ScoreRequest { targets, .. }: &ScoreRequest<'_>, pass: &Pass) -> Range<usize> {
    targets.start.max(pass.start() + 1).min(targets.end)..targets.end
}

/// Data of the base text that passes need.
struct BaseText {
    cache: Cache,
    /// Hidden states that predict the targets, `[targets, dim]`; `None` if their readout is known.
    predicting: Option<Tensor>,
}

/// A text without edits, and its per-layer caches.
struct ScoredText {
    tokens: Vec<TokenId>,
    cache: Cache,
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
        check_request(&self.transformer.config, request)?;
        self.text = self.transformer.empty_cache(false);
        if let Some(second) = self.second.as_ref().filter(|_| request.passes.len() > 1) {
            second.begin(request);
        }
        let scored = self.score_passes(request, on_readout).await;
        self.second.iter().for_each(|second| second.end());
        scored
    }

    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        check_known(&self.transformer.config, &[request.tokens, request.forbidden, &[request.start_token]].concat())?;
        self.scored = None;
        self.text = self.transformer.empty_cache(false);
        let mut text = self.transformer.empty_cache(true);
        let end = request.gaps.iter().map(|gap| request.before(gap).1).max().unwrap_or(0);
        if end > 0 {
            let inputs: Vec<Input> = request.tokens[..end].iter().map(|&token| token.into()).collect();
            self.forward(&inputs, &mut text, &mut AttentionMass::default())?;
        }
        let mut infills = Vec::with_capacity(request.gaps.len());
        for gap in request.gaps {
            if on_step.call(()).await.is_break() {
                return Ok(None);
            }
            infills.push(self.fill(request, gap, &mut text)?);
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
