//! Turns a plan into tables. Scores each pass once, for all targets together.

use std::ops::{ControlFlow, Range};

use super::base_method::{AttributionMethod, Observation};
use super::flow::flow_table;
use super::measured::{MeasureProgress, MeasureRequest, Measured, MeasuredColumn};
use super::pairs::{self, measure_pairs};
use super::plan;
use super::round::{PlanInput, Round};
use super::transcript::{Segments, Transcript};
use glasscage_core::explanation::{Replacement, ScoredTexts};
use glasscage_core::table::Table;
use glasscage_engine::lm::{
    Callback, InfillRequest, Infills, LanguageModel, LmError, Pass, RankedToken, Readout, ScoreRequest, score_base,
};
use glasscage_message::message;

/// Measures the table **T** of a text by each of the methods. `on_progress` may cancel; unmeasured cells stay `None`. Sources without
/// tokens have no passes and score 0.
pub async fn measure(
    model: &mut impl LanguageModel,
    request: &MeasureRequest<'_>,
    on_progress: &mut dyn Callback<MeasureProgress>,
) -> Measured {
    if request.methods[0].text().measures_pairs() {
        return measure_pairs(model, request, on_progress).await;
    }
    measure_columns(model, request, 0..request.segments.n_sources(), on_progress).await
}

/// Like [`measure`], but only for the sources `columns` and without pairs. The other cells stay `None`.
pub async fn measure_columns(
    model: &mut impl LanguageModel,
    request: &MeasureRequest<'_>,
    columns: Range<usize>,
    on_progress: &mut dyn Callback<MeasureProgress>,
) -> Measured {
    let MeasureRequest { methods, transcript, segments, flow_first, top_tokens } = *request;
    let flow_first = flow_first && model.config().attends_everywhere();
    debug_assert!(methods.iter().all(|method| method.shares_passes_with(methods[0])), "methods of one run share their passes");
    let (numbers, without_tokens): (Vec<usize>, Vec<usize>) = columns.partition(|&j| !segments.source(j).is_empty());
    let numbers: Vec<usize> = segments.in_order(numbers).collect();
    let mut measurement = Measurement {
        methods,
        transcript,
        segments,
        flow_first,
        wants_top_tokens: top_tokens,
        sources: numbers.iter().map(|&j| segments.source(j).clone()).collect(),
        effects: vec![vec![vec![0.0; transcript.generation.len()]; methods.len()]; numbers.len()],
        numbers,
        n_rounds: 0,
        rounds_done: 0,
        attended: Readout::default(),
        base: None,
        top_tokens: Vec::new(),
        passes_done: 0,
        tables: vec![Table::unmeasured(segments.prompt.len(), segments.generation.len()); methods.len()],
    };
    for j in without_tokens {
        measurement.tables.iter_mut().for_each(|table| table.set_column(j, &vec![0.0; segments.targets(j).len()]));
    }
    let failure = match methods.iter().try_for_each(|method| method.check_model(model.config())) {
        Ok(()) => measurement.all_rounds(model, on_progress).await.err().filter(LmError::is_failure),
        Err(unsuitable) => Some(unsuitable),
    };
    let Measurement { tables, base, top_tokens, .. } = measurement;
    Measured { tables, failure, base, top_tokens, pairs: None }
}

/// Number of passes that [`measure`] makes by this method, base texts not counted.
pub fn n_passes(method: &AttributionMethod, transcript: &Transcript, segments: &Segments) -> usize {
    if method.text().measures_pairs() {
        return pairs::n_passes(transcript, segments);
    }
    method.text().passes() * segments.sources_with_tokens().count()
}

/// A measurement in progress.
struct Measurement<'a> {
    methods: &'a [&'a AttributionMethod],
    transcript: &'a Transcript,
    segments: &'a Segments,
    flow_first: bool,
    wants_top_tokens: bool,
    /// Numbers of the sources with tokens, in the order of the text. `sources` contains their tokens.
    numbers: Vec<usize>,
    sources: Vec<Range<usize>>,
    n_rounds: usize,
    rounds_done: usize,
    /// Sums over rounds, `[sources with tokens, methods, generated tokens]`.
    effects: Vec<Vec<Vec<f64>>>,
    /// Attention and flow of the unchanged text, `[generated tokens, sources]`. Empty if nothing reads them.
    attended: Readout,
    /// Log-probabilities of the generated tokens in the unchanged text.
    base: Option<Vec<f64>>,
    /// The most likely tokens at each generated token of the unchanged text.
    top_tokens: Vec<Vec<RankedToken>>,
    passes_done: usize,
    tables: Vec<Table>,
}

