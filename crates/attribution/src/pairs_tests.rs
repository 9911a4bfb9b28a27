//! Tests Pairs on models with known dependencies: facts that are stated twice, and facts that only help together.

use std::ops::ControlFlow;

use super::fake_model::{END, FakeModel, interleaved};
use super::measure::measure;
use super::measured::{MeasureRequest, Measured, PairEffect};
use super::{Segments, Transcript, method};
use glasscage_core::explanation::MethodId;
use glasscage_engine::lm::{Input, ScoreRequest};

/// Loss in nats of a token without the evidence that it depends on.
const LOSS: f64 = 6.0;

/// Three prompt sentences and two generated ones, of two tokens each.
fn text() -> (Transcript, Segments) {
    let tokens = (0..11).map(|t| t + 10).collect();
    let transcript = Transcript { tokens, generation: 7..11, end_token: END, control_tokens: vec![END], infills: Vec::new() };
    (transcript, Segments { prompt: vec![1..3, 3..5, 5..7], generation: vec![7..9, 9..11] })
}

/// A model whose last sentence depends on the four sentences before it. `is_supported` gets which of them are present, and returns whether
/// the evidence is complete.
fn wired(is_supported: fn(&[bool]) -> bool) -> FakeModel {
    wired_with(0.1, is_supported)
}

/// Like [`wired`]. `least` is the loss in nats of each token with the complete evidence.
fn wired_with(least: f64, is_supported: fn(&[bool]) -> bool) -> FakeModel {
    let (_, segments) = text();
    FakeModel::new(
        true,
        Box::new(move |_, inputs| {
            let is_there: Vec<bool> = (0..4).map(|j| inputs[segments.source(j).start].token != END).collect();
            let loss = if is_supported(&is_there) { 0.0 } else { LOSS };
            vec![least, least, least + loss, least + loss]
        }),
    )
}

fn measured(is_supported: fn(&[bool]) -> bool, id: MethodId) -> Measured {
    measured_by(&mut wired(is_supported), id)
}

fn measured_by(model: &mut FakeModel, id: MethodId) -> Measured {
    let (transcript, segments) = text();
    let methods = [method(id)];
    let request = MeasureRequest::new(&methods, &transcript, &segments);
    pollster::block_on(measure(model, &request, &mut async |_| ControlFlow::Continue(())))
}

/// Shares of the four sources in the last sentence, and the joint effects.
fn shares(is_supported: fn(&[bool]) -> bool) -> (Vec<f64>, Vec<PairEffect>) {
    let measured = measured(is_supported, MethodId::Pairs);
    let row: Vec<f64> = measured.tables[0].row(1).iter().map(|score| score.unwrap()).collect();
    let sum: f64 = row.iter().sum();
    (row.iter().map(|score| score / sum).collect(), measured.pairs.unwrap().effects)
}

fn assert_close(found: &[f64], expected: [f64; 4]) {
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{found:?} instead of {expected:?}");
}

#[test]
fn pairs_find_repeated_fact_missed_alone() {
    let either = |is_there: &[bool]| is_there[0] || is_there[3];
    let alone = measured(either, MethodId::Perturbation);
    assert!(alone.tables[0].row(1).iter().all(|score| score.unwrap() == 0.0));
    let (shares, effects) = shares(either);
    assert_close(&shares, [0.5, 0.0, 0.0, 0.5]);
    assert_eq!(effects.len(), 1);
    assert_eq!((effects[0].target, effects[0].sources), (1, [0, 3]));
    assert_eq!(effects[0].either_is_enough, [2, 3]);
    assert!(effects[0].only_together.is_empty());
}

