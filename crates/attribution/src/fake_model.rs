//! A language model for tests. The test sets its losses, and the model records the requests.

use std::ops::Range;

use super::transcript::{Segments, Transcript};
use glasscage_engine::lm::sample::Sampler;
use glasscage_engine::lm::{
    Backend, Callback, Counters, InfillRequest, Infills, Input, LanguageModel, LmError, OnReadout, RankedToken, Readout, ScoreRequest,
};
use glasscage_model::config::{Config, Recurrence, testing};
use glasscage_model::tokenizer::TokenId;

pub const END: TokenId = 2;
/// Token that fills every span.
pub const FILLING: TokenId = 9;

/// Computes the loss of each target token, in nats, from the inputs that the model reads.
type Losses = Box<dyn Fn(&ScoreRequest<'_>, &[Input]) -> Vec<f64>>;

/// Log-probabilities are negated losses, and divergences are twice the losses. For the n-th generated token, the attention to a range is n
/// times the start of the range, and the flow is n times its end.
pub struct FakeModel {
    config: Config,
    losses: Losses,
    /// One entry per request to score.
    pub asked: Vec<Asked>,
    /// Number of requests that ask for the most likely tokens.
    pub ranked: usize,
    /// Number of base text tokens read.
    pub base_tokens: usize,
    /// Log-probabilities of base texts that a request contained, each with those that the model computed.
    pub known_bases: Vec<(Vec<f64>, Vec<f64>)>,
    /// Infill requests: spans, forbidden tokens and start token.
    pub filled: Vec<(Vec<Range<usize>>, Vec<TokenId>, TokenId)>,
}

/// Parameters of a request to score.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Number of edits of the base text.
    pub edits: usize,
    pub passes: usize,
    pub divergences: bool,
    pub attended: Vec<Range<usize>>,
}

/// One frame token, three prompt sentences, of which the second has no token, and two generated sentences.
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

/// Two prompt sentences and two generated ones of two tokens each, which are interleaved. A frame token comes before each pair.
pub fn interleaved() -> (Transcript, Segments) {
    let transcript = Transcript {
        tokens: (10..20).collect(),
        generation: 3..10,
        end_token: END,
        control_tokens: vec![1, END],
        infills: vec![vec![FILLING; 2]; 3],
    };
    (transcript, Segments { prompt: vec![1..3, 6..8], generation: vec![3..5, 8..10] })
}

/// One layer, with or without attention.
pub fn config(attends: bool) -> Config {
    let recurrence = (!attends).then(|| Recurrence { taps: 3, layers: vec![true], delta_net: None });
    Config { recurrence, ..testing::config("llama", 1, 1, 4) }
}

impl FakeModel {
    pub fn new(attends: bool, losses: Losses) -> Self {
        Self { config: config(attends), losses, asked: Vec::new(), ranked: 0, base_tokens: 0, known_bases: Vec::new(), filled: Vec::new() }
    }

    /// An end token at position p costs the n-th generated token after it n * p / 4 nats. Another wrong token costs half of that. A blend
    /// with the end token costs its fraction.
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
        let ScoreRequest { tokens, targets, edits, passes, divergences, attended, top_tokens, .. } = request;
        self.asked.push(Asked { edits: edits.len(), passes: passes.len(), divergences: *divergences, attended: attended.to_vec() });
        self.ranked += usize::from(*top_tokens);
        self.base_tokens += request.base_length();
        let of_base = |place: fn(&Range<usize>) -> usize| -> Vec<f64> {
            (1..=targets.len()).flat_map(|n| attended.iter().map(move |range| (n * place(range)) as f64)).collect()
        };
        let read = |inputs: Vec<Input>| {
            let losses = (self.losses)(request, &inputs);
            let divergences = losses.iter().filter(|_| *divergences).map(|loss| 2.0 * loss).collect();
            Readout { log_probs: losses.iter().map(|loss| -loss).collect(), divergences, ..Readout::default() }
        };
        let (attention, flow) = (of_base(|range| range.start), of_base(|range| range.end));
        let base = Readout { attention, flow, ..read(request.inputs(&[])) };
        let ranked = |(&token, &log_prob): (&TokenId, &f64)| vec![RankedToken { token, log_prob }];
        let predicted = tokens[targets.clone()].iter().zip(&base.log_probs).filter(|_| *top_tokens);
        let base = Readout { top_tokens: predicted.map(ranked).collect(), ..base };
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
        self.filled.push((request.spans.to_vec(), request.forbidden.to_vec(), request.start_token));
        let infills = request.spans.iter().map(|span| vec![FILLING; span.len()]).collect();
        Ok(on_step.call(()).await.is_continue().then_some(infills))
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}
