//! Requests from the page to the engine's worker, and the events that answer them.

use serde::{Deserialize, Serialize};

use crate::explanation::{Contrast, Document};
use crate::problem::Problem;
use crate::request::{
    DeletionCurves, ExplainProgress, LoadOptions, LoadProgress, LoadedModel, PassProgress, Question, Reading, Word, WorkStats,
};

/// Requests from the page, with the local files that they need. Every request except `Cancel` has one final event: the one named last,
/// `Stopped` if it was canceled, or `Failed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EngineRequest {
    /// Load this model and drop the previous one. Answered by `Loading`.. and `Ready`. With a spare core, a small CPU model scores passes
    /// on both cores.
    Load { source: ModelSource, options: LoadOptions, has_spare_core: bool },
    /// Answer and explain. Answered by `Progress`.., `Work` and `Explained`. If the engine lost the model, this and later requests that
    /// need the language model load it again, which sends `Loading`.. and `Ready`.
    Explain(Question),
    /// Answer without an explanation. Answered by `Progress`.., `Work` and `Answered`.
    Answer(Question),
    /// Run the deletion test on an answer, for each of these orders of the prompt's sentences and for several random orders. Answered by
    /// `Passes`.., `Work` and `DeletionCurves`.
    MeasureDeletion { question: Question, orders: Vec<Vec<usize>> },
    /// Measure a source of a given answer word by word. Answered by `Passes`.., `Work` and `Words`.
    MeasureWords { question: Question, source: usize },
    /// Compare a part of a given answer (code points, half-open) with an alternative. Answered by `Passes`.., `Work` and `Contrast`.
    MeasureContrast { question: Question, mark: [usize; 2], alternative: String },
    /// Measure this device with the loaded model. Answered by `DeviceMeasured`.
    MeasureDevice,
    /// Load the masked language model from the files of the message, for methods that need one. Answered by `MaskedLmLoaded`.
    LoadMaskedLm,
    /// Count the tokens of a prompt, with or without its chat template, if a model is loaded. Answered by `TokensCounted`.
    CountTokens {
        prompt: String,
        #[serde(default)]
        reading: Reading,
        use_template: bool,
    },
    /// Cancel the request with this id and keep its results so far.
    Cancel,
}

/// Location of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelSource {
    /// An absolute URL of this site, or an object URL.
    Url(String),
    /// A model in the browser's storage, by id.
    Stored(String),
    /// The files of the message: one file, or all parts of a split model in order.
    Files,
}

/// Events from the worker, with the id of the request that they answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum EngineEvent {
    Loading(LoadProgress),
    Ready(LoadedModel),
    Progress(ExplainProgress),
    Passes(PassProgress),
    /// The work of the request so far.
    Work(WorkStats),
    /// The explanation. Partial if the user pressed Stop during the measurement, or if `problem` ended it.
    Explained {
        document: Box<Document>,
        problem: Option<Problem>,
    },
    /// The answer, split into sentences and not measured.
    Answered(Box<Document>),
    DeletionCurves(DeletionCurves),
    Words(Vec<Word>),
    Contrast(Contrast),
    /// A [`DeviceReport`](crate::device::DeviceReport) as JSON, because only a chunk of the page that is fetched on demand reads it.
    DeviceMeasured(String),
    MaskedLmLoaded,
    /// `None` if there is no model, or if the number is unknown.
    TokensCounted(Option<usize>),
    /// Canceled before anything was measured.
    Stopped,
    Failed(Problem),
}
