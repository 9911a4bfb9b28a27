//! What made an explanation: the model, how it was asked, and the program.

use serde::{Deserialize, Serialize};

use super::Language;

/// What made the result, so that somebody else can make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub model: Model,
    /// `chat` where the model's own chat template framed the prompt, `none` for plain continuation.
    pub template: String,
    pub answer: Answer,
    /// How prompt and answer are cut into sentences.
    #[serde(default, skip_serializing_if = "SentenceRule::is_punkt")]
    pub sentence_rule: SentenceRule,
    /// Whose sentences the rule looked for, where that made a difference; else English.
    #[serde(default, skip_serializing_if = "Language::is_english")]
    pub language: Language,
    /// The engine, such as `candle-cpu`.
    pub backend: String,
    /// Activations and accumulation, such as `f32`.
    pub precision: String,
    /// `f64` as computed, `16-bit` after a link.
    pub table_precision: String,
    /// Version of Glasscage.
    pub glasscage: String,
    /// The program that measured the table, where that was not Glasscage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<Producer>,
}

/// How texts are cut into sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SentenceRule {
    /// As NLTK's Punkt with its English parameters does (the paper).
    #[default]
    Punkt,
    /// As Punkt does with the parameters of the language, and besides at the full stops of other scripts; list markers and some
    /// abbreviations end no sentence.
    AnyScript,
}

impl SentenceRule {
    pub fn is_punkt(&self) -> bool {
        *self == Self::Punkt
    }
}

/// Another program.
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
    /// The tensor type that holds most of the weights, such as `Q8_0`.
    pub quantization: String,
    pub parameters: u64,
    /// Of the file.
    pub bytes: u64,
    /// Of the file, lower-case hexadecimal.
    pub sha256: String,
}

/// Where the generated text came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Answer {
    /// By this model.
    Generated {
        sampling: Sampling,
        max_tokens: usize,
        /// The most tokens of thought before the answer; nothing where the model was not asked to think.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<usize>,
        stop: AnswerStop,
        /// What the model's own check says of the answer; nothing where it has none, or finds nothing wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warning: Option<AnswerWarning>,
    },
    /// By the visitor, who asked to have it explained.
    Given {},
}

/// Temperature 0 is greedy; then the rest has no effect.
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
    /// The limit of tokens or of the context was reached.
    Length,
    /// The visitor pressed Stop.
    Cancelled,
    /// The model went on repeating itself.
    Repetition,
}

/// Why an answer is not to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerWarning {
    /// The answer shows signs of a mistake.
    Doubtful,
    /// The prompt is of another kind than those that the model was made for.
    OutOfScope,
}
