//! From plan to table: one pass a source, all targets at once.

use std::ops::ControlFlow;

use super::{Method, Segments, Transcript};
use crate::lm::{Job, LanguageModel, LmError};
use crate::table::Table;

/// Progress of [`measure`].
pub enum Step<'a> {
    /// The base text is scored.
    Base,
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

/// The table **T** of `transcript` by each of `methods`, which share their passes: all have the plan of the first.
/// `on_step` may break off; what was not measured by then stays `None`. Sources without tokens have no pass and score 0.
pub async fn measure(
    model: &mut impl LanguageModel,
    methods: &[&Method],
    transcript: &Transcript,
    segments: &Segments,
    mut on_step: impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
) -> Measured {
    debug_assert!(methods.iter().all(|method| std::ptr::fn_addr_eq(method.plan, methods[0].plan)));
    let mut tables = vec![Table::unmeasured(segments.prompt.len(), segments.generation.len()); methods.len()];
    let (sources, without_tokens): (Vec<usize>, Vec<usize>) = (0..segments.n_sources()).partition(|&j| !segments.source(j).is_empty());
    for j in without_tokens {
        tables.iter_mut().for_each(|table| table.set_column(j, &vec![0.0; segments.targets(j).len()]));
    }
    let passes: Vec<_> = sources.iter().map(|&j| (methods[0].plan)(transcript, segments.source(j))).collect();
    let job = Job {
        tokens: &transcript.tokens,
        targets: transcript.generation.clone(),
        passes: &passes,
        divergences: methods.iter().any(|method| method.divergences),
    };
    let mut base = None;
    let score = model.score(&job, async |number, readout| {
        let Some(base) = &base else {
            base = Some(readout.clone());
            return on_step(Step::Base).await;
        };
        let source = sources[number - 1];
        let reduce = |method: &&Method| (method.reduce)(base, readout, segments.targets(source), job.targets.start);
        let scores: Vec<Vec<f64>> = methods.iter().map(reduce).collect();
        tables.iter_mut().zip(&scores).for_each(|(table, scores)| table.set_column(source, scores));
        on_step(Step::Column(Column { source, scores: &scores, done: number })).await
    });
    let failure = score.await.err();
    Measured { tables, failure }
}

/// How many passes [`measure`] makes, the base text's not counted.
pub fn n_passes(segments: &Segments) -> usize {
    (0..segments.n_sources()).filter(|&j| !segments.source(j).is_empty()).count()
}
