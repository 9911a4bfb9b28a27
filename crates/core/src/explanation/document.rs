//! The JSON document, versioned; its schema for other programs is `public/schema/explanation-1.json`.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::graph::Normalization;
use crate::table::Table;

/// The value of `format` in every document.
pub const FORMAT: &str = "glasscage-explanation";
/// The version this page writes.
pub const VERSION: u32 = 1;
/// More sentences than this are refused: the picture would be unreadable, and links are untrusted.
const MAX_SENTENCES: usize = 1000;

/// One explanation: text, sentences, the table **T** and how it was made. Everything else on the page (A, Y,
/// attributions, highlights) is computed from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Always [`FORMAT`].
    pub format: String,
    pub version: u32,
    /// What the passages are cut into; where a document does not say it, sentences.
    #[serde(default, skip_serializing_if = "Unit::is_sentence")]
    pub unit: Unit,
    /// Shared by the clones of a document, which differ in the table.
    pub prompt: Arc<Passage>,
    pub generation: Arc<Passage>,
    /// **T**, `m x (n + m)`: raw signed scores, `null` where there is none.
    pub table: Table,
    /// The generated sentences being explained: 0-based rows of the table, ascending.
    pub output: Vec<usize>,
    pub method: Method,
    pub manifest: Manifest,
}

/// What is one source and one node of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    #[default]
    Sentence,
    /// For short texts. Whatever is said of sentences then holds for words.
    Word,
}

impl Unit {
    pub fn is_sentence(&self) -> bool {
        *self == Self::Sentence
    }

    /// "sentence" or "word".
    pub fn noun(self) -> &'static str {
        match self {
            Self::Sentence => "sentence",
            Self::Word => "word",
        }
    }
}

/// A text and its sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passage {
    pub text: String,
    /// Half-open spans in Unicode code points that tile the text: every character is in exactly one.
    pub sentences: Vec<[usize; 2]>,
    /// How many tokens each sentence has.
    pub tokens: Vec<usize>,
}

/// How the table was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The entry of the method registry, such as `pert`.
    pub id: String,
    /// How the graph is made of the table, which always holds means.
    pub aggregation: Aggregation,
    pub normalization: Normalization,
    /// What stood in place of a perturbed token: the text of the end token, or in words what else.
    pub replacement: String,
    /// Passes made and passes planned; fewer made than planned after Stop.
    pub passes: [usize; 2],
}

/// How the scores of a block, the tokens of a source and of a later sentence, become the score from which the graph is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Their mean, which the table holds (the paper).
    #[default]
    Mean,
    /// Their sum: the mean times the tokens of both (the paper's reference code).
    Sum,
}

/// What made the result, so that somebody else can make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub model: Model,
    /// `chat` where the model's own chat template framed the prompt, `none` for plain continuation.
    pub template: String,
    pub answer: Answer,
    /// The engine, such as `candle-cpu`.
    pub backend: String,
    /// Activations and accumulation, such as `f32`.
    pub precision: String,
    /// `f64` as computed, `16-bit` after a link.
    pub table_precision: String,
    /// Version of Glasscage.
    pub glasscage: String,
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
    Generated { sampling: Sampling, max_tokens: usize, stop: Stop },
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
pub enum Stop {
    /// The model ended its turn.
    End,
    /// The limit of tokens or of the context was reached.
    Length,
    /// The visitor pressed Stop.
    Cancelled,
}

/// Why a text is no explanation document.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum DocumentError {
    #[error("this is not an explanation document: {0}")]
    Json(String),
    #[error("this is not an explanation document (its format is {0:?})")]
    Format(String),
    #[error("this document has version {0}, newer than this page (version {VERSION})")]
    Version(u32),
    #[error("the {passage} of this document has sentences that do not tile its text")]
    Sentences { passage: &'static str },
    #[error("this document has {0} sentences, more than the {MAX_SENTENCES} that the page shows")]
    TooManySentences(usize),
    #[error("this document's table is for {table:?} prompt and generated sentences, its text has {text:?}")]
    TableShape { table: (usize, usize), text: (usize, usize) },
    #[error("this document explains generated sentence {0}, which it does not have")]
    Output(usize),
    #[error("this document names the sentences that it explains twice, or out of order")]
    OutputOrder,
}

impl Document {
    /// Reads and checks a document from outside.
    pub fn from_json(json: &str) -> Result<Self, DocumentError> {
        let document: Self = serde_json::from_str(json).map_err(|error| DocumentError::Json(error.to_string()))?;
        document.check()?;
        Ok(document)
    }

