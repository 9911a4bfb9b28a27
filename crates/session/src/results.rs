//! Results of a question.

use std::ops::Range;

use glasscage_attribution::support::StatedBefore;
use glasscage_attribution::{Segments, Transcript};
use glasscage_core::explanation::Document;
use glasscage_protocol::problem::Problem;

/// A question and its answer, ready to be measured.
pub struct AnsweredQuestion {
    /// The document with an unmeasured table.
    pub document: Document,
    pub transcript: Transcript,
    /// Positions of the tokens of the last answer. It is the whole generation if no earlier answer is explained.
    pub answer: Range<usize>,
    pub segments: Segments,
    /// The answers with the statements before them. Statements are sentences for every unit.
    pub statements: Vec<StatedBefore>,
    /// Positions of the tokens of each group of the document, without those of its name.
    pub groups: Vec<Range<usize>>,
    /// The bytes of the generation that each of its tokens covers. Empty for a token outside all sentences.
    pub spans: Vec<Range<usize>>,
}

/// The result of [`super::Session::answer`].
pub enum AnswerResult {
    Answered(Box<AnsweredQuestion>),
    /// The run was stopped while answering. Contains the answer so far.
    Stopped {
        answer: String,
    },
}

/// The result of [`super::Session::explain`].
#[derive(Debug)]
pub enum ExplainResult {
    /// The document. It is partial if the visitor stopped the measurement.
    Explained(Box<Document>),
    /// The engine failed while measuring. Contains the partial document and the problem to show with it.
    Failed { measured: Box<Document>, problem: Problem },
    /// The run was stopped while answering. Contains the answer so far.
    Stopped { answer: String },
}
