//! Pairs: measures each source alone, like Pert., and then two sources together.
//!
//! If the text states a fact twice, either copy can be blanked out without a loss, so neither has an effect alone. Let j and k be two
//! sources before a sentence. D is the mean drop of the sentence's log-probability, in nats per token, and g = min(1, exp(-D)) is the
//! remaining fraction of its probability.
//!
//! ```text
//! w = clamp(g(j) + g(k) - 1 - g(jk), 0, 1)            the part of the joint loss that the single losses do not explain
//! C = w * max(0, D(jk) - D(j) - D(k))                 counted only as far as the sentence was still likely
//! T[j] = max(0, D(j)) + 1/2 * sum over k of C(j, k)   D(j), also if negative, if j has no joint effect
//! ```
//!
//! The pass over the unchanged text also measures the information flow (`attribution/flow`), unless some layers of the model have no
//! attention. The graph weights the scores by this flow. The method is deterministic. `docs/research/pairs-trial.md` lists the
//! tested alternatives, `docs/pairs.md` the results.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use super::base_method::AttributionMethod;
use super::flow::flow_table;
use super::measured::{MeasureProgress, MeasureRequest, Measured, MeasuredColumn, MeasuredPairs, PairEffect};
use super::perturbation::{PERTURBATION, blank};
use super::transcript::{Segments, Transcript};
use glasscage_core::explanation::MethodId;
use glasscage_core::order::by_descending;
use glasscage_core::table::Table;
use glasscage_engine::lm::{Callback, Edit, LanguageModel, LmError, Pass, RankedToken, Readout, ScoreRequest};
use glasscage_model::tokenizer::TokenId;

pub const PAIRS: AttributionMethod = AttributionMethod { id: MethodId::Pairs, ..PERTURBATION };

/// Maximum number of pairs per source. It limits the total cost to about eight times that of the sources alone.
const MAX_PAIRS_PER_SOURCE: usize = 7;
/// No pairs are added beyond this total number of passes, because long texts, or texts by words, would take too long.
pub const MAX_PASSES: usize = 240;
/// A joint effect is described only for tokens that have at least this probability in the unchanged text, so at most two other tokens are
/// as likely. The ratio of two tiny probabilities does not show what makes a token likely.
const LIKELY: f64 = 1.0 / 3.0;
/// A token is still likely if its probability is at least `STILL_LIKELY` times the original one, and unlikely if it is at most `UNLIKELY`
/// times that.
const STILL_LIKELY: f64 = 0.5;
const UNLIKELY: f64 = 0.1;
/// A joint effect is described in words if it is at least this fraction of the effect of all sources on the sentence.
const MIN_REPORTED_FRACTION: f64 = 0.1;
/// Documents omit joint effects up to this fraction.
const MIN_KEPT_FRACTION: f64 = 0.01;

/// Measures all sources alone and then in pairs. `on_progress` may cancel. Unmeasured pairs count as pairs without a joint effect.
pub async fn measure_pairs(
    model: &mut impl LanguageModel,
    request: &MeasureRequest<'_>,
    on_progress: &mut dyn Callback<MeasureProgress>,
) -> Measured {
    let mut measurement = PairMeasurement::new(request);
    let failure = measurement.run(model, on_progress).await.err().filter(LmError::is_failure);
    let pairs = measurement.pairs();
    let base = Some(measurement.base).filter(|base| !base.is_empty());
    Measured { tables: vec![measurement.table], failure, base, top_tokens: measurement.top_tokens, pairs: Some(pairs) }
}

/// The pairs to measure, by the source that comes first in the text. If all pairs would cost too much, only those that share the most
/// words.
pub fn chosen_pairs(transcript: &Transcript, segments: &Segments) -> BTreeMap<usize, Vec<usize>> {
    let sources: Vec<usize> = segments.sources_with_tokens().collect();
    let most = (MAX_PAIRS_PER_SOURCE * sources.len()).min(MAX_PASSES.saturating_sub(sources.len()));
    let all = sources.iter().enumerate().flat_map(|(at, &j)| sources[at + 1..].iter().map(move |&k| (j, k)));
    let mut pairs: Vec<(usize, usize)> = if most > 0 { all.collect() } else { Vec::new() };
    if pairs.len() > most {
        let shared = shared_words(transcript, segments, &sources);
        pairs = by_descending(&pairs, |&(j, k)| shared(j, k));
        pairs.truncate(most);
        pairs.sort_unstable();
    }
    let mut by_first: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    pairs.into_iter().for_each(|(j, k)| by_first.entry(j).or_default().push(k));
    by_first
}

