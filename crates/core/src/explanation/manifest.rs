//! How an explanation was made: the model, the answer, and the program.

use serde::{Deserialize, Serialize};

use super::Language;
use super::branch::{self, Branch};

/// How the result was made, so that others can reproduce it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub model: Model,
    /// `chat` if the model's own chat template framed the prompt, `none` for plain continuation.
    pub template: String,
    pub answer: Answer,
    /// The rule that split prompt and answer into sentences.
    #[serde(default, skip_serializing_if = "SentenceRule::is_punkt")]
    pub sentence_rule: SentenceRule,
    /// The language whose rules split the sentences. English if the language made no difference.
    #[serde(default, skip_serializing_if = "Language::is_english")]
    pub language: Language,
    /// The engine, such as `candle-cpu`.
    pub backend: String,
    /// Precision of activations and accumulation, such as `f32`.
    pub precision: String,
    /// `f64` as computed, or `16-bit` if the document came from a link.
    pub table_precision: String,
    /// Version of Glasscage.
    pub glasscage: String,
    /// The program that measured the table, if it was not Glasscage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<Producer>,
}

/// How texts are split into sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentenceRule {
    /// NLTK's Punkt with its English parameters (the paper).
    #[default]
    Punkt,
    /// Punkt with the parameters of the language. Full stops of other scripts also end sentences; list markers and some abbreviations do
    /// not.
    AnyScript,
}

impl SentenceRule {
    pub fn is_punkt(&self) -> bool {
        *self == Self::Punkt
    }
}

/// A program other than Glasscage that measured a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    pub name: String,
    pub version: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub name: String,
    /// GGUF `general.architecture`.
    pub architecture: String,
    /// The tensor type of most of the weights, such as `Q8_0`.
    pub quantization: String,
    pub parameters: u64,
    /// File size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file in lower-case hexadecimal.
    pub sha256: String,
}

/// Origin of the generated text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Answer {
    /// The model generated it.
    Generated {
        sampling: Sampling,
        max_tokens: usize,
        /// Maximum number of thinking tokens before the answer. `None` if the model was not asked to think.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<usize>,
        stop: AnswerStop,
        /// Result of the answer classifier. `None` if the model has no classifier, or if the classifier found nothing wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<AnswerWarning>,
        /// Where alternatives were chosen, ascending. Empty if the model chose every token.
        #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "branch::deserialize")]
        branches: Vec<Branch>,
    },
    /// The visitor entered it to have it explained.
    Given {},
}

impl Answer {
    /// Where alternatives were chosen, ascending. Empty if the model chose every token, or if the answer is given.
    pub fn branches(&self) -> &[Branch] {
        match self {
            Self::Generated { branches, .. } => branches,
            Self::Given {} => &[],
        }
    }
}

/// Sampling settings. Temperature 0 is greedy, and the other settings then have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    pub temperature: f64,
    pub top_k: Option<usize>,
    pub top_p: Option<f64>,
    pub seed: u64,
}

impl Sampling {
    pub const GREEDY: Self = Self { temperature: 0.0, top_k: None, top_p: None, seed: 0 };
}

/// Why generation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerStop {
    /// The model ended its turn.
    End,
    /// The token limit or the context limit was reached.
    Length,
    /// The visitor pressed Stop.
    #[serde(rename = "cancelled")]
    Canceled,
    /// The model kept repeating itself.
    Repetition,
}

/// Why an answer may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerWarning {
    /// Features of the answer indicate a mistake.
    Doubtful,
    /// The prompt is out of scope for the model.
    OutOfScope,
}
