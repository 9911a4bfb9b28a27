//! What a measurement tells while it goes on, and what comes of it.

use crate::lm::LmError;
use crate::table::Table;

/// Progress of a measurement.
pub enum MeasureProgress {
    /// The text is scored as it is.
    Base,
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
