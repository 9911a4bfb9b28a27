//! What comes of a question.

use std::ops::Range;

use crate::attribution::{Segments, Transcript};
use crate::explanation::Document;
use crate::problem::Problem;

/// A question and its answer, ready to be measured.
pub struct AnsweredQuestion {
    /// Its table is empty.
    pub document: Document,
    pub transcript: Transcript,
    pub segments: Segments,
    /// The bytes of the generation that each of its tokens covers; none where it stands in no sentence.
    pub spans: Vec<Range<usize>>,
}

/// The result of [`super::Session::answer`].
pub enum AnswerResult {
    Answered(Box<AnsweredQuestion>),
    /// Stopped while answering; the answer so far.
    Stopped {
        answer: String,
    },
}

/// The result of [`super::Session::explain`].
#[derive(Debug)]
pub enum ExplainResult {
    /// The document; a partial one where the visitor stopped it while it was measured.
    Explained(Box<Document>),
    /// The engine failed while measuring: a partial document of what was measured by then, and the problem to show with it.
    Failed { measured: Box<Document>, problem: Problem },
    /// Stopped while answering; the answer so far.
    Stopped { answer: String },
}
