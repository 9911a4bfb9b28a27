//! The JSON document, versioned; its schema for other programs is `public/schema/explanation-1.json`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Aggregation, Manifest, Method, Passage, Unit};
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
        self.scores_by(self.method.aggregation)
    }

    /// The scores of all blocks, aggregated in this way.
    pub fn scores_by(&self, aggregation: Aggregation) -> Table {
        let tokens = [&self.prompt.tokens[..], &self.generation.tokens].concat();
        let n_prompt = self.prompt.sentences.len();
        let score = |i: usize, j: usize| Some(aggregation.score((*self.table.get(i, j)?)?, tokens[n_prompt + i], tokens[j]));
        Table::from_fn(n_prompt, self.generation.sentences.len(), score)
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

#[cfg(test)]
mod tests {
    use super::super::example::example;
    use super::*;

    #[test]
    fn a_document_survives_json() {
        let document = example();
        assert_eq!(Document::from_json(&document.to_json()), Ok(document));
    }

    #[test]
    fn sources_are_the_prompt_sentences_and_then_the_generated_ones() {
        let document = example();
        assert_eq!((document.source(1), document.source(2)), ("She eats 1.", "2 - 1 = 1. "));
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
