//! Requests to a model, progress reports and results: types that page, worker, session and command line share. An explanation itself is an
//! [`explanation::Document`](glasscage_core::explanation::Document).

use glasscage_message::Message;
use serde::{Deserialize, Serialize};

use glasscage_core::explanation::{Branch, Document, Language, METHODS, Model, Sampling, SentenceRule, Unit};
use glasscage_core::table::Table;

/// A long thinking section is split into at most this many runs of sentences, which limits the number of passes.
pub const MAX_RUNS_OF_A_THOUGHT: usize = 40;

/// A request to explain an answer, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// With `[[` and `]]` around parts if `unit` is [`Unit::Bracket`]. The model does not read these marks.
    pub prompt: String,
    #[serde(default)]
    pub reading: Reading,
    /// How to treat the earlier answers of a conversation.
    #[serde(default)]
    pub earlier_answers: EarlierAnswers,
    /// Text to explain, instead of a generated one.
    pub answer: Option<String>,
    /// Whether to apply the model's chat template to the prompt, if the model has one.
    pub use_template: bool,
    pub sampling: Sampling,
    /// Where the answer takes alternatives of its tokens, ascending. Each belongs to the answer with the branches before it. Ignored if the
    /// answer is given.
    pub branches: Vec<BranchPoint>,
    /// Maximum length of the answer, in tokens.
    pub max_tokens: usize,
    /// Maximum length of the thinking section, in tokens. A longer section is closed for the model. `None`: the model does not think.
    pub thinking: Option<usize>,
    /// Maximum length of prompt and answer together, in tokens; `None`: the context length of the model.
    pub max_context: Option<usize>,
    /// Id of an entry of [`METHODS`].
    pub method: String,
    /// The unit that is one source: a sentence, or another one.
    pub unit: Unit,
    pub sentence_rule: SentenceRule,
    /// Language whose sentences [`SentenceRule::AnyScript`] finds; `None`: the language of the prompt.
    pub language: Option<Language>,
}

impl Question {
    /// Asks for the greedy answer to `prompt` in the chat template, explained by the default method.
    pub fn greedy(prompt: &str) -> Self {
        Self {
            prompt: prompt.into(),
            reading: Reading::Text,
            earlier_answers: EarlierAnswers::Given,
            answer: None,
            use_template: true,
            sampling: Sampling::GREEDY,
            branches: Vec::new(),
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

/// How a prompt is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reading {
    /// One message of the user.
    #[default]
    Text,
    /// The turns of a conversation ([`glasscage_core::conversation`]). The chat template renders them as messages.
    Conversation,
}

/// How the answers of a conversation before its last one are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum EarlierAnswers {
    /// Like the other turns: their units are only sources.
    #[default]
    Given,
    /// Their units are sources, and each has a row of the table, too. A first turn is always given, because nothing comes before it.
    Explained,
}

/// A request to continue an answer from an alternative of one of its tokens: see [`Branch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchPoint {
    /// 0-based index of the token among the tokens of the answer's sentences.
    pub token: usize,
    /// Place of the alternative among the most likely other tokens: 1 is the most likely one.
    pub rank: usize,
    /// Text of the alternative, if it is known. The model must propose this token. If it is the token itself, the answer stays.
    pub text: Option<String>,
    /// Text of the answer before the token, if it is known. The model must begin its answer with it.
    pub before: Option<String>,
}

impl From<&Branch> for BranchPoint {
    fn from(&Branch { token, rank, ref text }: &Branch) -> Self {
        Self { token, rank, text: Some(text.clone()), before: None }
    }
}

/// The engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BackendChoice {
    /// The GPU if it is not a software adapter and computes correct scores, else the CPU.
    #[default]
    Auto,
    Cpu,
    Gpu,
}

/// Options for loading a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadOptions {
    pub backend: BackendChoice,
    /// [`LoadedModel::kernel_shapes`] of an earlier visit.
    pub kernel_shapes: Option<String>,
}

