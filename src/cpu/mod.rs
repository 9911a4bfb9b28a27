//! The engine on candle's CPU tensors: the fallback where there is no GPU, and the oracle for it.
//!
//! f32 activations and accumulation throughout: candle's own quantised models round activations to 8 bits, which
//! puts up to 0.03 nat of noise on the scores. Weights of small models are expanded to f32 once; those of larger
//! ones stay packed and are expanded row block by row block where they are used.

mod attended;
mod forward;
#[cfg(target_arch = "wasm32")]
mod fused;
mod head;
pub mod masked;
mod weight;

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

use candle_core::Tensor;

use crate::lm::sample::Sampler;
use crate::lm::{
    Backend, Counters, Infill, Infills, Input, Job, LanguageModel, LmError, LoadError, Pass, Readout, check_job, check_known, check_length,
};
use crate::model::config::Config;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::stream::stream;
use crate::model::tensors;
use crate::model::tokenizer::TokenId;
use attended::Attended;
use forward::{Cache, Transformer};
use weight::Weight;

/// A good limit for [`CandleModel::load`]: most of what a browser gives one worker.
pub const EXPANDED_BYTES: u64 = 640 << 20;

/// A model on the CPU.
pub struct CandleModel {
    transformer: Transformer,
    /// Keys and values of the text so far.
    text: Cache,
    counters: Counters,
}

/// Bytes that a model's weights take; see [`CandleModel::load`].
pub fn memory(gguf: &Gguf, max_expanded: u64) -> u64 {
    let expanded = 4 * gguf.n_parameters();
    if expanded <= max_expanded { expanded } else { gguf.tensors.iter().map(|tensor| tensor.bytes as u64).sum() }
}

impl From<candle_core::Error> for LmError {
    fn from(error: candle_core::Error) -> Self {
        LmError::Engine(first_line(&error))
    }
}

impl From<candle_core::Error> for LoadError {
    fn from(error: candle_core::Error) -> Self {
        LoadError::Weights(first_line(&error))
    }
}

impl CandleModel {
    /// Loads the weights in bounded pieces. Returns the model and the file's SHA-256; `None` where `on_progress`
    /// (bytes read) broke off. Weights that take more than `max_expanded` bytes as f32 stay packed.
    pub async fn load(
        source: &impl ByteSource,
        gguf: &Gguf,
        max_expanded: u64,
        on_progress: impl AsyncFnMut(u64) -> ControlFlow<()>,
    ) -> Result<Option<(Self, String)>, LoadError> {
        let config = Config::from_gguf(gguf)?;
        tensors::check(gguf, &config)?;
        let expand = 4 * gguf.n_parameters() <= max_expanded;
        let mut weights = HashMap::new();
        let mut bytes = Vec::new();
        let sha256 = stream(
            source,
            gguf,
            |tensor, piece| {
                if bytes.is_empty() {
                    bytes.try_reserve_exact(tensor.bytes).map_err(|_| LoadError::TooLarge)?;
                }
                bytes.extend_from_slice(piece);
                if bytes.len() == tensor.bytes {
                    let whole = std::mem::take(&mut bytes);
                    weights.insert(tensor.name.clone(), Weight::new(tensor, whole, expand)?);
                }
                Ok::<(), LoadError>(())
            },
            on_progress,
        );
        let Some(sha256) = sha256.await? else { return Ok(None) };
        let transformer = Transformer::new(config, weights)?;
        Ok(Some((Self { text: transformer.empty_cache(), transformer, counters: Counters::default() }, sha256)))
    }

    /// Takes what is read through the transformer after the text in `cache`; hidden states, `[inputs, dim]`.
    fn forward(&mut self, inputs: &[Input], cache: &mut Cache, attended: &mut Attended) -> Result<Tensor, LmError> {
        check_length(&self.transformer.config, cache.len() + inputs.len())?;
        self.counters.forward_tokens += inputs.len();
        Ok(self.transformer.forward(inputs, cache, attended)?)
    }

    /// The token's logits after the text in `cache`, and adds it to that.
    fn logits_after(&mut self, tokens: &[TokenId], cache: &mut Cache) -> Result<Vec<f32>, LmError> {
        check_known(&self.transformer.config, tokens)?;
        let inputs: Vec<Input> = tokens.iter().map(|&token| token.into()).collect();
        let hidden = self.forward(&inputs, cache, &mut Attended::default())?;
        self.counters.head_positions += 1;
        let last = hidden.narrow(0, hidden.dim(0)? - 1, 1)?;
        let normalized = self.transformer.normalize_last(&last)?;
        let logits = self.transformer.logits(&normalized, 0..self.transformer.config.vocab_size)?;
        Ok(logits.flatten_all()?.to_vec1::<f32>()?)
    }