/// How many words two sources share. A token weighs more if fewer sources have it.
fn shared_words(transcript: &Transcript, segments: &Segments, sources: &[usize]) -> impl Fn(usize, usize) -> f64 {
    let tokens = |j: usize| transcript.tokens[segments.source(j).clone()].iter().copied().collect::<BTreeSet<TokenId>>();
    let tokens: BTreeMap<usize, BTreeSet<TokenId>> = sources.iter().map(|&j| (j, tokens(j))).collect();
    let mut uses: BTreeMap<TokenId, usize> = BTreeMap::new();
    tokens.values().flatten().for_each(|&token| *uses.entry(token).or_default() += 1);
    move |j, k| tokens[&j].intersection(&tokens[&k]).map(|token| 1.0 / uses[token] as f64).sum()
}

/// Number of passes that [`measure_pairs`] makes, base texts not counted.
pub fn n_passes(transcript: &Transcript, segments: &Segments) -> usize {
    segments.sources_with_tokens().count() + chosen_pairs(transcript, segments).values().map(Vec::len).sum::<usize>()
}

/// All pairs with the same first source.
struct PairsOfFirst {
    first: usize,
    others: Vec<usize>,
    /// Replaces the first source.
    edit: Edit,
    /// Replace one of the others each.
    passes: Vec<Pass>,
    /// Log-probabilities of the generated tokens without the first source.
    base: Option<Vec<f64>>,
}

struct PairMeasurement<'a> {
    transcript: &'a Transcript,
    segments: &'a Segments,
    /// Table by information flow in the unchanged text.
    flow: Option<Table>,
    /// Log-probabilities of the generated tokens in the unchanged text. `without` contains those without each source. Empty until measured.
    base: Vec<f64>,
    without: BTreeMap<usize, Vec<f64>>,
    wants_top_tokens: bool,
    /// The most likely tokens at each generated token of the unchanged text.
    top_tokens: Vec<Vec<RankedToken>>,
    /// Each effect with the part of the target's loss that either source alone causes, in nats per token.
    effects: Vec<(PairEffect, f64)>,
    table: Table,
    alone: Table,
    passes_done: usize,
}

impl<'a> PairMeasurement<'a> {
    fn new(&MeasureRequest { transcript, segments, top_tokens, .. }: &MeasureRequest<'a>) -> Self {
        let mut table = Table::unmeasured(segments.prompt.len(), segments.generation.len());
        for j in (0..segments.n_sources()).filter(|&j| segments.source(j).is_empty()) {
            table.set_column(j, &vec![0.0; segments.targets(j).len()]);
        }
        Self {
            transcript,
            segments,
            flow: None,
            base: Vec::new(),
            without: BTreeMap::new(),
            wants_top_tokens: top_tokens,
            top_tokens: Vec::new(),
            effects: Vec::new(),
            alone: table.clone(),
            table,
            passes_done: 0,
        }
    }

    async fn run(&mut self, model: &mut impl LanguageModel, on_progress: &mut dyn Callback<MeasureProgress>) -> Result<(), LmError> {
        if self.alone(model, on_progress).await?.is_continue() {
            self.together(model, on_progress).await?;
        }
        Ok(())
    }

    fn blank(&self, j: usize) -> Edit {
        blank(self.transcript, self.segments.source(j))
    }

    fn passes(&self, sources: &[usize]) -> Vec<Pass> {
        sources.iter().map(|&k| Pass { edits: vec![self.blank(k)] }).collect()
    }

