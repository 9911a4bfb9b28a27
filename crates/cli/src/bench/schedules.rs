//! Runs the attribution job in the schedule of the engine, and in the schedules that it replaces.

use std::fmt;
use std::ops::{ControlFlow, Range};

use glasscage_core::rng::Rng;
use glasscage_engine::lm::{Counters, Edit, LanguageModel, LmError, Pass, ScoreRequest};
use glasscage_model::tokenizer::TokenId;
use serde::Serialize;

use super::cost::{Cost, Stopwatch};

/// A text in sentences of the same length. The last ones are the answer.
pub struct AttributionJob {
    sentences: Vec<Range<usize>>,
    n_prompt: usize,
}

/// Cost and work of a schedule.
#[derive(Serialize)]
pub struct Schedule {
    #[serde(flatten)]
    pub cost: Cost,
    pub passes: usize,
    /// If fewer than `passes`, cost and work are scaled up by the number of tokens.
    pub measured_passes: usize,
    pub forward_tokens: usize,
    pub head_positions: usize,
    #[serde(flatten)]
    pub gpu_work: GpuWork,
}

/// Calls and transfers that the engine on the GPU made.
#[derive(Clone, Copy, Serialize)]
pub struct GpuWork {
    pub dispatches: usize,
    pub submissions: usize,
    /// Copies from the GPU, and their bytes.
    pub readbacks: usize,
    pub bytes_read_back: u64,
}

impl AttributionJob {
    pub fn new(tokens: usize, sentences: usize, generated: usize) -> Result<Self, String> {
        if generated == 0 || generated >= sentences || tokens < 2 * sentences {
            return Err("a job has sentences of at least two tokens, some of the prompt and some generated".into());
        }
        let place = |i: usize| i * tokens / sentences;
        Ok(Self { sentences: (0..sentences).map(|i| place(i)..place(i + 1)).collect(), n_prompt: sentences - generated })
    }

    /// Random tokens, the same at every call, and the replacement for perturbed tokens.
    pub fn text(&self, vocab_size: usize) -> (Vec<TokenId>, TokenId) {
        let length = self.sentences.last().map_or(0, |last| last.end);
        let mut rng = Rng::new(0);
        ((0..length).map(|_| (rng.next_u64() % vocab_size as u64) as TokenId).collect(), (vocab_size - 1) as TokenId)
    }

    /// One pass for each sentence except the last, because that one influences no other sentence.
    fn passes(&self, end_token: TokenId) -> Vec<Pass> {
        let replaced = |source: &Range<usize>| Edit::new(source.start, &vec![end_token; source.len()]);
        self.sentences[..self.sentences.len() - 1].iter().map(|source| Pass { edits: vec![replaced(source)] }).collect()
    }

    /// The engine's own schedule: computes everything that passes share only once.
    pub async fn run_with_shared_prefix(
        &self,
        lm: &mut impl LanguageModel,
        tokens: &[TokenId],
        end_token: TokenId,
    ) -> Result<Schedule, LmError> {
        let passes = self.passes(end_token);
        let targets = self.sentences[self.n_prompt].start..tokens.len();
        // A short job first, so that compilation does not count.
        score(lm, &ScoreRequest::new(&tokens[..targets.start + 2], targets.start..targets.start + 2, &passes[..2.min(self.n_prompt)]))
            .await?;
        let (watch, before) = (Stopwatch::start(), lm.counters());
        self.score_shared(lm, tokens, end_token).await?;
        Ok(Schedule::new(watch.cost(), [passes.len() + 1; 2], before, lm.counters()))
    }

    /// The job in the engine's own schedule, without a warm-up.
    pub async fn score_shared(&self, lm: &mut impl LanguageModel, tokens: &[TokenId], end_token: TokenId) -> Result<(), LmError> {
        let targets = self.sentences[self.n_prompt].start..tokens.len();
        score(lm, &ScoreRequest::new(tokens, targets, &self.passes(end_token))).await
    }

    /// Scores the whole perturbed text of each source, for all targets at once.
    pub async fn run_pass_per_source(
        &self,
        lm: &mut impl LanguageModel,
        tokens: &[TokenId],
        end_token: TokenId,
        seconds: f64,
    ) -> Result<Schedule, LmError> {
        let perturbed = self.passes(end_token).into_iter().map(|pass| pass.apply(tokens));
        let texts = std::iter::once(tokens.to_vec()).chain(perturbed).collect();
        one_by_one(lm, texts, seconds).await
    }

