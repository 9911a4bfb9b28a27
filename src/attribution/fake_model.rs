//! For tests: a language model that a test wires, and what it was asked.

use std::ops::Range;

use super::transcript::{Segments, Transcript};
use crate::lm::sample::Sampler;
use crate::lm::{Backend, Callback, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, OnReadout, Readout, ScoreRequest};
use crate::model::config::{Config, Recurrence, testing};
use crate::model::tokenizer::TokenId;

pub const END: TokenId = 2;
/// What fills every gap.
pub const FILLING: TokenId = 9;

/// For each target of a request what its token loses, in nats, where these inputs are read.
type Losses = Box<dyn Fn(&ScoreRequest<'_>, &[Input]) -> Vec<f64>>;

/// Log-probs are losses, negated, divergences twice the losses. The attention from the n-th generated token to a range is n times where the
/// range starts, the flow n times where it ends.
pub struct FakeModel {
    config: Config,
    losses: Losses,
    /// One for each text to score.
    pub asked: Vec<Asked>,
    /// Tokens read of base texts.
    pub base_tokens: usize,
    /// Log-probs of base texts that were known, and what they are.
    pub known_bases: Vec<(Vec<f64>, Vec<f64>)>,
    /// What was to be filled: gaps, forbidden tokens, and what is read before the text.
    pub filled: Vec<(Vec<Range<usize>>, Vec<TokenId>, TokenId)>,
}

/// What a request asks of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// How many edits the base text has.
    pub edits: usize,
    pub passes: usize,
    pub divergences: bool,
    pub attended: Vec<Range<usize>>,
}

/// A frame of one token, three prompt sentences, of which the second has no token, and two generated ones.
pub fn text() -> (Transcript, Segments) {
    let transcript = Transcript {
        tokens: (10..18).collect(),
        generation: 5..8,
        end_token: END,
        control_tokens: vec![1, END],
        infills: [2, 0, 2, 1].map(|n| vec![FILLING; n]).into(),
    };
    (transcript, Segments { prompt: vec![1..3, 3..3, 3..5], generation: vec![5..6, 6..8] })
}

/// With attention in its only layer or without.
pub fn config(attends: bool) -> Config {
    let recurrence = (!attends).then(|| Recurrence { taps: 3, layers: vec![true], delta_net: None });
    Config { recurrence, ..testing::config("llama", 1, 1, 4) }
}

impl FakeModel {
    pub fn new(attends: bool, losses: Losses) -> Self {
        Self { config: config(attends), losses, asked: Vec::new(), base_tokens: 0, known_bases: Vec::new(), filled: Vec::new() }
    }

    /// A position p that is read as the end token costs the n-th generated token after it n * p / 4 nats, as another token half of that,
    /// and part of the way to the end token that part.
    pub fn additive(attends: bool) -> Self {
        Self::new(attends, Box::new(additive_losses))
    }
}

fn additive_losses(request: &ScoreRequest<'_>, inputs: &[Input]) -> Vec<f64> {
    let lost = |p: usize| match inputs[p] {
        Input { token: END, .. } => 1.0,
        Input { blend_with: END, blend, .. } => f64::from(blend),
        Input { token, .. } if token == request.tokens[p] => 0.0,
        _ => 0.5,
    };
    let loss = |t: usize| (1..t).map(|p| lost(p) * p as f64).sum::<f64>() * (t + 1 - request.targets.start) as f64 / 4.0;
    request.targets.clone().map(loss).collect()
}

impl LanguageModel for FakeModel {
    fn config(&self) -> &Config {
        &self.config
    }

    fn backend(&self) -> Backend {
        Backend { name: "fake".into(), precision: "f64".into(), device: String::new() }
    }

    fn reset(&mut self, _: usize) {}

    async fn next_token(&mut self, _: &[TokenId], _: &mut Sampler) -> Result<TokenId, LmError> {
        Ok(END)
    }

    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        let ScoreRequest { targets, edits, passes, divergences, attended, .. } = request;
        self.asked.push(Asked { edits: edits.len(), passes: passes.len(), divergences: *divergences, attended: attended.to_vec() });
        self.base_tokens += request.base_length();
        let of_base = |place: fn(&Range<usize>) -> usize| -> Vec<f64> {
            (1..=targets.len()).flat_map(|n| attended.iter().map(move |range| (n * place(range)) as f64)).collect()
        };
        let read = |inputs: Vec<Input>| {
            let losses = (self.losses)(request, &inputs);
            let divergences = losses.iter().filter(|_| *divergences).map(|loss| 2.0 * loss).collect();
            Readout { log_probs: losses.iter().map(|loss| -loss).collect(), divergences, ..Readout::default() }
        };
        let base = Readout { attention: of_base(|range| range.start), flow: of_base(|range| range.end), ..read(request.inputs(&[])) };
        let known = request.known_base().map(|known| (known.log_probs, base.log_probs.clone()));
        self.known_bases.extend(known);
        let readouts = std::iter::once(base).chain(passes.iter().map(|pass| read(request.inputs(&pass.edits))));
        for (number, readout) in readouts.enumerate() {
            if on_readout.call((number, &readout)).await.is_break() {
                break;
            }
        }
        Ok(())
    }

    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        self.filled.push((request.gaps.to_vec(), request.forbidden.to_vec(), request.start_token));
        let infills = request.gaps.iter().map(|gap| vec![FILLING; gap.len()]).collect();
        Ok(on_step.call(()).await.is_continue().then_some(infills))
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
