//! From plan to table: each pass once, all targets at once.

use std::ops::{ControlFlow, Range};

use super::{Material, Method, Observed, Replacement, Round, Segments, Transcript};
use crate::lm::{Infill, Infills, Job, LanguageModel, LmError, Pass, Readout};
use crate::table::Table;

/// Progress of [`measure`].
pub enum Step<'a> {
    /// The text is scored as it is.
    Base,
    /// Something was done that completes no source; `done` passes by now.
    Pass {
        done: usize,
    },
    Column(Column<'a>),
}

/// One source measured.
pub struct Column<'a> {
    pub source: usize,
    /// By each method, on each generated sentence after the source.
    pub scores: &'a [Vec<f64>],
    /// Passes done.
    pub done: usize,
}

/// What came of [`measure`]: a table a method, whole or as far as they got, and why they got no further.
pub struct Measured {
    pub tables: Vec<Table>,
    pub failure: Option<LmError>,
}

/// The table **T** of `transcript` by each of `methods`, which share their passes: [`Method::shares_passes_with`].
/// `on_step` may break off; what was not measured by then stays `None`. Sources without tokens have no pass and score 0.
pub async fn measure(
    model: &mut impl LanguageModel,
    methods: &[&Method],
    transcript: &Transcript,
    segments: &Segments,
    on_step: impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
) -> Measured {
    measure_columns(model, methods, transcript, segments, 0..segments.n_sources(), on_step).await
}

/// As [`measure`], of these sources only; the cells of the others stay `None`.
pub async fn measure_columns(
    model: &mut impl LanguageModel,
    methods: &[&Method],
    transcript: &Transcript,
    segments: &Segments,
    columns: Range<usize>,
    on_step: impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
) -> Measured {
    debug_assert!(methods.iter().all(|method| method.shares_passes_with(methods[0])));
    let (numbers, without_tokens): (Vec<usize>, Vec<usize>) = columns.partition(|&j| !segments.source(j).is_empty());
    let mut run = Run {
        methods,
        transcript,
        segments,
        sources: numbers.iter().map(|&j| segments.source(j).clone()).collect(),
        effects: vec![vec![vec![0.0; transcript.generation.len()]; methods.len()]; numbers.len()],
        numbers,
        attention: Vec::new(),
        done: 0,
        tables: vec![Table::unmeasured(segments.prompt.len(), segments.generation.len()); methods.len()],
    };
    for j in without_tokens {
        run.tables.iter_mut().for_each(|table| table.set_column(j, &vec![0.0; segments.targets(j).len()]));
    }
    let failure = run.all_rounds(model, on_step).await.err();
    Measured { tables: run.tables, failure }
}

/// How many passes [`measure`] makes by this method, base texts not counted.
pub fn n_passes(method: &Method, segments: &Segments) -> usize {
    method.passes * (0..segments.n_sources()).filter(|&j| !segments.source(j).is_empty()).count()
}

/// A measurement going on.
struct Run<'a> {
    methods: &'a [&'a Method],
    transcript: &'a Transcript,
    segments: &'a Segments,
    /// Those with tokens: their numbers, and their tokens.
    numbers: Vec<usize>,
    sources: Vec<Range<usize>>,
    /// Sums over rounds: for each of the sources and each method, `[generated tokens]`.
    effects: Vec<Vec<Vec<f64>>>,
    /// `[generated tokens, sources]`, of the text as it is; empty where no method asks for it.
    attention: Vec<f64>,
    /// Passes.
    done: usize,
    tables: Vec<Table>,
}

