//! What is measured, what a measurement tells while it goes on, and what comes of it.

use super::base_method::AttributionMethod;
use super::transcript::{Segments, Transcript};
use crate::lm::LmError;
use crate::table::Table;

/// The methods by which a text is measured.
#[derive(Clone, Copy)]
pub struct MeasureRequest<'a> {
    /// They share their passes: [`AttributionMethod::shares_passes_with`].
    pub methods: &'a [&'a AttributionMethod],
    pub transcript: &'a Transcript,
    pub segments: &'a Segments,
    /// Whether the text as it is is read for its information flow too, which is told before the first pass.
    pub flow_first: bool,
}

impl<'a> MeasureRequest<'a> {
    /// Without flow.
    pub fn new(methods: &'a [&'a AttributionMethod], transcript: &'a Transcript, segments: &'a Segments) -> Self {
        Self { methods, transcript, segments, flow_first: false }
    }
}

/// Progress of a measurement.
pub enum MeasureProgress {
    /// A base text is scored; with the text as it is comes the table by information flow, where the request asks for it.
    Base {
        flow: Option<Table>,
    },
    /// A step that completes no source; `done` passes by now.
    Pass {
        done: usize,
    },
    Column(MeasuredColumn),
}

/// One source measured.
pub struct MeasuredColumn {
    pub source: usize,
    /// By each method, on each generated sentence after the source.
    pub scores: Vec<Vec<f64>>,
    /// Passes done.
    pub done: usize,
}

/// A table for each method, and why they are partial where the model failed.
pub struct Measured {
    pub tables: Vec<Table>,
    pub failure: Option<LmError>,
    /// What pairs of sources do, where the method measures them.
    pub pairs: Option<MeasuredPairs>,
}

/// What was measured of pairs.
#[derive(Debug)]
pub struct MeasuredPairs {
    /// What each source does alone.
    pub alone: Table,
    pub effects: Vec<PairEffect>,
    /// By information flow; nothing where the model failed before.
    pub flow: Option<Table>,
}

/// What two sources do together to a generated sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct PairEffect {
    /// The row of the table.
    pub target: usize,
    /// Columns of the table, ascending.
    pub sources: [usize; 2],
    /// The loss that shows only when both are gone, in nats per token.
    pub amount: f64,
    /// Tokens of the generation, counted from its start, for which either source is enough.
    pub either_is_enough: Vec<usize>,
    /// Tokens that only both sources together give.
    pub only_together: Vec<usize>,
}
