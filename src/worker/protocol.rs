//! What the page asks and what the worker answers.

use serde::{Deserialize, Serialize};

use crate::explanation::{Document, METHODS, Model, Sampling, Unit};
use crate::library::messages::{Errand, Report};
use crate::problem::Problem;

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
    Library(Errand),
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

/// The engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackendChoice {
    /// The GPU where it computes right; where it is played by software, the faster of both.
    #[default]
    Auto,
    Cpu,
    Gpu,
}

/// What to explain, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub prompt: String,
    /// The text to explain instead of generating one.
    pub answer: Option<String>,
    /// Frame the prompt with the model's chat template, where it has one.
    pub use_template: bool,
    pub sampling: Sampling,
    /// The longest answer, in tokens.
    pub max_tokens: usize,
    /// The longest text, prompt and answer together, in tokens; `None` for as long as the model can read.
    pub max_context: Option<usize>,
    /// An entry of the method registry.
    pub method: String,
    /// What is one source.
    pub unit: Unit,
}

impl Question {
    /// What the model says to `prompt` in its chat frame, greedily, by the first method.
    pub fn greedy(prompt: &str) -> Self {
        Self {
            prompt: prompt.into(),
            answer: None,
            use_template: true,
            sampling: Sampling::GREEDY,
            max_tokens: 256,
            max_context: None,
            method: METHODS[0].id.into(),
            unit: Unit::Sentence,
        }
    }
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
    Ready(Ready),
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
    Checked(Checked),
    Words {
        source: usize,
        words: Vec<Word>,
    },
    /// The whole explanation; a partial one where the visitor pressed Stop while it was measured.
    Finished(Document),
    /// What the run took; before `Finished` or `Checked`.
    Worked(Work),
    /// The visitor pressed Stop before anything was measured; this is the answer so far.
    Stopped {
        answer: String,
    },
    Failed(Problem),
    /// The masked language model is there.
    MaskedLm,
    Library(Report),
}

/// Deletion curves: of each order the log-probability of the answer, in nats, after 0, 1, .. prompt sentences were deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Of the orders asked for.
    pub curves: Vec<Vec<f64>>,
    /// Of random ones, always the same.
    pub random: Vec<Vec<f64>>,
}

/// One word of a source, and what it does alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// With the white space after it.
    pub text: String,
    pub tokens: usize,
    /// On the generated sentences after the source (the last ones), in the unit of the table.
    pub scores: Vec<f64>,
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Tokens taken through the transformer.
    pub forward_tokens: usize,
    /// Positions taken through the LM head.
    pub head_positions: usize,
    /// Kernels started on the GPU.
    pub dispatches: usize,
    /// GPU memory in use at once since the model was loaded, at most.
    pub gpu_bytes: u64,
    /// The worker's own memory, the largest it ever was.
    pub heap_bytes: u64,
}

/// A model that can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    pub model: Model,
    /// Tokens of prompt and answer together.
    pub context_length: usize,
    /// Keys and values of one token, in bytes.
    pub bytes_per_token: u64,
    pub has_template: bool,
    pub backend: String,
    /// One sentence about the choice of the engine, where it was not the usual one.
    pub notice: Option<String>,
    /// Of the worker; the page has the same, or it was updated while open.
    pub glasscage: String,
}

/// The version that page and worker compare, and that documents name; `cargo xtask` adds the commit to it.
pub const GLASSCAGE: &str = match option_env!("GLASSCAGE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};
