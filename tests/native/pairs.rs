//! Pairs on models whose wiring is known: facts that are said twice, and facts that only help together.

use std::ops::ControlFlow;

use glasscage::attribution::measure::measure;
use glasscage::attribution::measured::{MeasureRequest, Measured, PairEffect};
use glasscage::attribution::{AttributionMethod, Segments, Transcript, method};
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Backend, Callback, Counters, InfillRequest, Infills, LanguageModel, LmError, OnReadout, Readout, ScoreRequest};
use glasscage::model::arch;
use glasscage::model::config::Config;
use glasscage::model::tokenizer::TokenId;

const END: TokenId = 2;
/// What a token loses, in nats, that has lost what it stands on.
const LOSS: f64 = 6.0;

/// A language model of three prompt sentences and two generated ones, of two tokens each: whether a token of the last one still has what
/// it stands on, given which of the four sentences before it are there.
struct WiredModel {
    config: Config,
    is_supported: fn(&[bool]) -> bool,
}

fn text() -> (Transcript, Segments) {
    let tokens = (0..11).map(|t| t + 10).collect();
    let transcript = Transcript { tokens, generation: 7..11, end_token: END, control_tokens: vec![END], infills: Vec::new() };
    (transcript, Segments { prompt: vec![1..3, 3..5, 5..7], generation: vec![7..9, 9..11] })
}

impl WiredModel {
    fn new(is_supported: fn(&[bool]) -> bool) -> Self {
        let config = Config {
            architecture: arch::by_name("llama").unwrap(),
            n_layers: 1,
            n_unused_layers: 0,
            dim: 4,
            ffn_dim: 4,
            n_heads: 1,
            n_kv_heads: 1,
            head_dim: 4,
            rotated_dim: 4,
            vocab_size: 100,
            context_length: 100,
            norm_epsilon: 1e-5,
            rope_base: 1e4,
            rope_scale: 1.0,
            unrotated_every: 0,
            window: None,
            recurrence: None,
            attention_scale: 0.5,
            residual_scale: 1.0,
            embedding_scale: 1.0,
            logit_scale: 1.0,
        };
        Self { config, is_supported }
    }

    fn log_probs(&self, tokens: &[TokenId]) -> Vec<f64> {
        let (_, segments) = text();
        let is_there: Vec<bool> = (0..4).map(|j| tokens[segments.source(j).start] != END).collect();
        let loss = if (self.is_supported)(&is_there) { 0.0 } else { LOSS };
        vec![-0.1, -0.1, -0.1 - loss, -0.1 - loss]
    }

    fn measured(mut self, method: &AttributionMethod) -> Measured {
        let (transcript, segments) = text();
        let methods = [method];
        let request = MeasureRequest::new(&methods, &transcript, &segments);
        pollster::block_on(measure(&mut self, &request, &mut async |_| ControlFlow::Continue(())))
    }
}

impl LanguageModel for WiredModel {
    fn config(&self) -> &Config {
        &self.config
    }

    fn backend(&self) -> Backend {
        Backend { name: "wired".into(), precision: "f64".into(), device: String::new() }
    }

    fn reset(&mut self, _: usize) {}

    async fn next_token(&mut self, _: &[TokenId], _: &mut Sampler) -> Result<TokenId, LmError> {
        Ok(END)
    }

    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        let read = |edits: &[_]| {
            let tokens: Vec<TokenId> = request.inputs(edits).iter().map(|input| input.token).collect();
            let flow = vec![1.0; request.targets.len() * request.attended.len()];
            Readout { log_probs: self.log_probs(&tokens), flow, ..Readout::default() }
        };
        let mut readouts = vec![read(&[])];
        readouts.extend(request.passes.iter().map(|pass| read(&pass.edits)));
        for (number, readout) in readouts.iter().enumerate() {
            if on_readout.call((number, readout)).await.is_break() {
                break;
            }
        }
        Ok(())
    }

    async fn infill(&mut self, _: &InfillRequest<'_>, _: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        Ok(None)
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// The shares of the four sources in the last sentence, and what pairs do.
fn shares(is_supported: fn(&[bool]) -> bool) -> (Vec<f64>, Vec<PairEffect>) {
    let measured = WiredModel::new(is_supported).measured(method("pairs").unwrap());
    let row: Vec<f64> = measured.tables[0].row(1).iter().map(|score| score.unwrap()).collect();
    let sum: f64 = row.iter().sum();
    (row.iter().map(|score| score / sum).collect(), measured.pairs.unwrap().effects)
}

fn assert_close(found: &[f64], expected: [f64; 4]) {
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{found:?} instead of {expected:?}");
}

#[test]
fn a_fact_that_is_said_twice_is_missed_alone_and_found_in_pairs() {
    let either = |is_there: &[bool]| is_there[0] || is_there[3];
    let alone = WiredModel::new(either).measured(method("pert").unwrap());
    assert!(alone.tables[0].row(1).iter().all(|score| score.unwrap() == 0.0));
    let (shares, effects) = shares(either);
    assert_close(&shares, [0.5, 0.0, 0.0, 0.5]);
    assert_eq!(effects.len(), 1);
    assert_eq!((effects[0].target, effects[0].sources), (1, [0, 3]));
    assert_eq!(effects[0].either_is_enough, [2, 3]);
    assert!(effects[0].only_together.is_empty());
}

#[test]
fn facts_that_only_help_together_share_equally() {
    let (shares, effects) = shares(|is_there| is_there[1] && is_there[2]);
    assert_close(&shares, [0.0, 0.5, 0.5, 0.0]);
    assert_eq!(effects.len(), 1);
    assert_eq!((effects[0].sources, effects[0].amount), ([1, 2], 0.0));
    assert_eq!(effects[0].only_together, [2, 3]);
}

/// The exact Shapley values of these games are 1/4 for each source.
#[test]
fn shares_are_shapley_values_where_two_copies_of_two_facts_are_needed() {
    let (shares, _) = shares(|is_there| (is_there[0] || is_there[3]) && (is_there[1] || is_there[2]));
    assert_close(&shares, [0.25; 4]);
}

#[test]
fn a_measurement_that_is_stopped_keeps_what_single_sources_do() {
    let (transcript, segments) = text();
    let mut model = WiredModel::new(|is_there| is_there[0]);
    let mut seen = 0;
    let method = [method("pairs").unwrap()];
    let mut on_progress = async |_| {
        seen += 1;
        if seen > 6 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let measured = pollster::block_on(measure(&mut model, &MeasureRequest::new(&method, &transcript, &segments), &mut on_progress));
    assert_eq!(measured.tables[0].n_unmeasured(), 0);
    assert_eq!(measured.tables[0].row(1)[0], Some(LOSS));
    assert_eq!(measured.pairs.unwrap().alone, measured.tables[0]);
}
