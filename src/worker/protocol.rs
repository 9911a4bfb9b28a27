//! What the page asks and what the worker answers.

use serde::{Deserialize, Serialize};

use crate::explanation::Document;
use crate::problem::Problem;
use crate::request::{BackendChoice, DeletionCurves, LoadedModel, Question, Word, WorkStats};
use crate::worker::envelope::Envelope;
use crate::worker::library::protocol::{LibraryEvent, LibraryRequest};

/// From the page. A message is the pair `[Request, File[]]`: local model files travel as the browser's own handles and are
/// read in place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Load this model and drop the one before. Answered by `Loading`.. and `Ready`, or `Failed`.
    Load(ModelSource, BackendChoice),
    /// Answer and explain; loads the model again where the engine lost it. Answered by `Token`.., `Measuring`, `Scored`, `Passed`.., `Column`.., `Worked`, `Finished`; or `Stopped`, or `Failed`.
    Explain(Question),
    /// Answer and explain nothing. Answered by `Token`.., `Worked`, `Answered`; or `Stopped`, or `Failed`.
    Answer(Question),
    /// Put an answer to the deletion test: for each of these orders of the prompt's sentences, and for some random ones. Answered by
    /// `Checking`.., `Worked`, `Checked`; or `Stopped`, or `Failed`.
    Check(Question, Vec<Vec<usize>>),
    /// Open a source of a given answer to its words. Answered by `Checking`.., `Worked`, `Words`; or `Stopped`, or `Failed`.
    Words(Question, usize),
    /// Take the masked language model in the files beside the message, for methods that need one. Answered by `MaskedLm`, or `Failed`.
    MaskedLm,
    /// End what is going on and keep what is done.
    Cancel,
    /// Something about the models that can be kept; done beside whatever else goes on.
    Library(Envelope<LibraryRequest>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelSource {
    /// An address of the own site or of the browser's memory, absolute.
    Url(String),
    /// One that is kept in the browser's storage, by its id.
    Kept(String),
    /// The files beside the message: one, or all parts of a split model in order.
    Files,
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Bytes of the model file read so far, and about what the model will take of the memory.
    Loading {
        bytes: u64,
        total: u64,
        memory: u64,
    },
    Ready(LoadedModel),
    /// One token of the answer: the characters that it completes, or none.
    Token(String),
    /// The answer is there and cut into sentences; nothing is measured yet.
    Measuring(Document),
    /// The text is scored as it is; now each pass is compared with that.
    Scored,
    /// Passes made and planned; none of the last ones completed a source.
    Passed([usize; 2]),
    /// A source is done: source `column`'s scores on the generated sentences after it (the last ones).
    Column {
        column: usize,
        scores: Vec<f64>,
        passes: [usize; 2],
    },
    /// The answer, cut into sentences; nothing is measured.
    Answered(Document),
    /// Passes made and planned of a deletion test, or of words.
    Checking([usize; 2]),
    Checked(DeletionCurves),
    Words {
        source: usize,
        words: Vec<Word>,
    },
    /// The whole explanation; a partial one where the visitor pressed Stop while it was measured.
    Finished(Document),
    /// What the run took; before `Finished` or `Checked`.
    Worked(WorkStats),
    /// The visitor pressed Stop before anything was measured; this is the answer so far.
    Stopped {
        answer: String,
    },
    Failed(Problem),
    /// The masked language model is there.
    MaskedLm,
    Library(Envelope<LibraryEvent>),
}