    /// Scores one pass for each source, which gives the table of Pert.
    async fn alone(
        &mut self,
        model: &mut impl LanguageModel,
        on_progress: &mut dyn Callback<MeasureProgress>,
    ) -> Result<ControlFlow<()>, LmError> {
        let sources: Vec<usize> = self.segments.sources_with_tokens().collect();
        let passes = self.passes(&sources);
        let has_flow = model.config().attends_everywhere();
        let attended: Vec<Range<usize>> = sources.iter().filter(|_| has_flow).map(|&j| self.segments.source(j).clone()).collect();
        let scored = ScoreRequest::new(&self.transcript.tokens, self.transcript.generation.clone(), &passes);
        let mut go_on = ControlFlow::Continue(());
        let request = ScoreRequest { attended: &attended, top_tokens: self.wants_top_tokens, ..scored };
        let score = model.score(&request, async |number, readout| {
            go_on = match number.checked_sub(1) {
                None => self.take_base(readout, has_flow, on_progress).await,
                Some(pass) => self.take_alone(sources[pass], readout, on_progress).await,
            };
            go_on
        });
        score.await?;
        Ok(go_on)
    }

    /// Scores each pair. A request has all pairs with the same first source. Its base text, the text without that source, was a pass of
    /// [`Self::alone`].
    async fn together(&mut self, model: &mut impl LanguageModel, on_progress: &mut dyn Callback<MeasureProgress>) -> Result<(), LmError> {
        let of_first = |(first, others): (usize, Vec<usize>)| {
            let (edit, passes, base) = (self.blank(first), self.passes(&others), self.without.get(&first).cloned());
            PairsOfFirst { first, others, edit, passes, base }
        };
        let rounds: Vec<PairsOfFirst> = chosen_pairs(self.transcript, self.segments).into_iter().map(of_first).collect();
        let (transcript, generation) = (self.transcript, &self.transcript.generation);
        let request = rounds.iter().map(|PairsOfFirst { edit, passes, base, .. }| ScoreRequest {
            edits: std::slice::from_ref(edit),
            base_log_probs: base.as_deref(),
            ..ScoreRequest::new(&transcript.tokens, generation.clone(), passes)
        });
        let requests: Vec<ScoreRequest<'_>> = request.collect();
        let score = model.score_all(&requests, async |round, number, readout| {
            let PairsOfFirst { first, others, .. } = &rounds[round];
            let Some(pass) = number.checked_sub(1) else { return on_progress.call(MeasureProgress::Base { flow: None }).await };
            self.passes_done += 1;
            self.observe([*first, others[pass]], &readout.log_probs);
            on_progress.call(MeasureProgress::Pass { done: self.passes_done }).await?;
            if pass + 1 < others.len() {
                ControlFlow::Continue(())
            } else {
                self.report([first].into_iter().chain(others), on_progress).await
            }
        });
        score.await
    }

    /// Processes the readout of the unchanged text.
    async fn take_base(&mut self, readout: &Readout, has_flow: bool, on_progress: &mut dyn Callback<MeasureProgress>) -> ControlFlow<()> {
        self.base.clone_from(&readout.log_probs);
        self.top_tokens.clone_from(&readout.top_tokens);
        self.flow = has_flow.then(|| flow_table(self.transcript, self.segments, &readout.flow));
        on_progress.call(MeasureProgress::Base { flow: self.flow.clone() }).await
    }

    /// Processes the readout of the text without `source`.
    async fn take_alone(&mut self, source: usize, readout: &Readout, on_progress: &mut dyn Callback<MeasureProgress>) -> ControlFlow<()> {
        self.passes_done += 1;
        self.without.insert(source, readout.log_probs.clone());
        let scores = self.segments.column(source, |target| self.drop(target, &readout.log_probs));
        self.table.set_column(source, &scores);
        self.alone.set_column(source, &scores);
        on_progress.call(MeasureProgress::Column(MeasuredColumn { source, scores: vec![scores], done: self.passes_done })).await
    }

    /// Reports the changed columns.
    async fn report(&self, sources: impl Iterator<Item = &usize>, on_progress: &mut dyn Callback<MeasureProgress>) -> ControlFlow<()> {
        for &source in sources {
            let scores = self.table.rows_after(source).map(|i| self.table.row(i)[source].unwrap_or(0.0)).collect();
            on_progress.call(MeasureProgress::Column(MeasuredColumn { source, scores: vec![scores], done: self.passes_done })).await?;
        }
        ControlFlow::Continue(())
    }

