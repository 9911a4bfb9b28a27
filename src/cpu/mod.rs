//! The engine on candle's CPU tensors: the fallback where there is no GPU, and the oracle for it.
//!
//! f32 activations and accumulation throughout: candle's own quantized models round activations to 8 bits, which
//! puts up to 0.03 nat of noise on the scores. Weights stay as they are in the file: `product` reads them where they are used.

mod attention;
mod attention_mass;
mod cache;
mod convolution;
mod delta_net;
mod forward;
#[cfg(target_arch = "wasm32")]
mod fused;
mod lm_head;
pub mod masked;
mod normalize;
mod product;
mod rows;
mod weight;
mod weights;

use std::collections::HashMap;
use std::ops::Range;

use candle_core::Tensor;

use crate::lm::sample::Sampler;
use crate::lm::{
    Backend, Callback, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, LoadError, OnReadout, Pass, Readout, ScoreRequest,
    check_known, check_length, check_request,
};
use crate::model::config::Config;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::stream::stream;
use crate::model::tensors;
use crate::model::tokenizer::TokenId;
use attention_mass::AttentionMass;
use cache::Cache;
use forward::Transformer;
use weight::Weight;

/// A model on the CPU.
pub struct CandleModel {
    transformer: Transformer,
    /// Keys and values of the text so far.
    text: Cache,
    counters: Counters,
    weight_bytes: usize,
}

/// Bytes that a model's weights take.
pub fn memory(gguf: &Gguf) -> u64 {
    gguf.tensors.iter().map(|tensor| tensor.bytes as u64).sum()
}

impl From<candle_core::Error> for LmError {
    fn from(error: candle_core::Error) -> Self {
        Self::Engine(first_line(&error))
    }
}

impl From<candle_core::Error> for LoadError {
    fn from(error: candle_core::Error) -> Self {
        Self::Weights(first_line(&error))
    }
}

impl CandleModel {
    /// Loads the weights in bounded pieces. Returns the model and the file's SHA-256; `None` where `on_progress`
    /// (bytes read) broke off.
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
        Ok(Some((Self { text: transformer.empty_cache(false), transformer, counters: Counters::default(), weight_bytes }, sha256)))
    }

    /// Bytes that the weights take.
    pub fn weight_bytes(&self) -> usize {
        self.weight_bytes
    }

    /// Hidden states of `inputs` read after the text in `cache`, to which they are added: `[inputs, dim]`.
    fn forward(&mut self, inputs: &[Input], cache: &mut Cache, attention_mass: &mut AttentionMass) -> Result<Tensor, LmError> {
        check_length(&self.transformer.config, cache.length + inputs.len())?;
        self.counters.forward_tokens += inputs.len();
        Ok(self.transformer.forward(inputs, cache, attention_mass)?)
    }

    /// Logits after the last of `tokens`, read after the text in `cache`, to which they are added.
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

    /// One gap's tokens, from the keys and values of the text before it.
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

    fn score_pass(&mut self, request: &ScoreRequest<'_>, pass: &Pass, base: &mut Base) -> Result<Readout, LmError> {
        let ScoreRequest { tokens, targets, divergences, .. } = request;
        // The state that predicts target t is the one at t - 1; those before the first edit are the base text's.
        let start = pass.start();
        let first = targets.start.max(start + 1);
        if first >= targets.end {
            return Ok(base.readout.of_a_pass());
        }
        let mut cache = self.transformer.prefix(&mut base.cache, start)?;
        let hidden = self.forward(&request.inputs(&pass.edits)[start..targets.end - 1], &mut cache, &mut AttentionMass::default())?;
        let predicting = hidden.narrow(0, first - 1 - start, targets.end - first)?;
        let base_predicting = divergences.then(|| base.predicting.narrow(0, first - targets.start, targets.end - first)).transpose()?;
        let own = self.read_out(&predicting, &tokens[first..targets.end], base_predicting.as_ref())?;
        let mut readout = base.readout.of_a_pass();
        readout.log_probs.splice(first - targets.start.., own.log_probs);
        if *divergences {
            readout.divergences.splice(first - targets.start.., own.divergences);
        }
        Ok(readout)
    }
}

/// What was scored of the base text.
struct Base {
    readout: Readout,
    cache: Cache,
    /// Hidden states that predict the targets, `[targets, dim]`.
    predicting: Tensor,
}

impl LanguageModel for CandleModel {
    fn config(&self) -> &Config {
        &self.transformer.config
    }

    fn backend(&self) -> Backend {
        Backend { name: "candle-cpu".into(), precision: "f32".into(), device: String::new() }
    }

    fn reset(&mut self, _capacity: usize) {
        self.text = self.transformer.empty_cache(false);
    }

    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        let mut text = std::mem::replace(&mut self.text, self.transformer.empty_cache(false));
        let logits = self.logits_after(tokens, &mut text)?;
        self.text = text;
        sampler.sample(&logits)
    }

    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        let ScoreRequest { tokens, targets, passes, .. } = request;
        check_request(&self.transformer.config, request)?;
        self.text = self.transformer.empty_cache(false);
        let mut cache = self.transformer.empty_cache(true);
        let mut attention_mass = AttentionMass::new(targets.clone(), request.attended);
        let hidden = self.forward(&request.inputs(&[])[..targets.end - 1], &mut cache, &mut attention_mass)?;
        let predicting = hidden.narrow(0, targets.start - 1, targets.len())?;
        let mut readout = self.read_out(&predicting, &tokens[targets.clone()], None)?;
        readout.divergences = vec![0.0; if request.divergences { targets.len() } else { 0 }];
        (readout.attention, readout.flow) = (attention_mass.sums, attention_mass.flows);
        let mut base = Base { readout: readout.checked()?, cache, predicting };
        let mut flow = on_readout.call((0, &base.readout)).await;
        for (i, pass) in passes.iter().enumerate() {
            if flow.is_break() {
                break;
            }
            let readout = self.score_pass(request, pass, &mut base)?;
            flow = on_readout.call((i + 1, &readout)).await;
        }
        Ok(())
    }

    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        check_known(&self.transformer.config, request.forbidden)?;
        self.text = self.transformer.empty_cache(false);
        let mut text = self.transformer.empty_cache(true);
        let end = request.gaps.iter().map(|gap| request.before(gap).1).max().unwrap_or(0);
        if end > 0 {
            check_known(&self.transformer.config, request.tokens)?;
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

/// What candle says, without the backtrace that it may add.
fn first_line(error: &candle_core::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