impl Run<'_> {
    async fn all_rounds(
        &mut self,
        model: &mut impl LanguageModel,
        mut on_step: impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<(), LmError> {
        let Some(infills) = self.infills(model, &mut on_step).await? else { return Ok(()) };
        let material = Material { transcript: self.transcript, segments: self.segments, sources: &self.sources, infills: &infills };
        let rounds = (self.methods[0].plan)(&material);
        if self.wants_attention() && rounds.iter().all(|round| !round.edits.is_empty()) {
            self.look(model).await?;
        }
        for (i, round) in rounds.iter().enumerate() {
            if self.round(model, round, i + 1 == rounds.len(), rounds.len(), &mut on_step).await?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// What stands in place of the sources, where that is for the model to say.
    async fn infills(
        &self,
        model: &mut impl LanguageModel,
        on_step: &mut impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Infills>, LmError> {
        let Transcript { tokens, end_token, control_tokens, infills, .. } = self.transcript;
        match self.methods[0].replacement {
            Replacement::EndToken | Replacement::Nothing => Ok(Some(Vec::new())),
            Replacement::Infill => {
                let infill = Infill { tokens, gaps: &self.sources, forbidden: control_tokens, start_token: *end_token };
                model.infill(&infill, async || on_step(Step::Pass { done: 0 }).await).await
            }
            Replacement::MaskedLm => {
                let infills = self.numbers.iter().map(|&j| infills.get(j).cloned()).collect::<Option<Infills>>();
                infills.map(Some).ok_or_else(|| LmError::Engine("no masked language model has filled the gaps".into()))
            }
        }
    }

    fn wants_attention(&self) -> bool {
        self.methods.iter().any(|method| method.attention)
    }

    /// Attention in the text as it is, where no round has that as its base text.
    async fn look(&mut self, model: &mut impl LanguageModel) -> Result<(), LmError> {
        let Transcript { tokens, generation, .. } = self.transcript;
        let job = Job { attended: &self.sources, ..Job::new(tokens, generation.clone(), &[]) };
        let attention = &mut self.attention;
        let look = model.score(&job, async |_, readout| {
            *attention = readout.attention.clone();
            ControlFlow::Continue(())
        });
        look.await
    }

    /// Scores one round; the last one completes the table.
    async fn round(
        &mut self,
        model: &mut impl LanguageModel,
        round: &Round,
        is_last: bool,
        n_rounds: usize,
        on_step: &mut impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, LmError> {
        let passes: Vec<Pass> = round.passes.iter().flatten().cloned().collect();
        let sources = self.sources.clone();
        let wants_attention = round.edits.is_empty() && self.wants_attention();
        let job = Job {
            edits: &round.edits,
            divergences: self.methods.iter().any(|method| method.divergences),
            attended: if wants_attention { &sources } else { &[] },
            ..Job::new(&self.transcript.tokens, self.transcript.generation.clone(), &passes)
        };
        // Which source each pass belongs to.
        let owners: Vec<usize> = round.passes.iter().enumerate().flat_map(|(k, passes)| passes.iter().map(move |_| k)).collect();
        let (mut base, mut of_source, mut flow) = (None, Vec::new(), ControlFlow::Continue(()));
        let score = model.score(&job, async |number, readout| {
            let Some(base) = &base else {
                if wants_attention {
                    self.attention = readout.attention.clone();
                }
                base = Some(readout.clone());
                flow = on_step(Step::Base).await;
                for k in (0..round.passes.len()).filter(|&k| round.passes[k].is_empty()) {
                    if flow.is_continue() {
                        flow = self.observe(k, readout, &[], is_last, n_rounds, on_step).await;
                    }
                }
                return flow;
            };
            of_source.push(readout.clone());
            self.done += 1;
            let k = owners[number - 1];
            flow = if of_source.len() == round.passes[k].len() {
                self.observe(k, base, &std::mem::take(&mut of_source), is_last, n_rounds, on_step).await
            } else {
                on_step(Step::Pass { done: self.done }).await
            };
            flow
        });
        score.await?;
        Ok(flow)
    }

    /// Takes in what a source's passes showed.
    async fn observe(
        &mut self,
        k: usize,
        base: &Readout,
        passes: &[Readout],
        is_last: bool,
        n_rounds: usize,
        on_step: &mut impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (source, segments, start) = (self.numbers[k], self.segments, self.transcript.generation.start);
        let attention: Vec<f64> = self.attention.iter().skip(k).step_by(self.sources.len()).copied().collect();
        let observed = Observed { base, passes, attention: &attention, length: self.sources[k].len() };
        let first = segments.targets(source).first().map_or(self.transcript.generation.len(), |target| target.start - start);
        for (method, effects) in self.methods.iter().zip(&mut self.effects[k]) {
            effects.iter_mut().enumerate().skip(first).for_each(|(t, sum)| *sum += (method.effect)(&observed, t));
        }
        if !is_last {
            return on_step(Step::Pass { done: self.done }).await;
        }
        let mean = |effects: &[f64], target: &Range<usize>| {
            effects[target.start - start..target.end - start].iter().sum::<f64>() / (n_rounds * target.len().max(1)) as f64
        };
        let of_method = |effects: &Vec<f64>| segments.targets(source).iter().map(|target| mean(effects, target)).collect();
        let scores: Vec<Vec<f64>> = self.effects[k].iter().map(of_method).collect();
        self.tables.iter_mut().zip(&scores).for_each(|(table, scores)| table.set_column(source, scores));
        on_step(Step::Column(Column { source, scores: &scores, done: self.done })).await
    }
}