    /// The target's tokens, counted from the start of the generation.
    fn tokens(&self, target: &Range<usize>) -> Range<usize> {
        let start = self.transcript.generation.start;
        target.start - start..target.end - start
    }

    /// D: the mean drop of a sentence's log-probability, in nats per token.
    fn drop(&self, target: &Range<usize>, log_probs: &[f64]) -> f64 {
        let tokens = self.tokens(target);
        tokens.clone().map(|t| self.base[t] - log_probs[t]).sum::<f64>() / tokens.len().max(1) as f64
    }

    /// Adds the joint effects of two sources on the sentences after both. `both`: log-probabilities without the two sources.
    fn observe(&mut self, sources: [usize; 2], both: &[f64]) {
        let segments = self.segments;
        let first_row = sources.map(|source| segments.first_row(source)).into_iter().max().unwrap_or(0);
        for (i, target) in segments.generation.iter().enumerate().skip(first_row) {
            if sources.iter().any(|&source| segments.is_after(source, i)) {
                continue;
            }
            let alone = sources.map(|source| self.drop(target, &self.without[&source]));
            let amount = joint_effect(alone, self.drop(target, both));
            let [a, b] = sources.map(|source| &self.without[&source]);
            let left = |log_probs: &[f64], t: usize| (log_probs[t] - self.base[t]).exp();
            let tokens = self.tokens(target);
            let likely = || tokens.clone().filter(|&t| self.base[t].exp() >= LIKELY);
            let either = |t: &usize| left(a, *t) >= STILL_LIKELY && left(b, *t) >= STILL_LIKELY && left(both, *t) <= UNLIKELY;
            let together = |t: &usize| left(a, *t) <= UNLIKELY && left(b, *t) <= UNLIKELY;
            let lost = |log_probs: &[f64], t: usize| (self.base[t] - log_probs[t]).max(0.0);
            let needed_by_both = tokens.clone().map(|t| lost(a, t).min(lost(b, t))).sum::<f64>() / tokens.len().max(1) as f64;
            let effect = PairEffect {
                target: i,
                sources: [sources[0].min(sources[1]), sources[0].max(sources[1])],
                amount,
                either_is_enough: likely().filter(either).collect(),
                only_together: likely().filter(together).collect(),
            };
            for source in sources.into_iter().filter(|_| amount > 0.0) {
                let cell = &mut self.table.row_mut(effect.target)[source];
                *cell = cell.map(|score| score.max(0.0) + amount / 2.0);
            }
            if amount > 0.0 || !effect.only_together.is_empty() {
                self.effects.push((effect, needed_by_both));
            }
        }
    }

    /// The joint effects that are large enough for documents. Removes the tokens of those too small to be described.
    fn pairs(&mut self) -> MeasuredPairs {
        let row_sum = |target: usize| self.table.row(target).iter().flatten().map(|score| score.max(0.0)).sum::<f64>();
        let reported = |(mut effect, needed_by_both): (PairEffect, f64)| {
            let sum = row_sum(effect.target);
            if effect.amount < MIN_REPORTED_FRACTION * sum {
                effect.either_is_enough.clear();
            }
            if needed_by_both < MIN_REPORTED_FRACTION * sum {
                effect.only_together.clear();
            }
            (effect.amount > MIN_KEPT_FRACTION * sum || !effect.only_together.is_empty()).then_some(effect)
        };
        let effects = std::mem::take(&mut self.effects).into_iter().filter_map(reported).collect();
        MeasuredPairs { alone: self.alone.clone(), effects, flow: self.flow.take() }
    }
}

