//! From plan to table: each pass once, all targets at once.

use std::ops::{ControlFlow, Range};

use super::base_method::{AttributionMethod, Observation, PlanInput, Replacement, Round};
use super::flow::flow_table;
use super::measured::{MeasureProgress, MeasureRequest, Measured, MeasuredColumn};
use super::pairs::{self, measure_pairs};
use super::transcript::{Segments, Transcript};
use crate::lm::{Callback, InfillRequest, Infills, LanguageModel, LmError, Pass, Readout, ScoreRequest, score_base};
use crate::table::Table;

/// The table **T** of a text by each of the methods. `on_progress` may break off; what was not measured by then stays `None`. Sources
/// without tokens have no pass and score 0.
pub async fn measure(
    model: &mut impl LanguageModel,
    request: &MeasureRequest<'_>,
    on_progress: &mut dyn Callback<MeasureProgress>,
) -> Measured {
    if request.methods[0].pairs {
        return measure_pairs(model, request, on_progress).await;
    }
    measure_columns(model, request, 0..request.segments.n_sources(), on_progress).await
}

/// As [`measure`], of these sources only and without pairs; the cells of the others stay `None`.
pub async fn measure_columns(
    model: &mut impl LanguageModel,
    request: &MeasureRequest<'_>,
    columns: Range<usize>,
    on_progress: &mut dyn Callback<MeasureProgress>,
) -> Measured {
    let MeasureRequest { methods, transcript, segments, flow_first } = *request;
    let flow_first = flow_first && model.config().attends_everywhere();
    debug_assert!(methods.iter().all(|method| method.shares_passes_with(methods[0])), "methods of one run share their passes");
    let (numbers, without_tokens): (Vec<usize>, Vec<usize>) = columns.partition(|&j| !segments.source(j).is_empty());
    let mut measurement = Measurement {
        methods,
        transcript,
        segments,
        flow_first,
        sources: numbers.iter().map(|&j| segments.source(j).clone()).collect(),
        effects: vec![vec![vec![0.0; transcript.generation.len()]; methods.len()]; numbers.len()],
        numbers,
        n_rounds: 0,
        rounds_done: 0,
        attended: Readout::default(),
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
    Measured { tables: measurement.tables, failure, pairs: None }
}

/// How many passes [`measure`] makes by this method, base texts not counted.
pub fn n_passes(method: &AttributionMethod, transcript: &Transcript, segments: &Segments) -> usize {
    if method.pairs {
        return pairs::n_passes(transcript, segments);
    }
    method.passes * segments.sources_with_tokens().count()
}

/// A measurement in progress.
struct Measurement<'a> {
    methods: &'a [&'a AttributionMethod],
    transcript: &'a Transcript,
    segments: &'a Segments,
    flow_first: bool,
    /// The sources with tokens: their numbers, and their tokens.
    numbers: Vec<usize>,
    sources: Vec<Range<usize>>,
    n_rounds: usize,
    rounds_done: usize,
    /// Sums over rounds: for each of the sources and each method, `[generated tokens]`.
    effects: Vec<Vec<Vec<f64>>>,
    /// Of the text as it is, its attention and flow `[generated tokens, sources]`; empty where no method asks for them.
    attended: Readout,
    passes_done: usize,
    tables: Vec<Table>,
}

impl Measurement<'_> {
    async fn all_rounds(&mut self, model: &mut impl LanguageModel, on_progress: &mut dyn Callback<MeasureProgress>) -> Result<(), LmError> {
        let Some(infills) = self.infills(model, on_progress).await? else { return Ok(()) };
        let input = PlanInput { transcript: self.transcript, segments: self.segments, sources: &self.sources, infills: &infills };
        let rounds = (self.methods[0].plan)(&input);
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

    /// What stands in place of the sources, where that is other text.
    async fn infills(
        &self,
        model: &mut impl LanguageModel,
        on_progress: &mut dyn Callback<MeasureProgress>,
    ) -> Result<Option<Infills>, LmError> {
        let Transcript { tokens, end_token, control_tokens, infills, .. } = self.transcript;
        match self.methods[0].replacement {
            Replacement::EndToken | Replacement::Nothing => Ok(Some(Vec::new())),
            Replacement::Infill => {
                let request = InfillRequest { tokens, gaps: &self.sources, forbidden: control_tokens, start_token: *end_token };
                model.infill(&request, &mut async |()| on_progress.call(MeasureProgress::Pass { done: 0 }).await).await
            }
            Replacement::MaskedLm => {
                let infills = self.numbers.iter().map(|&j| infills.get(j).cloned()).collect::<Option<Infills>>();
                infills.map(Some).ok_or_else(|| LmError::Engine("no masked language model has filled the gaps".into()))
            }
        }
    }

    fn reads_attention(&self) -> bool {
        self.flow_first || self.methods.iter().any(|method| method.attention)
    }

    fn flow(&self) -> Table {
        flow_table(self.transcript, self.segments, &self.attended.flow)
    }

    /// Reads attention in the text as it is, where no round has that as its base text.
    async fn read_attention(&mut self, model: &mut impl LanguageModel) -> Result<(), LmError> {
        let Transcript { tokens, generation, .. } = self.transcript;
        let request = ScoreRequest { attended: &self.sources, ..ScoreRequest::new(tokens, generation.clone(), &[]) };
        self.attended = score_base(model, &request).await?;
        Ok(())
    }

    /// Scores one round; the last one completes the table.
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
            ..ScoreRequest::new(&self.transcript.tokens, self.transcript.generation.clone(), &passes)
        };
        // Which source each pass belongs to.
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

    /// Takes the scores of a round's base text, with which sources without a pass are complete.
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
        let flow = (self.flow_first && reads_attention).then(|| self.flow());
        let mut go_on = on_progress.call(MeasureProgress::Base { flow }).await;
        for k in (0..round.passes.len()).filter(|&k| round.passes[k].is_empty()) {
            if go_on.is_continue() {
                go_on = self.observe(k, base, &[], on_progress).await;
            }
        }
        go_on
    }

    /// Takes the readouts of a source's passes in this round.
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

    /// The mean effect over all rounds and the tokens of each sentence after `source`.
    fn scores(&self, source: usize, effects: &[f64]) -> Vec<f64> {
        let start = self.transcript.generation.start;
        let mean = |target: &Range<usize>| {
            effects[target.start - start..target.end - start].iter().sum::<f64>() / (self.n_rounds * target.len().max(1)) as f64
        };
        self.segments.targets(source).iter().map(mean).collect()
    }
}