impl From<BackendChoice> for LoadOptions {
    fn from(backend: BackendChoice) -> Self {
        Self { backend, kernel_shapes: None }
    }
}

/// Progress of loading a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadProgress {
    /// Bytes of the model file read so far.
    pub read_bytes: u64,
    /// Size of the model file in bytes.
    pub total_bytes: u64,
    /// Approximate memory of the loaded model, in bytes.
    pub memory_bytes: u64,
}

/// Whether a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThinkingSupport {
    #[default]
    Never,
    /// If the question asks for it.
    Chosen,
    /// The chat template has no option to turn thinking off.
    Always,
}

/// A loaded model, as the page shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadedModel {
    pub model: Model,
    /// Maximum number of tokens of prompt and answer together.
    pub context_length: usize,
    /// Memory for the keys and values of one token, in bytes.
    pub bytes_per_token: u64,
    pub has_template: bool,
    pub thinking: ThinkingSupport,
    /// The engine, with the name of the GPU if known: "webgpu (nvidia ampere)".
    pub backend: String,
    /// The shapes of hot kernels chosen for this GPU, with the names of GPU and version, to be remembered. `None` if there is no choice.
    pub kernel_shapes: Option<String>,
    /// Notices about the engine or the file that affect results.
    pub notices: Vec<Message>,
    /// Glasscage version of the worker that loaded the model. The page has the same version, unless the site was updated while the page was
    /// open.
    pub glasscage: String,
}

/// Progress reports of a run, in this order: `Token`s, unless the answer is given; `Answered`; then for each round of the method
/// `BaseScored` and `Pass`es. The last round reports a `Column` for each source. A method that first infills spans reports `Pass` with 0
/// done before `BaseScored`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExplainProgress {
    /// One token of the answer, as the characters that it completes. May be empty.
    Token(String),
    /// A step that adds no token to the answer, such as one of checking it.
    Step,
    /// The answer is complete and split into sentences. Nothing is measured yet.
    Answered(Box<Document>),
    /// The base text of a round is scored; the passes of the round are compared with it. For the unchanged text, `flow` is the table by
    /// information flow, a first result to draw.
    BaseScored { flow: Option<Table> },
    /// A pass is done that does not complete a source. Passes done and planned.
    Pass { done: usize, planned: usize },
    /// A source is complete: its scores on the last generated sentences, which are those with a cell for it. Passes done and planned.
    Column { source: usize, scores: Vec<f64>, done: usize, planned: usize },
}

impl ExplainProgress {
    /// Progress of the answer: the characters that a token completes, or `None` after another step.
    pub fn answering(token: Option<String>) -> Self {
        token.map_or(Self::Step, Self::Token)
    }
}

/// Passes of a deletion test, or of a measurement of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassProgress {
    pub done: usize,
    pub planned: usize,
}

/// Deletion curves: for each order, the log-probability of the answer, in nats, after 0, 1, .. prompt sentences were deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeletionCurves {
    /// Curves of the requested orders. If earlier answers are explained, they are about the last answer alone.
    pub curves: Vec<Vec<f64>>,
    /// Curves of random orders. The seed is fixed.
    pub random: Vec<Vec<f64>>,
}

/// One word of a source, and its own influence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// Includes the white space after it.
    pub text: String,
    pub tokens: usize,
    /// Influence on the generated sentences with a cell for the source (the last ones), in the unit of the table.
    pub scores: Vec<f64>,
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStats {
    /// Tokens processed by the transformer.
    pub forward_tokens: usize,
    /// Positions processed by the LM head.
    pub head_positions: usize,
    /// Kernel dispatches on the GPU.
    pub dispatches: usize,
    /// Maximum GPU memory in use at one time since the model was loaded, in bytes.
    pub gpu_bytes: u64,
    /// Maximum size of the worker's own memory, in bytes.
    pub heap_bytes: u64,
    /// Number of workers that have computed, including the engine's own.
    pub workers: usize,
}
