//! Requests, progress and results of a measurement.

use super::base_method::AttributionMethod;
use super::transcript::{Segments, Transcript};
use glasscage_core::table::Table;
use glasscage_engine::lm::{LmError, RankedToken};

/// A text to measure, and the methods.
#[derive(Clone, Copy)]
pub struct MeasureRequest<'a> {
    /// Methods that share their passes: [`AttributionMethod::shares_passes_with`].
    pub methods: &'a [&'a AttributionMethod],
    pub transcript: &'a Transcript,
    pub segments: &'a Segments,
    /// Whether to measure the information flow of the unchanged text too, and to report it before the first pass.
    pub flow_first: bool,
    /// Whether to find the most likely tokens at each generated token, if the unchanged text is scored anyway.
    pub top_tokens: bool,
}

impl<'a> MeasureRequest<'a> {
    /// Requests scores without reporting the flow first.
    pub fn new(methods: &'a [&'a AttributionMethod], transcript: &'a Transcript, segments: &'a Segments) -> Self {
        Self { methods, transcript, segments, flow_first: false, top_tokens: false }
    }
}

/// Progress of a measurement.
pub enum MeasureProgress {
    /// A base text is scored. For the unchanged text, `flow` is the table by information flow, if requested.
    Base {
        flow: Option<Table>,
    },
    /// A step that does not complete a source; `done` passes so far.
    Pass {
        done: usize,
    },
    Column(MeasuredColumn),
}

/// The scores of one source.
pub struct MeasuredColumn {
    pub source: usize,
    /// Scores by each method on each generated sentence of the source's column: the last rows of the table.
    pub scores: Vec<Vec<f64>>,
    /// Number of passes done.
    pub done: usize,
}

/// A table for each method. If the model failed, the tables are partial, and `failure` contains the reason.
pub struct Measured {
    pub tables: Vec<Table>,
    pub failure: Option<LmError>,
    /// Log-probabilities of the generated tokens in the unchanged text. `None` if they were not measured.
    pub base: Option<Vec<f64>>,
    /// The most likely tokens at each generated token of the unchanged text, see `Readout::top_tokens`. Empty if they were not measured.
    pub top_tokens: Vec<Vec<RankedToken>>,
    /// Results for pairs of sources, if the method measures them.
    pub pairs: Option<MeasuredPairs>,
}

/// Results for pairs of sources.
#[derive(Debug)]
pub struct MeasuredPairs {
    /// Table of each source alone.
    pub alone: Table,
    pub effects: Vec<PairEffect>,
    /// Table by information flow; `None` if it was not measured.
    pub flow: Option<Table>,
}

/// Joint effect of two sources on a generated sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct PairEffect {
    /// The row of the table.
    pub target: usize,
    /// Columns of the table, ascending.
    pub sources: [usize; 2],
    /// Loss beyond the two single losses when both sources are replaced, in nats per token.
    pub amount: f64,
    /// Generated tokens (0-based) for which either source is enough. They are likely in the unchanged text.
    pub either_is_enough: Vec<usize>,
    /// Generated tokens (0-based) that need both sources. They are likely in the unchanged text.
    pub only_together: Vec<usize>,
}