    /// The document as indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a document has only string keys and finite numbers")
    }

    /// Holds what the page relies on: sentences tile the text, the table fits them, the output exists.
    pub fn check(&self) -> Result<(), DocumentError> {
        if self.format != FORMAT {
            return Err(DocumentError::Format(self.format.clone()));
        }
        if self.version > VERSION {
            return Err(DocumentError::Version(self.version));
        }
        let text = (self.prompt.sentences.len(), self.generation.sentences.len());
        if text.0 + text.1 > MAX_SENTENCES {
            return Err(DocumentError::TooManySentences(text.0 + text.1));
        }
        for (passage, name) in [(&self.prompt, "prompt"), (&self.generation, "generation")] {
            if !passage.is_tiled() {
                return Err(DocumentError::Sentences { passage: name });
            }
        }
        let table = (self.table.n_prompt(), self.table.n_generated());
        if table != text {
            return Err(DocumentError::TableShape { table, text });
        }
        if !self.output.is_sorted_by(|a, b| a < b) {
            return Err(DocumentError::OutputOrder);
        }
        match self.output.iter().find(|&&i| i >= text.1) {
            Some(&i) => Err(DocumentError::Output(i)),
            None => Ok(()),
        }
    }

    /// The scores from which the graph is made: **T**, or its block sums.
    pub fn scores(&self) -> Table {
        match self.method.aggregation {
            Aggregation::Mean => self.table.clone(),
            Aggregation::Sum => self.block_sums(),
        }
    }

    /// **T** as the paper's reference code sums it: cell (i, j) times the tokens of both sentences, so that long ones weigh more.
    pub fn block_sums(&self) -> Table {
        let tokens: Vec<f64> = self.prompt.tokens.iter().chain(&self.generation.tokens).map(|&n| n as f64).collect();
        let n_prompt = self.prompt.sentences.len();
        let sum = |i: usize, j: usize| self.table.get(i, j).copied().flatten().map(|score| score * tokens[n_prompt + i] * tokens[j]);
        Table::from_fn(n_prompt, self.generation.sentences.len(), sum)
    }

    /// The same scores with the graph made of them in another way.
    pub fn derived(mut self, aggregation: Aggregation, normalization: Normalization) -> Self {
        self.method.aggregation = aggregation;
        self.method.normalization = normalization;
        self
    }

    /// The text of source `j`: prompt sentences first, then generated ones.
    pub fn source(&self, j: usize) -> &str {
        let n_prompt = self.prompt.sentences.len();
        if j < n_prompt { self.prompt.sentence(j) } else { self.generation.sentence(j - n_prompt) }
    }

    /// The name of source `j` on the page: P1, P2, ... G1, G2, ...
    pub fn label(&self, j: usize) -> String {
        let n_prompt = self.prompt.sentences.len();
        if j < n_prompt { format!("P{}", j + 1) } else { format!("G{}", j + 1 - n_prompt) }
    }

    /// Whether the other document explains the same answer to the same prompt, in the same sentences.
    pub fn is_same_text(&self, other: &Self) -> bool {
        let is_same = |a: &Passage, b: &Passage| a.text == b.text && a.sentences == b.sentences;
        is_same(&self.prompt, &other.prompt) && is_same(&self.generation, &other.generation)
    }

    /// Whether every cell was measured; not so while a run goes on or after Stop.
    pub fn is_complete(&self) -> bool {
        self.table.n_unmeasured() == 0
    }
}

impl Passage {
    /// A passage from byte spans that tile `text`.
    pub fn new(text: &str, sentences: &[Range<usize>], tokens: Vec<usize>) -> Self {
        let mut start = 0;
        let spans = sentences.iter().map(|bytes| {
            let end = start + text[bytes.clone()].chars().count();
            [std::mem::replace(&mut start, end), end]
        });
        Self { sentences: spans.collect(), text: text.to_owned(), tokens }
    }

    /// The text of sentence `i`, with the white space that follows it.
    pub fn sentence(&self, i: usize) -> &str {
        let [start, end] = self.sentences[i];
        let byte = |code_point: usize| self.text.char_indices().nth(code_point).map_or(self.text.len(), |(byte, _)| byte);
        &self.text[byte(start)..byte(end)]
    }

    /// The texts of all sentences, in order.
    pub fn sentence_texts(&self) -> Vec<&str> {
        let mut rest = self.text.as_str();
        let mut texts = Vec::with_capacity(self.sentences.len());
        for [start, end] in &self.sentences {
            let bytes = rest.char_indices().nth(end - start).map_or(rest.len(), |(byte, _)| byte);
            let (sentence, after) = rest.split_at(bytes);
            texts.push(sentence);
            rest = after;
        }
        texts
    }

