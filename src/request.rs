//! What is asked of a model, what a run reports while it works, and what it finds: the words that page, worker, session and
//! command line share. An explanation itself is an [`explanation::Document`](crate::explanation::Document).

use serde::{Deserialize, Serialize};

use crate::explanation::{Document, Language, METHODS, Model, Sampling, SentenceRule, Unit};
use crate::table::Table;

/// A long thought is cut into at most so many runs of sentences: as many passes, whatever a model thinks.
pub const MOST_RUNS_OF_A_THOUGHT: usize = 40;

/// What to explain, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub prompt: String,
    /// The text to explain instead of generating one.
    pub answer: Option<String>,
    /// Whether the model's chat template frames the prompt, where it has one.
    pub use_template: bool,
    pub sampling: Sampling,
    /// The longest answer, in tokens.
    pub max_tokens: usize,
    /// The longest thought before the answer, in tokens; `None` where the model is not to think. A thought that gets longer is ended.
    pub thinking: Option<usize>,
    /// The longest text, prompt and answer together, in tokens; `None` for as long as the model can read.
    pub max_context: Option<usize>,
    /// An entry of the method registry.
    pub method: String,
    /// What is one source.
    pub unit: Unit,
    pub sentence_rule: SentenceRule,
    /// Whose sentences [`SentenceRule::AnyScript`] looks for; `None` for the language of the prompt.
    pub language: Option<Language>,
}

impl Question {
    /// What the model says to `prompt` in its chat frame, greedily, explained by the default method.
    pub fn greedy(prompt: &str) -> Self {
        Self {
            prompt: prompt.into(),
            answer: None,
            use_template: true,
            sampling: Sampling::GREEDY,
            max_tokens: 256,
            thinking: None,
            max_context: None,
            method: METHODS[0].id.into(),
            unit: Unit::Sentence,
            sentence_rule: SentenceRule::Punkt,
            language: None,
        }
    }
}

/// The engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackendChoice {
    /// The GPU where it is none in software and its scores are right, else the CPU.
    #[default]
    Auto,
    Cpu,
    Gpu,
}

/// How a model is to be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOptions {
    pub backend: BackendChoice,
    /// What [`LoadedModel::tile_shape`] said on an earlier visit.
    pub tile_shape: Option<String>,
}

impl From<BackendChoice> for LoadOptions {
    fn from(backend: BackendChoice) -> Self {
        Self { backend, tile_shape: None }
    }
}

/// How much of a model is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadProgress {
    /// Of the model file, read so far.
    pub read_bytes: u64,
    /// Of the model file.
    pub total_bytes: u64,
    /// About how much memory the loaded model will take.
    pub memory_bytes: u64,
}

/// Whether a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThinkingSupport {
    #[default]
    Never,
    /// Where it is asked to.
    Chosen,
    /// Its chat template leaves no choice.
    Always,
}

/// A model that can be asked, as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedModel {
    pub model: Model,
    /// Tokens of prompt and answer together.
    pub context_length: usize,
    /// Keys and values of one token, in bytes.
    pub bytes_per_token: u64,
    pub has_template: bool,
    pub thinking: ThinkingSupport,
    /// With the GPU, where one computes and is known: "webgpu (nvidia ampere)".
    pub backend: String,
    /// The shape of matrix products that was chosen for this GPU, with its name, to be remembered; `None` where there is nothing to choose.
    pub tile_shape: Option<String>,
    /// Notices about the engine or the file that affect results, one sentence per line.
    pub notice: Option<String>,
    /// The version of Glasscage that loaded it; the page has the same, unless it was updated while open.
    pub glasscage: String,
}

/// What a run reports while it answers and explains: `Token`s, unless the answer is given; `Answered`; then, in each round of the method,
/// `BaseScored`, `Pass`es, and in the last round a `Column` for each source. A method that first fills gaps reports `Pass` with 0 done
/// before that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExplainProgress {
    /// One token of the answer: the characters that it completes, or none.
    Token(String),
    /// The answer is complete and cut into sentences; nothing is measured yet.
    Answered(Box<Document>),
    /// A base text is scored, and each pass of the round is compared with that. Where it is the text as it is, with the table by
    /// information flow: a first picture.
    BaseScored { flow: Option<Table> },
    /// A pass was made that completes no source; passes done and planned.
    Pass { done: usize, planned: usize },
    /// A source is complete: its scores on the generated sentences after it (the last ones); passes done and planned.
    Column { source: usize, scores: Vec<f64>, done: usize, planned: usize },
}

/// Passes of a deletion test, or of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassProgress {
    pub done: usize,
    pub planned: usize,
}

/// Deletion curves: of each order the log-probability of the answer, in nats, after 0, 1, .. prompt sentences were deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeletionCurves {
    /// Of the orders asked for.
    pub curves: Vec<Vec<f64>>,
    /// Of random orders, always the same.
    pub random: Vec<Vec<f64>>,
}

/// One word of a source, and its own influence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// With the white space after it.
    pub text: String,
    pub tokens: usize,
    /// On the generated sentences after the source (the last ones), in the unit of the table.
    pub scores: Vec<f64>,
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStats {
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