    /// One gap's tokens, from the keys and values of the text before it.
    fn fill(&mut self, infill: &Infill<'_>, gap: &Range<usize>, text: &Cache) -> Result<Vec<TokenId>, LmError> {
        let (mut token, position) = infill.before(gap);
        let mut cache = text.prefix(position)?;
        let mut filled = Vec::with_capacity(gap.len());
        for i in 0..gap.len() {
            let mut logits = self.logits_after(&[token], &mut cache)?;
            let original = (i == 0).then_some(&infill.tokens[gap.start]);
            infill.forbidden.iter().chain(original).for_each(|&token| logits[token as usize] = f32::MIN);
            token = Sampler::greedy().sample(&logits)?;
            filled.push(token);
        }
        Ok(filled)
    }

    /// See [`head::read_out`].
    fn read_out(&mut self, hidden: &Tensor, targets: &[TokenId], base: Option<&Tensor>) -> Result<Readout, LmError> {
        self.counters.head_positions += targets.len() * if base.is_some() { 2 } else { 1 };
        let readout = head::read_out(&self.transformer, hidden, targets, base)?;
        if readout.log_probs.iter().all(|log_prob| log_prob.is_finite()) { Ok(readout) } else { Err(LmError::NotFinite) }
    }

    fn score_pass(&mut self, job: &Job<'_>, pass: &Pass, base: &Base) -> Result<Readout, LmError> {
        let Job { tokens, targets, divergences, .. } = job;
        // The state that predicts target t is the one at t - 1; those before the first edit are the base text's.
        let start = pass.start();
        let first = targets.start.max(start + 1);
        if first >= targets.end {
            return Ok(base.readout.of_a_pass());
        }
        let mut cache = base.cache.prefix(start)?;
        let hidden = self.forward(&job.inputs(&pass.edits)[start..targets.end - 1], &mut cache, &mut Attended::default())?;
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
        Backend { name: "candle-cpu".into(), precision: "f32".into() }
    }

    fn reset(&mut self, _capacity: usize) {
        self.text = self.transformer.empty_cache();
    }

    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        let mut text = std::mem::replace(&mut self.text, self.transformer.empty_cache());
        let logits = self.logits_after(tokens, &mut text)?;
        self.text = text;
        sampler.sample(&logits)
    }

    async fn score(&mut self, job: &Job<'_>, mut on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>) -> Result<(), LmError> {
        let Job { tokens, targets, passes, .. } = job;
        check_job(&self.transformer.config, job)?;
        self.text = self.transformer.empty_cache();
        let mut cache = self.transformer.empty_cache();
        let mut attended = Attended::new(targets.clone(), job.attended);
        let hidden = self.forward(&job.inputs(&[])[..targets.end - 1], &mut cache, &mut attended)?;
        let predicting = hidden.narrow(0, targets.start - 1, targets.len())?;
        let mut readout = self.read_out(&predicting, &tokens[targets.clone()], None)?;
        readout.divergences = vec![0.0; if job.divergences { targets.len() } else { 0 }];
        readout.attention = attended.sums;
        let base = Base { readout, cache, predicting };
        let mut flow = on_readout(0, &base.readout).await;
        for (i, pass) in passes.iter().enumerate() {
            if flow.is_break() {
                break;
            }
            let readout = self.score_pass(job, pass, &base)?;
            flow = on_readout(i + 1, &readout).await;
        }
        Ok(())
    }

    async fn infill(&mut self, infill: &Infill<'_>, mut on_step: impl AsyncFnMut() -> ControlFlow<()>) -> Result<Option<Infills>, LmError> {
        check_known(&self.transformer.config, infill.forbidden)?;
        self.text = self.transformer.empty_cache();
        let mut text = self.transformer.empty_cache();
        let end = infill.gaps.iter().map(|gap| infill.before(gap).1).max().unwrap_or(0);
        if end > 0 {
            check_known(&self.transformer.config, infill.tokens)?;
            let inputs: Vec<Input> = infill.tokens[..end].iter().map(|&token| token.into()).collect();
            self.forward(&inputs, &mut text, &mut Attended::default())?;
        }
        let mut infills = Vec::with_capacity(infill.gaps.len());
        for gap in infill.gaps {
            if on_step().await.is_break() {
                return Ok(None);
            }
            infills.push(self.fill(infill, gap, &text)?);
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