    /// Scores one text for each target and source, up to the end of the target, like the paper's reference code.
    pub async fn run_naively(
        &self,
        lm: &mut impl LanguageModel,
        tokens: &[TokenId],
        end_token: TokenId,
        seconds: f64,
    ) -> Result<Schedule, LmError> {
        let passes = self.passes(end_token);
        let texts_of = |target: usize| {
            let end = self.sentences[target].end;
            let perturbed = passes[..target].iter().map(move |pass| pass.apply(tokens)[..end].to_vec());
            std::iter::once(tokens[..end].to_vec()).chain(perturbed).collect::<Vec<_>>()
        };
        one_by_one(lm, (self.n_prompt..self.sentences.len()).flat_map(texts_of).collect(), seconds).await
    }
}

/// Scores full texts, with every token through the LM head. Stops after `seconds`, and extrapolates the rest by the number of tokens.
async fn one_by_one(lm: &mut impl LanguageModel, mut texts: Vec<Vec<TokenId>>, seconds: f64) -> Result<Schedule, LmError> {
    let length = |texts: &[Vec<TokenId>]| texts.iter().map(Vec::len).sum::<usize>() as f64;
    let total = length(&texts);
    // Sorts the texts so that any beginning is a fair sample of all lengths.
    texts = stride(texts.len()).map(|i| std::mem::take(&mut texts[i])).collect();
    let (watch, before, mut done) = (Stopwatch::start(), lm.counters(), 0);
    while done < texts.len() && (done < 2 || watch.cost().wall_seconds < seconds) {
        let tokens = &texts[done];
        score(lm, &ScoreRequest::new(tokens, 1..tokens.len(), &[])).await?;
        done += 1;
    }
    let measured = Schedule::new(watch.cost(), [texts.len(), done], before, lm.counters());
    Ok(measured.scaled(total / length(&texts[..done])))
}

/// Every number below `n` once. Consecutive numbers are far apart.
fn stride(n: usize) -> impl Iterator<Item = usize> {
    let is_coprime = |step: &usize| (2..=*step).all(|divisor| !(n.is_multiple_of(divisor) && step.is_multiple_of(divisor)));
    let step = (n * 5 / 8 + 1..).find(is_coprime).unwrap_or(1);
    (0..n).map(move |i| i * step % n)
}

async fn score(lm: &mut impl LanguageModel, request: &ScoreRequest<'_>) -> Result<(), LmError> {
    lm.score(request, async |_, _| ControlFlow::Continue(())).await
}

impl Schedule {
    /// `passes`: number of planned passes, and of passes between the counters.
    fn new(cost: Cost, [passes, measured_passes]: [usize; 2], before: Counters, after: Counters) -> Self {
        Self {
            cost,
            passes,
            measured_passes,
            forward_tokens: after.forward_tokens - before.forward_tokens,
            head_positions: after.head_positions - before.head_positions,
            gpu_work: GpuWork::between(before, after),
        }
    }

    fn scaled(self, factor: f64) -> Self {
        let count = |number: usize| (factor * number as f64).round() as usize;
        Self {
            cost: self.cost.scaled(factor),
            forward_tokens: count(self.forward_tokens),
            head_positions: count(self.head_positions),
            gpu_work: GpuWork {
                dispatches: count(self.gpu_work.dispatches),
                submissions: count(self.gpu_work.submissions),
                readbacks: count(self.gpu_work.readbacks),
                bytes_read_back: count(self.gpu_work.bytes_read_back as usize) as u64,
            },
            ..self
        }
    }
}

impl GpuWork {
    pub fn between(before: Counters, after: Counters) -> Self {
        Self {
            dispatches: after.dispatches - before.dispatches,
            submissions: after.submissions - before.submissions,
            readbacks: after.readbacks - before.readbacks,
            bytes_read_back: after.bytes_read_back - before.bytes_read_back,
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cost, passes, measured_passes, forward_tokens, head_positions, .. } = self;
        write!(f, "{cost}, {passes} passes, {forward_tokens} tokens, {head_positions} head positions")?;
        if measured_passes < passes { write!(f, " (scaled up from {measured_passes} passes)") } else { Ok(()) }
    }
}