    fn is_tiled(&self) -> bool {
        let mut covered = 0;
        let in_order = self.sentences.iter().all(|&[start, end]| std::mem::replace(&mut covered, end) == start && end > start);
        in_order && covered == self.text.chars().count() && !self.sentences.is_empty() && self.tokens.len() == self.sentences.len()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two prompt and two generated sentences, with letters of several bytes.
    pub(crate) fn example() -> Document {
        Document {
            format: FORMAT.into(),
            version: VERSION,
            unit: Unit::Sentence,
            prompt: Passage::new("Zoë has 2 figs. She eats 1.", &[0..17, 17..28], vec![6, 5]).into(),
            generation: Passage::new("2 - 1 = 1. So 1.", &[0..11, 11..16], vec![7, 3]).into(),
            table: Table::from_fn(2, 2, |i, j| Some([[0.5, 1.25, 0.0], [-0.125, 0.1, 2.0]][i][j])),
            output: vec![1],
            method: Method {
                id: "pert".into(),
                aggregation: Aggregation::Mean,
                normalization: Normalization::Full,
                replacement: "<|im_end|>".into(),
                passes: [3, 3],
            },
            manifest: Manifest {
                model: Model { name: "tiny".into(), architecture: "qwen3".into(), quantization: "Q8_0".into(), ..Model::default() },
                template: "chat".into(),
                answer: Answer::Generated { sampling: Sampling::GREEDY, max_tokens: 64, stop: Stop::End },
                backend: "candle-cpu".into(),
                precision: "f32".into(),
                table_precision: "f64".into(),
                glasscage: "0.1.0".into(),
            },
        }
    }

    #[test]
    fn a_document_survives_json() {
        let document = example();
        assert_eq!(Document::from_json(&document.to_json()), Ok(document));
    }

    #[test]
    fn sentences_are_found_by_code_points() {
        let document = example();
        assert_eq!(document.prompt.sentences, [[0, 16], [16, 27]]);
        assert_eq!(document.source(1), "She eats 1.");
        assert_eq!(document.prompt.sentence_texts(), ["Zoë has 2 figs. ", "She eats 1."]);
        assert_eq!((document.label(1), document.label(2)), ("P2".into(), "G1".into()));
    }

    #[test]
    fn documents_of_words_say_so_and_those_of_sentences_need_not() {
        assert!(!example().to_json().contains("unit"));
        let words = Document { unit: Unit::Word, ..example() };
        assert_eq!(Document::from_json(&words.to_json()), Ok(words));
    }

    #[test]
    fn the_table_stays_as_measured_however_the_graph_is_made() {
        let summed = example().derived(Aggregation::Sum, Normalization::None);
        assert_eq!(summed.table, example().table);
        // 0.5 nats on average over 7 tokens, once for each of the source's 6.
        assert_eq!(summed.scores().row(0), [Some(0.5 * 7.0 * 6.0), Some(1.25 * 7.0 * 5.0)]);
        assert_eq!(example().scores(), example().table);
        assert_eq!(Document::from_json(&summed.to_json()).unwrap().scores(), summed.scores());
    }

    #[test]
    fn what_does_not_hold_together_is_refused() {
        let refused = |change: fn(&mut Document)| {
            let mut document = example();
            change(&mut document);
            Document::from_json(&document.to_json()).unwrap_err()
        };
        assert_eq!(refused(|d| d.format = "cake".into()), DocumentError::Format("cake".into()));
        assert_eq!(refused(|d| d.version = 9), DocumentError::Version(9));
        assert_eq!(refused(|d| d.output = vec![2]), DocumentError::Output(2));
        assert_eq!(refused(|d| d.output = vec![1, 1]), DocumentError::OutputOrder);
        assert_eq!(refused(|d| Arc::make_mut(&mut d.prompt).sentences[0][1] = 3), DocumentError::Sentences { passage: "prompt" });
        assert_eq!(refused(|d| d.table = Table::unmeasured(1, 2)), DocumentError::TableShape { table: (1, 2), text: (2, 2) });
        assert!(matches!(Document::from_json("{}"), Err(DocumentError::Json(_))));
        let unknown = example().to_json().replacen('{', "{\"extra\": 1,", 1);
        assert!(matches!(Document::from_json(&unknown), Err(DocumentError::Json(_))));
    }
}
