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
    /// On each generated sentence after the source.
    pub scores: &'a [f64],
    /// Passes done.
    pub done: usize,
}

/// What came of [`measure`]: the table, whole or as far as it got, and why it got no further.
pub struct Measured {
    pub table: Table,
    pub failure: Option<LmError>,
}

/// The table **T** of `transcript`. `on_step` may break off; what was not measured by then stays `None`.
/// Sources without tokens have no pass and score 0.
pub async fn measure(
    model: &mut impl LanguageModel,
    method: &Method,
    transcript: &Transcript,
    segments: &Segments,
    mut on_step: impl AsyncFnMut(Step<'_>) -> ControlFlow<()>,
) -> Measured {
    let mut table = Table::unmeasured(segments.prompt.len(), segments.generation.len());
    let (sources, without_tokens): (Vec<usize>, Vec<usize>) = (0..segments.n_sources()).partition(|&j| !segments.source(j).is_empty());
    for j in without_tokens {
        table.set_column(j, &vec![0.0; segments.targets(j).len()]);
    }
    let passes: Vec<_> = sources.iter().map(|&j| (method.plan)(transcript, segments.source(j))).collect();
    let job = Job { tokens: &transcript.tokens, targets: transcript.generation.clone(), passes: &passes, divergences: false };
    let mut base = None;
    let score = model.score(&job, async |number, readout| {
        let Some(base) = &base else {
            base = Some(readout.clone());
            return on_step(Step::Base).await;
        };
        let source = sources[number - 1];
        let scores = (method.reduce)(base, readout, segments.targets(source), job.targets.start);
        table.set_column(source, &scores);
        on_step(Step::Column(Column { source, scores: &scores, done: number })).await
    });
    let failure = score.await.err();
    Measured { table, failure }
}

/// How many passes [`measure`] makes, the base text's not counted.
pub fn n_passes(segments: &Segments) -> usize {
    (0..segments.n_sources()).filter(|&j| !segments.source(j).is_empty()).count()
}
