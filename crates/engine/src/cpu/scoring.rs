//! Scores base texts and their passes, alone or together with helpers.

use std::ops::{ControlFlow, Range};

use candle_core::Tensor;
use web_time::{Duration, Instant};

use super::attention_mass::AttentionMass;
use super::cache::{Cache, ScoredText};
use super::parallel::{HelperEvent, Helpers, OwnedScoreRequest};
use super::schedule::{Schedule, Unit};
use super::{CandleModel, lm_head};
use crate::lm::{Callback, Input, LmError, OnReadouts, Pass, Readout, ScoreRequest, check_request};
use glasscage_model::tokenizer::TokenId;

/// The engine's own worker in the schedule. Helper h is worker h + 1.
const OWN: usize = 0;
/// A helper without events for this many times the longest own step has its passes taken away.
const PATIENCE: u32 = 3;

/// The base text of a request, with what its passes need.
struct BaseText {
    /// Index of the request.
    request: usize,
    cache: Cache,
    /// Hidden states that predict the targets, `[targets, dim]`; `None` if their readout is known.
    predicting: Option<Tensor>,
    /// The tokens, if later requests may continue from this text.
    reusable: Option<Vec<TokenId>>,
}

/// The job of a helper: requests of another worker.
#[derive(Default)]
pub struct HelperJob {
    requests: Vec<OwnedScoreRequest>,
    text: Option<BaseText>,
}

/// Requests that are being scored.
struct Job<'a> {
    requests: &'a [ScoreRequest<'a>],
    helpers: Option<&'a dyn Helpers>,
    /// Whether each helper can score passes.
    is_ready: Vec<bool>,
    schedule: Schedule,
    text: Option<BaseText>,
    /// Readout of the base text of the request that is reported now.
    base: Readout,
    /// The longest time in which this worker scored a pass or read a base text.
    longest_step: Duration,
}

