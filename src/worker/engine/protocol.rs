//! What the page asks of the engine's worker, and what that answers.

use serde::{Deserialize, Serialize};

use crate::explanation::Document;
use crate::problem::Problem;
use crate::request::{DeletionCurves, ExplainProgress, LoadOptions, LoadProgress, LoadedModel, PassProgress, Question, Word, WorkStats};

/// From the page, with the local files that it is about. Every request but `Cancel` has one last answer: the one named last,
/// or `Stopped` where it was cancelled, or `Failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EngineRequest {
    /// Load this model and drop the one before. Answered by `Loading`.. and `Ready`. With a spare core, a small model that the CPU
    /// computes scores passes on both.
    Load { source: ModelSource, options: LoadOptions, has_spare_core: bool },
    /// Answer and explain. Answered by `Progress`.., `Work` and `Explained`. This and all that follow load the model again where the
    /// engine lost it, which is told by `Loading`.. and `Ready`.
    Explain(Question),
    /// Answer and explain nothing. Answered by `Progress`.., `Work` and `Answered`.
    Answer(Question),
    /// Put an answer to the deletion test: for each of these orders of the prompt's sentences, and for some random ones. Answered by
    /// `Passes`.., `Work` and `DeletionCurves`.
    MeasureDeletion { question: Question, orders: Vec<Vec<usize>> },
    /// Measure a source of a given answer word by word. Answered by `Passes`.., `Work` and `Words`.
    MeasureWords { question: Question, source: usize },
    /// Take the masked language model in the files beside the message, for methods that need one. Answered by `MaskedLmLoaded`.
    LoadMaskedLm,
    /// Count the tokens of a prompt, in its chat template or not, where a model is loaded. Answered by `TokensCounted`.
    CountTokens { prompt: String, use_template: bool },
    /// End the request of this id and keep what is done.
    Cancel,
}

/// Where a model is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelSource {
    /// An address of the own site or of the browser's memory, absolute.
    Url(String),
    /// In the browser's storage, by its id.
    Stored(String),
    /// The files beside the message: one, or all parts of a split model in order.
    Files,
}

/// From the worker, under the id of the request that it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EngineEvent {
    Loading(LoadProgress),
    Ready(LoadedModel),
    Progress(ExplainProgress),
    Passes(PassProgress),
    /// The work of the request so far.
    Work(WorkStats),
    /// The explanation: partial where the visitor pressed Stop while it was measured, or where `problem` ended it.
    Explained {
        document: Box<Document>,
        problem: Option<Problem>,
    },
    /// The answer, cut into sentences; nothing is measured.
    Answered(Box<Document>),
    DeletionCurves(DeletionCurves),
    Words(Vec<Word>),
    MaskedLmLoaded,
    /// `None` where there is no model, or where nobody knows.
    TokensCounted(Option<usize>),
    /// Cancelled before anything was measured; the answer so far.
    Stopped {
        answer: String,
    },
    Failed(Problem),
}