#[test]
fn pairs_have_no_effect_before_either_source() {
    let (transcript, segments) = interleaved();
    // Either prompt sentence is enough for the last token of the text. The first one is also needed for the sentence between them.
    let losses = |_: &ScoreRequest<'_>, inputs: &[Input]| {
        let is_there = [1, 6].map(|start: usize| inputs[start].token != END);
        let first = if is_there[0] { 0.0 } else { LOSS };
        let last = if is_there[0] || is_there[1] { 0.0 } else { LOSS };
        vec![0.1, 0.1 + first, 0.0, 0.0, 0.0, 0.1, 0.1 + last]
    };
    let methods = [method(MethodId::Pairs)];
    let request = MeasureRequest::new(&methods, &transcript, &segments);
    let mut model = FakeModel::new(true, Box::new(losses));
    let measured = pollster::block_on(measure(&mut model, &request, &mut async |_| ControlFlow::Continue(())));
    let effects = measured.pairs.unwrap().effects;
    assert_eq!(effects.iter().map(|effect| (effect.target, effect.sources)).collect::<Vec<_>>(), [(1, [0, 1])]);
    assert_eq!(effects[0].either_is_enough, [6]);
    assert_eq!(measured.tables[0].row(0), [Some(LOSS / 2.0), Some(0.0)]);
    let last = measured.tables[0].row(1);
    assert!(last[0] == last[1] && last[0] > Some(1.0) && last[2] == Some(0.0), "{last:?}");
}

#[test]
fn facts_that_only_help_together_share_equally() {
    let (shares, effects) = shares(|is_there| is_there[1] && is_there[2]);
    assert_close(&shares, [0.0, 0.5, 0.5, 0.0]);
    assert_eq!(effects.len(), 1);
    assert_eq!((effects[0].sources, effects[0].amount), ([1, 2], 0.0));
    assert_eq!(effects[0].only_together, [2, 3]);
}

#[test]
fn joint_effect_on_unlikely_words_is_not_described() {
    let games: [fn(&[bool]) -> bool; 2] = [|is_there| is_there[0] || is_there[3], |is_there| is_there[1] && is_there[2]];
    let described = |least: f64, game| {
        let effects = measured_by(&mut wired_with(least, game), MethodId::Pairs).pairs.unwrap().effects;
        let n_tokens: usize = effects.iter().map(|effect| effect.either_is_enough.len() + effect.only_together.len()).sum();
        (effects.iter().any(|effect| effect.amount > 0.0), n_tokens)
    };
    for least in [1.0, 1.2, 5.0] {
        let n_tokens = if least == 1.0 { 2 } else { 0 };
        assert_eq!(games.map(|game| described(least, game)), [(true, n_tokens), (false, n_tokens)], "a loss of {least} nats");
    }
}

/// The exact Shapley values of these games are 1/4 for each source.
#[test]
fn pair_shares_match_shapley_values_for_copies() {
    let (shares, _) = shares(|is_there| (is_there[0] || is_there[3]) && (is_there[1] || is_there[2]));
    assert_close(&shares, [0.25; 4]);
}

#[test]
fn pair_rounds_reuse_measured_base_texts() {
    let (transcript, segments) = text();
    let mut model = FakeModel::additive(true);
    let methods = [method(MethodId::Pairs)];
    let request = MeasureRequest::new(&methods, &transcript, &segments);
    pollster::block_on(measure(&mut model, &request, &mut async |_| ControlFlow::Continue(())));
    // Four sources: the unchanged text, then three rounds, each without one source.
    assert_eq!(model.asked.iter().map(|asked| (asked.edits, asked.passes)).collect::<Vec<_>>(), [(0, 4), (1, 3), (1, 2), (1, 1)]);
    assert_eq!(model.known_bases.len(), 3);
    for (known, computed) in &model.known_bases {
        assert_eq!(known, computed);
    }
    // First all ten tokens before the last one. Then each round reads up to the last source, which begins at token 7.
    assert_eq!(model.base_tokens, 10 + 3 * 7);
}

#[test]
fn a_measurement_that_is_stopped_keeps_what_single_sources_do() {
    let (transcript, segments) = text();
    let mut model = wired(|is_there| is_there[0]);
    let mut seen = 0;
    let method = [method(MethodId::Pairs)];
    let mut on_progress = async |_| {
        seen += 1;
        if seen > 6 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let measured = pollster::block_on(measure(&mut model, &MeasureRequest::new(&method, &transcript, &segments), &mut on_progress));
    assert_eq!(measured.tables[0].n_unmeasured(), 0);
    assert_eq!(measured.tables[0].row(1)[0], Some(LOSS));
    assert_eq!(measured.pairs.unwrap().alone, measured.tables[0]);
}