impl CandleModel {
    /// Scores requests together with the helpers. Calls `on_readout` in order.
    pub(super) async fn score_requests(&mut self, requests: &[ScoreRequest<'_>], on_readout: &mut OnReadouts<'_>) -> Result<(), LmError> {
        requests.iter().try_for_each(|request| check_request(&self.transformer.config, request))?;
        self.text = self.transformer.empty_cache(false);
        let n_passes: usize = requests.iter().map(|request| request.passes.len()).sum();
        let helpers = self.helpers.clone().filter(|_| n_passes > 1);
        let n_helpers = helpers.as_ref().map_or(0, |helpers| helpers.begin(requests));
        let mut job = Job {
            requests,
            helpers: helpers.as_deref(),
            is_ready: vec![false; n_helpers],
            schedule: Schedule::new(requests, 1 + n_helpers),
            text: None,
            base: Readout::default(),
            longest_step: Duration::ZERO,
        };
        let scored = self.run(&mut job, on_readout).await;
        self.keep_text(job.text.take());
        helpers.iter().for_each(|helpers| helpers.end());
        scored
    }

    async fn run(&mut self, job: &mut Job<'_>, on_readout: &mut OnReadouts<'_>) -> Result<(), LmError> {
        loop {
            // Before the helpers, so that the time of an own step is known when this worker waits for them.
            job.schedule.assign(OWN);
            self.receive(job, Duration::ZERO).await?;
            if self.report(job, on_readout).await?.is_break() || job.schedule.next().is_none() {
                return Ok(());
            }
            // Passes that are not reported yet stop, too.
            if (self.is_stopped.borrow().clone())() {
                return Err(LmError::Stopped);
            }
            let patience = PATIENCE * job.longest_step;
            match job.schedule.current(OWN) {
                Some((request, pass)) => self.step(job, request, pass)?,
                None if self.receive(job, patience).await? => {}
                None => (0..job.is_ready.len()).for_each(|helper| job.lose(helper)),
            }
        }
    }

    /// Handles the events of the helpers, and gives them work. Returns whether there was any event.
    async fn receive(&mut self, job: &mut Job<'_>, patience: Duration) -> Result<bool, LmError> {
        let Some(helpers) = job.helpers.filter(|_| !job.is_ready.is_empty()) else { return Ok(false) };
        let events = helpers.events(patience).await;
        let is_new = !events.is_empty();
        for event in events {
            match event {
                HelperEvent::Ready { helper } => job.is_ready[helper] = true,
                HelperEvent::Lost { helper } => job.lose(helper),
                HelperEvent::Scored { helper, request, pass, readout } => {
                    if !self.take(job, request, pass, readout)? {
                        job.lose(helper);
                    }
                }
            }
        }
        for helper in (0..job.is_ready.len()).filter(|&helper| job.is_ready[helper]) {
            if let Some(unit) = job.schedule.assign(helper + 1) {
                helpers.assign(helper, &unit);
            }
        }
        Ok(is_new)
    }

    /// Takes the readout of a helper. Returns whether its length is that of its pass. The counters count it as work of this model.
    fn take(&mut self, job: &mut Job<'_>, number: usize, pass: usize, readout: Readout) -> Result<bool, LmError> {
        let Some(request) = job.requests.get(number) else { return Ok(false) };
        let Some(edited) = request.passes.get(pass) else { return Ok(false) };
        let n_changed = changed_targets(request, edited).len();
        let n_divergences = if request.divergences { n_changed } else { 0 };
        if (readout.log_probs.len(), readout.divergences.len()) != (n_changed, n_divergences) {
            return Ok(false);
        }
        if n_changed > 0 && !job.schedule.is_scored(number, pass) {
            self.counters.forward_tokens += request.targets.end - 1 - edited.start();
            self.counters.head_positions += n_changed + n_divergences;
        }
        job.schedule.take(number, pass, readout.checked()?);
        Ok(true)
    }

    /// Reports all readouts that are next in order.
    async fn report(&mut self, job: &mut Job<'_>, on_readout: &mut OnReadouts<'_>) -> Result<ControlFlow<()>, LmError> {
        while let Some((request, number)) = job.schedule.next() {
            let readout = if number == 0 {
                job.base = self.base_readout(job, request)?;
                job.base.clone()
            } else {
                let Some(changed) = job.schedule.next_pass() else { break };
                job.base.changed_to(changed)
            };
            job.schedule.advance();
            if on_readout.call((request, number, &readout)).await.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The readout of the base text of a request.
    fn base_readout(&mut self, job: &mut Job<'_>, number: usize) -> Result<Readout, LmError> {
        let request = &job.requests[number];
        if let Some(known) = request.known_base() {
            return known.checked();
        }
        let (began, mut attention_mass) = (Instant::now(), AttentionMass::new(request.targets.clone(), request.attended));
        self.keep_text(job.text.take());
        let text = self.read_base(number, request, &mut attention_mass)?;
        let predicting = text.predicting.as_ref().expect("the readout is not known");
        let mut base = self.read_out(predicting, &request.tokens[request.targets.clone()], None, request.top_tokens)?;
        job.text = Some(text);
        job.longest_step = job.longest_step.max(began.elapsed());
        base.divergences = vec![0.0; if request.divergences { request.targets.len() } else { 0 }];
        (base.attention, base.flow) = (attention_mass.sums, attention_mass.flows);
        base.checked()
    }

    /// Scores one pass.
    fn step(&mut self, job: &mut Job<'_>, number: usize, pass: usize) -> Result<(), LmError> {
        let (began, request) = (Instant::now(), &job.requests[number]);
        let changed = self.score_in(&mut job.text, number, request, &request.passes[pass])?;
        job.longest_step = job.longest_step.max(began.elapsed());
        job.schedule.take(number, pass, changed);
        Ok(())
    }

    /// Scores the passes of a unit, and passes each readout with its index to `on_scored` until that cancels. This is the work of one of
    /// the [`Helpers`].
    pub async fn help(&mut self, job: &mut HelperJob, unit: &Unit, on_scored: &mut dyn Callback<(usize, Readout)>) -> Result<(), LmError> {
        let Some(request) = job.requests.get(unit.request).map(OwnedScoreRequest::borrowed) else { return Ok(()) };
        check_request(&self.transformer.config, &request)?;
        for number in unit.passes.clone() {
            let Some(pass) = request.passes.get(number) else { break };
            let changed = self.score_in(&mut job.text, unit.request, &request, pass)?;
            if on_scored.call((number, changed)).await.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Begins the next job of a helper.
    pub fn begin_help(&mut self, job: &mut HelperJob, requests: Vec<OwnedScoreRequest>) {
        self.keep_text(job.text.take());
        job.requests = requests;
    }

    /// Scores a pass of a request. Reads the base text first, unless it is in `text`.
    fn score_in(
        &mut self,
        text: &mut Option<BaseText>,
        number: usize,
        request: &ScoreRequest<'_>,
        pass: &Pass,
    ) -> Result<Readout, LmError> {
        let mut base = match text.take() {
            Some(base) if base.request == number => base,
            other => {
                self.keep_text(other);
                self.read_base(number, request, &mut AttentionMass::default())?
            }
        };
        let changed = self.score_changed(request, pass, &mut base);
        *text = Some(base);
        changed
    }

    /// See [`lm_head::read_out`].
    fn read_out(&mut self, hidden: &Tensor, targets: &[TokenId], base: Option<&Tensor>, ranks: bool) -> Result<Readout, LmError> {
        self.counters.head_positions += targets.len() * if base.is_some() { 2 } else { 1 };
        lm_head::read_out(&self.transformer, hidden, targets, base, ranks)?.checked()
    }

    /// Reads the base text.
    fn read_base(&mut self, number: usize, request: &ScoreRequest<'_>, attention_mass: &mut AttentionMass) -> Result<BaseText, LmError> {
        let (targets, inputs) = (&request.targets, request.inputs(&[]));
        if request.known_base().is_some() {
            return Ok(BaseText { request: number, cache: self.read_known_base(request, &inputs)?, predicting: None, reusable: None });
        }
        let is_reusable = request.edits.is_empty() && self.transformer.config.attends_everywhere();
        let reusable = is_reusable.then(|| request.tokens[..targets.end - 1].to_vec());
        let mut cache = self.transformer.empty_cache(true);
        let hidden = self.forward(&inputs[..targets.end - 1], &mut cache, attention_mass)?;
        let predicting = Some(hidden.narrow(0, targets.start - 1, targets.len())?);
        Ok(BaseText { request: number, cache, predicting, reusable })
    }

    /// Keeps a text without edits, for later requests with edits.
    fn keep_text(&mut self, text: Option<BaseText>) {
        if let Some(BaseText { reusable: Some(tokens), cache, .. }) = text {
            self.scored = Some(ScoredText { tokens, cache });
        }
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
        self.read_out(&predicting, &tokens[changed], base_predicting.as_ref(), false)
    }
}

impl Job<'_> {
    /// A helper that ended or is slow gets no more work in this job.
    fn lose(&mut self, helper: usize) {
        self.is_ready[helper] = false;
        self.schedule.unassign(helper + 1);
    }
}

/// The targets whose predictions a pass can change. The state at t - 1 predicts target t.
fn changed_targets(ScoreRequest { targets, .. }: &ScoreRequest<'_>, pass: &Pass) -> Range<usize> {
    targets.start.max(pass.start() + 1).min(targets.end)..targets.end
}