/// C: the loss of both sources beyond the two single losses, in nats per token, as far as the sentence was still likely.
fn joint_effect([a, b]: [f64; 2], both: f64) -> f64 {
    let left = |drop: f64| (-drop).exp().min(1.0);
    let weight = (left(a) + left(b) - 1.0 - left(both)).clamp(0.0, 1.0);
    weight * (both - a - b).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(n_prompt: usize, n_generated: usize) -> (Transcript, Segments) {
        let n = n_prompt + n_generated;
        let tokens: Vec<TokenId> = (0..2 * n as u32 + 1).collect();
        let sentences: Vec<Range<usize>> = (0..n).map(|j| 2 * j + 1..2 * j + 3).collect();
        let (prompt, generation) = sentences.split_at(n_prompt);
        let transcript = Transcript {
            generation: generation[0].start..tokens.len(),
            tokens,
            end_token: 0,
            control_tokens: Vec::new(),
            infills: Vec::new(),
        };
        (transcript, Segments { prompt: prompt.to_vec(), generation: generation.to_vec() })
    }

    #[test]
    fn joint_effect_ignores_already_lost_sentences() {
        assert!((joint_effect([0.0, 0.0], 5.0) - 5.0 * (1.0 - (-5.0_f64).exp())).abs() < 1e-12);
        assert!(joint_effect([5.0, 0.0], 9.0) < 0.03);
        assert_eq!(joint_effect([5.0, 5.0], 6.0), 0.0);
        assert_eq!(joint_effect([0.5, 0.5], 0.9), 0.0);
        assert_eq!(joint_effect([-0.5, -0.1], -0.6), 0.0);
        let weight = (-0.2_f64).exp() + (-0.1_f64).exp() - 1.0 - (-3.0_f64).exp();
        assert!((joint_effect([0.2, 0.1], 3.0) - weight * 2.7).abs() < 1e-12);
    }

    #[test]
    fn many_sources_limit_pairs_to_shared_words() {
        let (transcript, segments) = text(3, 2);
        let pairs = chosen_pairs(&transcript, &segments);
        assert_eq!(pairs.values().map(Vec::len).sum::<usize>(), 6);
        assert_eq!(n_passes(&transcript, &segments), 4 + 6);
        let (mut transcript, segments) = text(20, 2);
        let n = segments.n_sources();
        // Sources 2 and 17 have the same tokens.
        let copied = transcript.tokens[segments.source(2).clone()].to_vec();
        transcript.tokens[segments.source(17).clone()].copy_from_slice(&copied);
        let pairs = chosen_pairs(&transcript, &segments);
        assert_eq!(pairs.values().map(Vec::len).sum::<usize>(), MAX_PAIRS_PER_SOURCE * n);
        assert!(pairs[&2].contains(&17));
        assert!(pairs.iter().all(|(j, others)| others.iter().all(|k| k > j)));
        let passes = |n: usize| {
            let (transcript, segments) = text(n, 2);
            [segments.n_sources(), n_passes(&transcript, &segments)]
        };
        assert_eq!(passes(100), [101, MAX_PASSES]);
        assert_eq!(passes(300), [301, 301]);
    }

    #[test]
    fn a_word_that_few_sources_have_says_more() {
        let (mut transcript, segments) = text(3, 2);
        transcript.tokens = vec![0, 1, 7, 1, 7, 1, 8, 1, 5, 1, 6];
        let shared = shared_words(&transcript, &segments, &[0, 1, 2, 3]);
        assert_eq!([shared(0, 1), shared(0, 2)], [0.25 + 0.5, 0.25]);
    }

    /// Two sources before a generated sentence of five tokens. Each token has a loss without the first source, without the second, and
    /// without both.
    #[test]
    fn pairs_list_tokens_needing_either_or_both() {
        let transcript =
            Transcript { tokens: (0..9).collect(), generation: 3..9, end_token: 0, control_tokens: Vec::new(), infills: Vec::new() };
        let segments = Segments { prompt: vec![1..2, 2..3], generation: vec![3..4, 4..9] };
        let losses = [[0.0; 3], [0.1, 0.2, 3.0], [0.1, 3.0, 3.5], [3.0, 0.1, 3.5], [0.1, 0.2, 0.4], [3.0, 3.5, 5.0]];
        let left = |which: usize| losses.iter().map(|of_token| -1.0 - of_token[which]).collect::<Vec<f64>>();
        let reported = |scores: [f64; 3]| {
            let mut measurement = PairMeasurement::new(&MeasureRequest::new(&[&PAIRS], &transcript, &segments));
            measurement.base = vec![-1.0; 6];
            measurement.without = BTreeMap::from([(0, left(0)), (1, left(1))]);
            measurement.table = Table::from_fn(2, 2, |_, j| Some(scores[j]));
            measurement.observe([0, 1], &left(2));
            let [(effect, needed_by_both)] = &measurement.effects[..] else { panic!("one sentence loses something") };
            assert_eq!((effect.target, effect.amount, &effect.either_is_enough[..]), (1, 0.0, &[1][..]));
            assert!((needed_by_both - 3.4 / 5.0).abs() < 1e-9);
            measurement.pairs().effects
        };
        let needed = PairEffect { target: 1, sources: [0, 1], amount: 0.0, either_is_enough: Vec::new(), only_together: vec![5] };
        assert_eq!(reported([1.25, 1.5, 0.5]), [needed]);
        assert_eq!(reported([12.5, 15.0, 5.0]), [], "next to what the others do it is too small to report");
    }

    /// Three sources before two sentences of one token each. Either of the first two sources is enough for the second sentence.
    #[test]
    fn joint_effect_is_split_equally_between_sources() {
        let (transcript, segments) = (
            Transcript { tokens: (0..6).collect(), generation: 4..6, end_token: 0, control_tokens: Vec::new(), infills: Vec::new() },
            Segments { prompt: vec![1..2, 2..3, 3..4], generation: vec![4..5, 5..6] },
        );
        let mut measurement = PairMeasurement::new(&MeasureRequest::new(&[&PAIRS], &transcript, &segments));
        measurement.base = vec![-1.0; 2];
        measurement.without = BTreeMap::from([(0, vec![-0.5, -1.0]), (1, vec![-1.0, -0.75])]);
        measurement.table = Table::from_fn(3, 2, |i, j| Some([[-0.5, 0.0, 0.25, 0.0], [0.0, -0.25, 0.25, 0.5]][i][j]));
        measurement.observe([0, 1], &[-0.5, -4.0]);
        // Without the second source the sentence is 0.25 nats likelier. Its remaining probability is limited to 1.
        let amount = (1.0 - (-3.0_f64).exp()) * 3.25;
        assert!((measurement.effects[0].0.amount - amount).abs() < 1e-12);
        assert_eq!(measurement.effects.len(), 1, "the first sentence loses nothing by both");
        let row = |scores: &[f64]| scores.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(measurement.table.row(0), row(&[-0.5, 0.0, 0.25]));
        for (score, expected) in measurement.table.row(1).iter().zip([amount / 2.0, amount / 2.0, 0.25, 0.5]) {
            assert!((score.expect("it is measured") - expected).abs() < 1e-12, "{score:?} instead of {expected}");
        }
    }

    #[test]
    fn small_pair_effects_lose_tokens_or_are_dropped() {
        let (transcript, segments) = text(2, 1);
        let reported = |amount: f64, needed_by_both: f64| {
            let mut measurement = PairMeasurement::new(&MeasureRequest::new(&[&PAIRS], &transcript, &segments));
            // Negative scores do not count.
            measurement.table = Table::from_fn(2, 1, |_, j| Some([100.0, -50.0][j]));
            let effect = PairEffect { target: 0, sources: [0, 1], amount, either_is_enough: vec![0], only_together: vec![1] };
            measurement.effects = vec![(effect, needed_by_both)];
            let effects = measurement.pairs().effects;
            effects.first().map(|effect| [!effect.either_is_enough.is_empty(), !effect.only_together.is_empty()])
        };
        assert_eq!(reported(10.0, 10.0), Some([true, true]));
        assert_eq!(reported(9.9, 10.0), Some([false, true]));
        assert_eq!(reported(10.0, 9.9), Some([true, false]));
        assert_eq!(reported(1.1, 0.0), Some([false, false]));
        assert_eq!(reported(1.0, 0.0), None);
        assert_eq!(reported(0.0, 10.0), Some([false, true]));
    }
}