impl Measurement<'_> {
    async fn all_rounds(&mut self, model: &mut impl LanguageModel, on_progress: &mut dyn Callback<MeasureProgress>) -> Result<(), LmError> {
        let Some(infills) = self.infills(model, on_progress).await? else { return Ok(()) };
        let input = PlanInput { transcript: self.transcript, segments: self.segments, sources: &self.sources, infills: &infills };
        let rounds = plan::rounds(self.methods[0].scored_texts(), &input);
        self.n_rounds = rounds.len();
        if self.reads_attention() && rounds.iter().all(|round| !round.edits.is_empty()) {
            self.read_attention(model).await?;
            if self.flow_first && on_progress.call(MeasureProgress::Base { flow: Some(self.flow()) }).await.is_break() {
                return Ok(());
            }
        }
        for round in &rounds {
            if self.round(model, round, on_progress).await?.is_break() {
                break;
            }
            self.rounds_done += 1;
        }
        Ok(())
    }

    /// Replacement texts of the sources. Empty if the method does not replace text by text; `None` if `on_progress` cancels.
    async fn infills(
        &self,
        model: &mut impl LanguageModel,
        on_progress: &mut dyn Callback<MeasureProgress>,
    ) -> Result<Option<Infills>, LmError> {
        let Transcript { tokens, end_token, control_tokens, infills, .. } = self.transcript;
        match self.methods[0].scored_texts() {
            ScoredTexts::WithoutEach(Replacement::Infill) => {
                let request = InfillRequest { tokens, spans: &self.sources, forbidden: control_tokens, ends: &[], start_token: *end_token };
                model.infill(&request, &mut async |()| on_progress.call(MeasureProgress::Pass { done: 0 }).await).await
            }
            ScoredTexts::WithoutEach(Replacement::MaskedLm) => {
                let infills = self.numbers.iter().map(|&j| infills.get(j).cloned()).collect::<Option<Infills>>();
                infills.map(Some).ok_or_else(|| LmError::Engine(message!("no masked language model has filled the gaps")))
            }
            _ => Ok(Some(Vec::new())),
        }
    }

    fn reads_attention(&self) -> bool {
        self.flow_first || self.methods.iter().any(|method| method.attention)
    }

    fn flow(&self) -> Table {
        flow_table(self.transcript, self.segments, &self.attended.flow)
    }

    /// Reads attention in the unchanged text. Needed if no round has it as its base text.
    async fn read_attention(&mut self, model: &mut impl LanguageModel) -> Result<(), LmError> {
        let Transcript { tokens, generation, .. } = self.transcript;
        let scored = ScoreRequest::new(tokens, generation.clone(), &[]);
        let request = ScoreRequest { attended: &self.sources, top_tokens: self.wants_top_tokens, ..scored };
        self.attended = score_base(model, &request).await?;
        self.base = Some(self.attended.log_probs.clone());
        self.top_tokens = std::mem::take(&mut self.attended.top_tokens);
        Ok(())
    }

    /// Scores one round. The last round completes the tables.
    async fn round(
        &mut self,
        model: &mut impl LanguageModel,
        round: &Round,
        on_progress: &mut dyn Callback<MeasureProgress>,
    ) -> Result<ControlFlow<()>, LmError> {
        let passes: Vec<Pass> = round.passes.iter().flatten().cloned().collect();
        let sources = self.sources.clone();
        let reads_attention = round.edits.is_empty() && self.reads_attention();
        let request = ScoreRequest {
            edits: &round.edits,
            divergences: self.methods.iter().any(|method| method.divergences),
            attended: if reads_attention { &sources } else { &[] },
            top_tokens: self.wants_top_tokens && round.edits.is_empty() && self.top_tokens.is_empty(),
            ..ScoreRequest::new(&self.transcript.tokens, self.transcript.generation.clone(), &passes)
        };
        // The source that each pass belongs to.
        let owners: Vec<usize> = round.passes.iter().enumerate().flat_map(|(k, passes)| passes.iter().map(move |_| k)).collect();
        let (mut base, mut of_source, mut go_on) = (None, Vec::new(), ControlFlow::Continue(()));
        let score = model.score(&request, async |number, readout| {
            let Some(base) = &base else {
                base = Some(readout.clone());
                go_on = self.take_base(round, readout, reads_attention, on_progress).await;
                return go_on;
            };
            of_source.push(readout.clone());
            self.passes_done += 1;
            let k = owners[number - 1];
            go_on = if of_source.len() == round.passes[k].len() {
                self.observe(k, base, &std::mem::take(&mut of_source), on_progress).await
            } else {
                on_progress.call(MeasureProgress::Pass { done: self.passes_done }).await
            };
            go_on
        });
        score.await?;
        Ok(go_on)
    }

    /// Processes the scores of a round's base text. They complete sources without passes.
    async fn take_base(
        &mut self,
        round: &Round,
        base: &Readout,
        reads_attention: bool,
        on_progress: &mut dyn Callback<MeasureProgress>,
    ) -> ControlFlow<()> {
        if reads_attention {
            self.attended = base.clone();
        }
        if round.edits.is_empty() {
            self.base = Some(base.log_probs.clone());
            if !base.top_tokens.is_empty() {
                self.top_tokens.clone_from(&base.top_tokens);
            }
        }
        let flow = (self.flow_first && reads_attention).then(|| self.flow());
        let mut go_on = on_progress.call(MeasureProgress::Base { flow }).await;
        for k in (0..round.passes.len()).filter(|&k| round.passes[k].is_empty()) {
            if go_on.is_continue() {
                go_on = self.observe(k, base, &[], on_progress).await;
            }
        }
        go_on
    }

    /// Processes the readouts of a source's passes in this round.
    async fn observe(
        &mut self,
        k: usize,
        base: &Readout,
        passes: &[Readout],
        on_progress: &mut dyn Callback<MeasureProgress>,
    ) -> ControlFlow<()> {
        let (source, segments, start) = (self.numbers[k], self.segments, self.transcript.generation.start);
        let of_source = |all: &[f64]| all.iter().skip(k).step_by(self.sources.len()).copied().collect::<Vec<f64>>();
        let (attention, flow) = (of_source(&self.attended.attention), of_source(&self.attended.flow));
        let observation = Observation { base, passes, attention: &attention, flow: &flow, length: self.sources[k].len() };
        let first = segments.targets(source).first().map_or(self.transcript.generation.len(), |target| target.start - start);
        for (method, effects) in self.methods.iter().zip(&mut self.effects[k]) {
            effects.iter_mut().enumerate().skip(first).for_each(|(t, sum)| *sum += (method.effect)(&observation, t));
        }
        if self.rounds_done + 1 < self.n_rounds {
            return on_progress.call(MeasureProgress::Pass { done: self.passes_done }).await;
        }
        let scores: Vec<Vec<f64>> = self.effects[k].iter().map(|effects| self.scores(source, effects)).collect();
        self.tables.iter_mut().zip(&scores).for_each(|(table, scores)| table.set_column(source, scores));
        on_progress.call(MeasureProgress::Column(MeasuredColumn { source, scores, done: self.passes_done })).await
    }

    /// The mean effect over all rounds and over the tokens of each sentence of the column of `source`.
    fn scores(&self, source: usize, effects: &[f64]) -> Vec<f64> {
        let start = self.transcript.generation.start;
        let mean = |target: &Range<usize>| {
            effects[target.start - start..target.end - start].iter().sum::<f64>() / (self.n_rounds * target.len().max(1)) as f64
        };
        self.segments.column(source, mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_model::{Asked, END, FakeModel, interleaved, text};
    use crate::method;
    use glasscage_core::explanation::MethodId;

    /// Progress of a measurement, reduced to the numbers of sources and passes.
    #[derive(Clone, Debug, PartialEq)]
    enum Reported {
        Base { with_flow: bool },
        Pass(usize),
        Column(usize, usize),
    }

    /// Measures by these methods on a model with or without attention. Cancels at event `last` (0-based).
    fn measured(ids: &[MethodId], flow_first: bool, attends: bool, last: usize) -> (Measured, Vec<Reported>, Vec<Asked>) {
        let (transcript, segments) = text();
        let methods: Vec<&AttributionMethod> = ids.iter().map(|&id| method(id)).collect();
        let mut reported = Vec::new();
        let mut on_progress = async |progress| {
            reported.push(match progress {
                MeasureProgress::Base { flow } => Reported::Base { with_flow: flow.is_some() },
                MeasureProgress::Pass { done } => Reported::Pass(done),
                MeasureProgress::Column(column) => Reported::Column(column.source, column.done),
            });
            if reported.len() > last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let request = MeasureRequest { flow_first, ..MeasureRequest::new(&methods, &transcript, &segments) };
        let mut model = FakeModel::additive(attends);
        let measured = pollster::block_on(measure(&mut model, &request, &mut on_progress));
        (measured, reported, model.asked)
    }

    fn assert_near(table: &Table, expected: [&[f64]; 2], what: &str) {
        for (row, expected) in table.rows().zip(expected) {
            let is_near = |(score, expected): (&Option<f64>, &f64)| score.is_some_and(|score| (score - expected).abs() <= 1e-3 * expected);
            assert!(row.len() == expected.len() && row.iter().zip(expected).all(is_near), "{what}: {row:?} instead of {expected:?}");
        }
    }

    /// Computed by hand. As end tokens, the sources cost the three generated tokens n/4 times 1 + 2, 3 + 4 and 5 nats. The last sentence
    /// has two tokens. The slope along the path has the same values, here divided by the number of source tokens.
    #[test]
    fn scores_average_effects_over_tokens_and_rounds() {
        let drop: [&[f64]; 2] = [&[0.75, 0.0, 1.75], &[1.875, 0.0, 4.375, 3.125]];
        let expected: [(MethodId, [&[f64]; 2]); 9] = [
            (MethodId::Pairs, drop),
            (MethodId::Perturbation, drop),
            (MethodId::Clp, [&[1.5, 0.0, 3.5], &[3.75, 0.0, 8.75, 6.25]]),
            (MethodId::Reagent, [&[0.375, 0.0, 0.875], &[0.9375, 0.0, 2.1875, 1.5625]]),
            (MethodId::ReagentMasked, [&[0.375, 0.0, 0.875], &[0.9375, 0.0, 2.1875, 1.5625]]),
            (MethodId::Attention, [&[0.5, 0.0, 1.5], &[1.25, 0.0, 3.75, 12.5]]),
            (MethodId::Flow, [&[3.0, 0.0, 5.0], &[7.5, 0.0, 12.5, 15.0]]),
            (MethodId::IntegratedGradients, [&[0.375, 0.0, 0.875], &[0.9375, 0.0, 2.1875, 3.125]]),
            (MethodId::AttentionGradients, [&[0.1875, 0.0, 1.3125], &[1.21875, 0.0, 8.53125, 40.625]]),
        ];
        assert_eq!(expected.len(), MethodId::ALL.len(), "every method has its scores here");
        for (id, expected) in expected {
            let (measured, ..) = measured(&[id], false, true, usize::MAX);
            assert!(measured.failure.is_none(), "{id}");
            assert_near(&measured.tables[0], expected, id.text().id);
        }
        let (both, _, asked) = measured(&[MethodId::Perturbation, MethodId::Clp], false, true, usize::MAX);
        assert_eq!(asked.len(), 1, "the passes are shared");
        for (id, table) in [MethodId::Perturbation, MethodId::Clp].into_iter().zip(both.tables) {
            assert_eq!(table, measured(&[id], false, true, usize::MAX).0.tables[0], "{id}");
        }
    }

    #[test]
    fn source_after_sentence_scores_zero_there() {
        let (transcript, segments) = interleaved();
        for id in MethodId::ALL {
            let (methods, mut model, mut reported) = ([method(id)], FakeModel::additive(true), Vec::new());
            let mut on_progress = async |progress| {
                if let MeasureProgress::Column(MeasuredColumn { source, scores, .. }) = progress {
                    reported.push((source, scores[0].len()));
                }
                ControlFlow::Continue(())
            };
            let request = MeasureRequest { flow_first: true, ..MeasureRequest::new(&methods, &transcript, &segments) };
            let measured = pollster::block_on(measure(&mut model, &request, &mut on_progress));
            let Measured { tables, pairs, .. } = measured;
            // The text has the first prompt sentence, a generated one, the second prompt sentence, and a generated one.
            assert_eq!(reported[..3], [(0, 2), (2, 1), (1, 2)], "{id}");
            let flow = pairs.and_then(|pairs| pairs.flow);
            for table in tables.iter().chain(&flow) {
                let is_zero = |i: usize, j: usize| table.row(i)[j].map(|score| score == 0.0);
                let zeros = [is_zero(0, 0), is_zero(0, 1), is_zero(1, 0), is_zero(1, 1), is_zero(1, 2)].map(Option::unwrap);
                assert_eq!(zeros, [false, true, false, false, false], "{id}");
            }
            assert!(model.asked.iter().all(|asked| asked.attended.is_sorted_by_key(|range| range.start)), "{id}");
        }
    }

    #[test]
    fn requests_contain_only_needed_readouts() {
        let sources = [1..3, 3..5, 5..6];
        let scored = |passes: usize| Asked { edits: 0, passes, divergences: false, attended: Vec::new() };
        let attended = |asked: Asked| Asked { attended: sources.to_vec(), ..asked };
        // The path contains all four sentences with tokens. Each of the three sources has one pass on either side of each point.
        let path = vec![Asked { edits: 4, ..scored(6) }; 20];
        let looked_first = || std::iter::once(attended(scored(0))).chain(path.clone()).collect::<Vec<Asked>>();
        let asked = |ids: &[MethodId], flow_first: bool, attends: bool| measured(ids, flow_first, attends, usize::MAX).2;
        assert_eq!(asked(&[MethodId::Perturbation], false, true), [scored(3)]);
        assert_eq!(asked(&[MethodId::Perturbation], true, true), [attended(scored(3))]);
        assert_eq!(asked(&[MethodId::Perturbation], true, false), [scored(3)], "where layers have no attention there is no flow");
        assert_eq!(asked(&[MethodId::Clp], false, true), [Asked { divergences: true, ..scored(3) }]);
        assert_eq!(asked(&[MethodId::Perturbation, MethodId::Clp], false, true), [Asked { divergences: true, ..scored(3) }]);
        assert_eq!(asked(&[MethodId::Attention], false, true), [attended(scored(0))]);
        assert_eq!(asked(&[MethodId::Attention, MethodId::Flow], true, true), [attended(scored(0))]);
        assert_eq!(asked(&[MethodId::IntegratedGradients], false, true), path);
        assert_eq!(asked(&[MethodId::IntegratedGradients], true, true), looked_first());
        assert_eq!(asked(&[MethodId::IntegratedGradients, MethodId::AttentionGradients], false, true), looked_first());
        let together = |passes: usize| Asked { edits: 1, ..scored(passes) };
        assert_eq!(asked(&[MethodId::Pairs], false, true), [attended(scored(3)), together(2), together(1)]);
        assert_eq!(asked(&[MethodId::Pairs], true, false), [scored(3), together(2), together(1)]);
        let (refused, reported, asked) = measured(&[MethodId::Attention], true, false, usize::MAX);
        assert!(matches!(refused.failure, Some(LmError::WithoutAttention)) && reported.is_empty() && asked.is_empty());
    }

    #[test]
    fn unchanged_text_also_gives_top_tokens() {
        let (transcript, segments) = text();
        for id in MethodId::ALL {
            // A path needs the unchanged text only for its flow.
            for (flow_first, top_tokens) in [(true, true), (false, true), (true, false)] {
                let (methods, mut model) = ([method(id)], FakeModel::additive(true));
                let request = MeasureRequest { flow_first, top_tokens, ..MeasureRequest::new(&methods, &transcript, &segments) };
                let measured = pollster::block_on(measure(&mut model, &request, &mut async |_| ControlFlow::Continue(())));
                let expected = if top_tokens && measured.base.is_some() { 3 } else { 0 };
                assert_eq!((measured.top_tokens.len(), model.ranked), (expected, usize::from(expected > 0)), "{id}");
                assert!(measured.base.is_some() || !flow_first, "{id}");
            }
        }
    }

    #[test]
    fn infill_forbids_control_tokens_and_requires_masked_infills() {
        let (transcript, segments) = text();
        let methods = [method(MethodId::Reagent)];
        let mut model = FakeModel::additive(true);
        let request = MeasureRequest::new(&methods, &transcript, &segments);
        let measured = pollster::block_on(measure(&mut model, &request, &mut async |_| ControlFlow::Break(())));
        assert_eq!(model.filled, [(vec![1..3, 3..5, 5..6], vec![1, END], END)]);
        assert!(measured.failure.is_none() && model.asked.is_empty(), "it was broken off before the spans were filled");
        let unfilled = Transcript { infills: Vec::new(), ..transcript };
        let methods = [method(MethodId::ReagentMasked)];
        let request = MeasureRequest::new(&methods, &unfilled, &segments);
        let measured = pollster::block_on(measure(&mut model, &request, &mut async |_| ControlFlow::Continue(())));
        assert!(matches!(measured.failure, Some(LmError::Engine(_))), "nothing has filled the spans");
    }

    #[test]
    fn progress_reports_every_pass_and_completed_column() {
        let reported = |id: MethodId, flow_first: bool| measured(&[id], flow_first, true, usize::MAX).1;
        let base = |with_flow: bool| Reported::Base { with_flow };
        assert_eq!(
            reported(MethodId::Perturbation, false),
            [base(false), Reported::Column(0, 1), Reported::Column(2, 2), Reported::Column(3, 3)]
        );
        assert_eq!(
            reported(MethodId::Perturbation, true),
            [base(true), Reported::Column(0, 1), Reported::Column(2, 2), Reported::Column(3, 3)]
        );
        assert_eq!(
            reported(MethodId::Attention, false),
            [base(false), Reported::Column(0, 0), Reported::Column(2, 0), Reported::Column(3, 0)]
        );
        let alone = [base(true), Reported::Column(0, 1), Reported::Column(2, 2), Reported::Column(3, 3)];
        let with_first =
            [base(false), Reported::Pass(4), Reported::Pass(5), Reported::Column(0, 5), Reported::Column(2, 5), Reported::Column(3, 5)];
        let with_third = [base(false), Reported::Pass(6), Reported::Column(2, 6), Reported::Column(3, 6)];
        assert_eq!(reported(MethodId::Pairs, false), [&alone[..], &with_first, &with_third].concat());
        // Twenty rounds of two passes for each of three sources. In the last round, the second pass of each source completes its column.
        let mut path: Vec<Reported> = (0..20)
            .flat_map(|round| std::iter::once(base(false)).chain((1..=6).map(move |pass| Reported::Pass(6 * round + pass))))
            .collect();
        let n = path.len();
        for (back, source, done) in [(1, 3, 120), (3, 2, 118), (5, 0, 116)] {
            path[n - back] = Reported::Column(source, done);
        }
        assert_eq!(reported(MethodId::IntegratedGradients, false), path);
        assert_eq!(reported(MethodId::AttentionGradients, false), path);
        path.insert(0, base(true));
        assert_eq!(reported(MethodId::IntegratedGradients, true), path);
    }

    #[test]
    fn stopped_measurement_keeps_exactly_reported_columns() {
        for id in MethodId::ALL {
            let (_, all, _) = measured(&[id], true, true, usize::MAX);
            for last in 0..all.len() {
                let (stopped, reported, _) = measured(&[id], true, true, last);
                assert_eq!(reported, all[..=last], "{id}");
                assert!(stopped.failure.is_none(), "{id}");
                let is_reported = |j: usize| reported.iter().any(|event| matches!(event, Reported::Column(source, _) if *source == j));
                // The second source has no tokens.
                let measured: Vec<usize> = (0..4).filter(|&j| stopped.tables[0].is_measured(j)).collect();
                assert_eq!(measured, (0..4).filter(|&j| j == 1 || is_reported(j)).collect::<Vec<_>>(), "{id}, stopped at {last}");
            }
        }
    }
}
