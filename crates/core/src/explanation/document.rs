//! JSON format of explanation documents. Version 2 lacks `turns`, `tokens`, `contrasts`, `groups`, `branches`, and some units. Version 1
//! also lacks `alone`, `joint`, `flow`, `support`, `sections`, `producer`, the method's `unit`, and other values
//! (`public/schema/explanation-3.json`).

use std::sync::Arc;

use glasscage_message::ToMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::{self, TooLarge};
use super::tokens::{self, Token};
use super::turns::{self, Turn};
use super::version::{VERSION, smallest_version};
use super::{Contrast, Derivation, Group, JointEffect, Manifest, Method, MethodText, Passage, Unit, Weighting, branch, groups};
use crate::table::Table;

/// The value of `format` in every document.
pub const FORMAT: &str = "glasscage-explanation";
/// Maximum number of sentences, prompt and answer together. More would be unreadable, and links are untrusted.
pub const MAX_SENTENCES: usize = 1000;

/// One explanation: text, sentences, the table **T** and how it was made. Everything else on the page (A, Y,
/// attributions, highlights) is computed from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Always [`FORMAT`].
    pub format: String,
    /// [`Document::to_json`] writes the smallest version that has all fields of the document.
    pub version: u32,
    /// Unit of the prompt's columns; [`Unit::of_answer`] is that of rows and other columns. Sentences in documents without this field.
    #[serde(default, skip_serializing_if = "Unit::is_sentence")]
    pub unit: Unit,
    /// Shared between clones of a document, which differ only in the table.
    pub prompt: Arc<Passage>,
    pub generation: Arc<Passage>,
    /// Turns of a conversation before its last answer, in the order of the text. The explained turns have the first sentences of the
    /// generation, and the others together have those of the prompt. Empty if the prompt is one text.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "turns::deserialize")]
    pub turns: Vec<Turn>,
    /// **T**, `m x (n + m)`: raw signed scores, `null` for cells without a score. A source after the sentence in the text has the score 0.
    pub table: Table,
    /// Effect of each source alone. Present if the table also counts joint effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<Table>,
    /// Joint effects of pairs of sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<JointEffect>,
    /// Information flow from each source, used to weight scores. Only ratios within a row matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Table>,
    /// Largest drop of the log-probability of a token of each generated sentence, in nats, when all [statements](Passage::statements) of
    /// the prompt are blanked out together. Statements are sentences for every unit. Empty if it was not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<f64>,
    /// The tokens of all generated sentences in order, [`Passage::tokens`] of each. Empty if they were not measured. Links leave them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "tokens::deserialize")]
    pub tokens: Vec<Token>,
    /// Comparisons of parts of the generation with other texts in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<Contrast>,
    /// Named passages of the prompt, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "groups::deserialize")]
    pub groups: Vec<Group>,
    /// The generated sentences to explain: 0-based rows of the table, ascending. If empty, see [`Document::explained`].
    pub output: Vec<usize>,
    pub method: Method,
    pub manifest: Manifest,
}

/// Why a text is not a valid explanation document.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum DocumentError {
    #[error("this file is damaged; it may have been cut off")]
    CutOff,
    #[error("this is not an explanation document")]
    Unknown,
    /// With the words of the parser, in English.
    #[error("this explanation document is invalid: {0}")]
    Json(String),
    #[error("this is not an explanation document (its format is {0:?})")]
    Format(String),
    #[error("this document has version {0}, newer than this page (version {VERSION})")]
    Version(u32),
    #[error("the sentences of this document’s {passage} leave gaps or overlap")]
    Sentences { passage: &'static str },
    #[error("the {passage} of this document has sections that do not cover its sentences")]
    Sections { passage: &'static str },
    #[error("the turns of this document do not cover its sentences, or are out of order")]
    Turns,
    #[error("this document has {0} sentences or other units, more than the {MAX_SENTENCES} that the page shows")]
    TooManySentences(usize),
    #[error("this document is larger than the page can show: {0}")]
    TooLarge(#[from] TooLarge),
    #[error("the table of this document is for {table:?} sentences (prompt, answer), but its text has {text:?}")]
    TableShape { table: (usize, usize), text: (usize, usize) },
    #[error("this document names sources of a joint effect that it does not have")]
    JointSources,
    #[error("this document uses flow weighting but contains no flow data")]
    Flow,
    #[error("this document has the support of {support} sentences, but its answer has {generated}")]
    Support { support: usize, generated: usize },
    #[error("this document has the probabilities of {probabilities} tokens, but its answer has {tokens}")]
    Tokens { probabilities: usize, tokens: usize },
    #[error("the tokens of this document are out of order, or outside its answer")]
    TokenSpans,
    #[error("this document has a probability above 1, or alternatives of a token that are too many or out of order")]
    Probabilities,
    #[error("this document has a comparison that does not fit its answer")]
    Contrast,
    #[error("the passages of this document are out of order, or do not fit its prompt and answer")]
    Groups,
    #[error("the branches of this document’s answer are out of order, or not alternatives of a token")]
    Branches,
    #[error("this document explains generated sentence {0}, which it does not have")]
    Output(usize),
    #[error("the explained sentences of this document are repeated or out of order")]
    OutputOrder,
}

impl DocumentError {
    /// Why `json` cannot be parsed as a document. Contains the words of the parser's `error` only if `json` claims to be a document.
    fn of_json(json: &str, error: &serde_json::Error) -> Self {
        let head = match serde_json::from_str::<Value>(json) {
            Err(error) if error.is_eof() => return Self::CutOff,
            Err(_) if json.contains(FORMAT) => return Self::Json(error.to_string()),
            Err(_) => return Self::Unknown,
            Ok(head) => head,
        };
        let version = head["version"].as_u64().and_then(|version| version.try_into().ok());
        match (head["format"].as_str(), version) {
            (Some(FORMAT), Some(version)) if version > VERSION => Self::Version(version),
            (Some(FORMAT), _) => Self::Json(error.to_string()),
            (Some(format), _) => Self::Format(format.to_owned()),
            (None, _) => Self::Unknown,
        }
    }
}

impl Document {
    /// Parses and checks an untrusted document.
    pub fn from_json(json: &str) -> Result<Self, DocumentError> {
        let document: Self = serde_json::from_str(json).map_err(|error| DocumentError::of_json(json, &error))?;
        document.check()?;
        Ok(document.versioned())
    }

    /// The document as indented JSON, with the smallest version that has all of its fields.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&self.clone().versioned()).expect("a document has only string keys and finite numbers")
    }

    /// The document with the smallest version that has all of its fields. Call it after setting or removing a field.
    pub fn versioned(self) -> Self {
        let lists_are_empty = self.tokens.is_empty() && self.contrasts.is_empty() && self.manifest.answer.branches().is_empty();
        let lists_are_empty = lists_are_empty && self.turns.is_empty() && self.groups.is_empty();
        let is_of_version_2 = lists_are_empty && self.unit.is_in_version_2();
        Self { version: smallest_version(self.version, !is_of_version_2), ..self }
    }

    /// Checks the invariants of a document: sentences tile the text, tables match them, explained sentences exist, sizes are within limits.
    /// Returns the first violation.
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
            if !passage.is_covered() {
                return Err(DocumentError::Sections { passage: name });
            }
        }
        if !turns::are_possible(&self.turns, text.0, text.1) {
            return Err(DocumentError::Turns);
        }
        limits::check_passage(&self.prompt)?;
        limits::check_passage(&self.generation)?;
        limits::check_joint(&self.joint)?;
        limits::check_support(&self.support)?;
        limits::check_tokens(&self.tokens)?;
        limits::check_contrasts(&self.contrasts)?;
        limits::check_groups(&self.groups)?;
        limits::check_names(&self.method, &self.manifest)?;
        for table in std::iter::once(&self.table).chain(&self.alone).chain(&self.flow) {
            limits::check_table(table)?;
            let table = (table.n_prompt(), table.n_generated());
            if table != text {
                return Err(DocumentError::TableShape { table, text });
            }
        }
        if self.method.weighting == Weighting::Flow && self.flow.is_none() {
            return Err(DocumentError::Flow);
        }
        if !self.support.is_empty() && self.support.len() != text.1 {
            return Err(DocumentError::Support { support: self.support.len(), generated: text.1 });
        }
        self.check_tokens()?;
        if !self.contrasts.iter().all(|contrast| contrast.fits(text.0, &self.generation)) {
            return Err(DocumentError::Contrast);
        }
        if !groups::fit(&self.groups, text.0, text.1) {
            return Err(DocumentError::Groups);
        }
        if !branch::are_possible(self.manifest.answer.branches()) {
            return Err(DocumentError::Branches);
        }
        let is_known = |&JointEffect { target, sources: [j, k], .. }: &JointEffect| target < text.1 && j < k && k < text.0 + target;
        if !self.joint.iter().all(is_known) {
            return Err(DocumentError::JointSources);
        }
        if !self.is_causal() {
            return Err(DocumentError::Turns);
        }
        if !self.output.is_sorted_by(|a, b| a < b) {
            return Err(DocumentError::OutputOrder);
        }
        match self.output.iter().find(|&&i| i >= text.1) {
            Some(&i) => Err(DocumentError::Output(i)),
            None => Ok(()),
        }
    }

    /// Checks that each token of the answer has a place in the text, and probabilities in order.
    fn check_tokens(&self) -> Result<(), DocumentError> {
        // The sum of untrusted counts may not fit into 32 bits.
        let (probabilities, tokens) = (self.tokens.len(), self.generation.tokens.iter().copied().fold(0, usize::saturating_add));
        if probabilities > 0 && probabilities != tokens {
            return Err(DocumentError::Tokens { probabilities, tokens });
        }
        if !tokens::are_in_order(&self.tokens, self.generation.text.chars().count()) {
            return Err(DocumentError::TokenSpans);
        }
        if !tokens::are_probabilities(&self.tokens) {
            return Err(DocumentError::Probabilities);
        }
        Ok(())
    }

    /// The tokens of generated sentence `i`. Empty if the document has no tokens.
    pub fn tokens_of(&self, i: usize) -> &[Token] {
        if self.tokens.is_empty() {
            return &[];
        }
        let start: usize = self.generation.tokens[..i].iter().sum();
        self.tokens.get(start..start + self.generation.tokens[i]).unwrap_or_default()
    }

    /// The generated sentences to explain. If the document chooses none, the last one.
    pub fn explained(&self) -> Vec<usize> {
        match self.output.is_empty() {
            true => self.table.n_generated().checked_sub(1).into_iter().collect(),
            false => self.output.clone(),
        }
    }

    /// **S**, the derived scores from which the graph is built: **T**, aggregated, compressed and weighted as the method says.
    pub fn scores(&self) -> Table {
        self.scores_by(self.method.derivation())
    }

    /// Derived scores of all cells under `derivation`: aggregated, compressed and weighted.
    pub fn scores_by(&self, derivation: Derivation) -> Table {
        let tokens = [&self.prompt.tokens[..], &self.generation.tokens].concat();
        let n_prompt = self.prompt.sentences.len();
        let weights: Option<Vec<Vec<f64>>> = self.flow_by(derivation).map(|flow| flow.rows().map(flow_weights).collect());
        let score = |i: usize, j: usize| {
            let score = derivation.score((*self.table.get(i, j)?)?, tokens[n_prompt + i], tokens[j]);
            Some(score * weights.as_ref().map_or(1.0, |weights| weights[i][j]))
        };
        Table::from_fn(n_prompt, self.generation.sentences.len(), score)
    }

    /// Derived score of a part of source `j` on generated sentence `i`, weighted like the whole source. `score` is the part's mean score,
    /// `tokens` its number of tokens.
    pub fn score_of_part(&self, i: usize, j: usize, score: f64, tokens: usize) -> f64 {
        let derivation = self.method.derivation();
        let weight = self.flow_by(derivation).map_or(1.0, |flow| flow_weights(flow.row(i))[j]);
        derivation.score(score, self.generation.tokens[i], tokens) * weight
    }

    /// The flow table if `derivation` weights by flow and the document has one.
    fn flow_by(&self, derivation: Derivation) -> Option<&Table> {
        self.flow.as_ref().filter(|_| derivation.weighting == Weighting::Flow)
    }

    /// Changes how the graph is derived from the same scores. Without flow data, flow weighting is applied only if the document already
    /// uses it.
    pub fn derived(mut self, derivation: Derivation) -> Self {
        let Derivation { aggregation, compression, weighting, normalization } = self.possible(derivation);
        self.method.aggregation = aggregation;
        self.method.compression = compression;
        self.method.weighting = weighting;
        self.method.normalization = normalization;
        self
    }

    /// The default derivation of the method, restricted to what [`Document::derived`] can apply to this document.
    pub fn default_derivation(&self) -> Derivation {
        self.possible(MethodText::of(&self.method.id).derivation)
    }

    fn possible(&self, derivation: Derivation) -> Derivation {
        let can_weight = self.flow.is_some() || self.method.weighting == derivation.weighting;
        Derivation { weighting: if can_weight { derivation.weighting } else { Weighting::None }, ..derivation }
    }

    /// Credits all joint effects of source `j` to `j` if `own`, else to the partner sources. Pair measurements cannot decide which of the
    /// two is right. Returns `None` if the document has no joint effects.
    pub fn with_joint_effects_of(&self, j: usize, own: bool) -> Option<Self> {
        self.alone.as_ref()?;
        let mut document = self.clone();
        for JointEffect { target, sources, amount, .. } in self.joint.iter().filter(|joint| joint.sources.contains(&j)) {
            for &source in sources {
                let sign = if (source == j) == own { 0.5 } else { -0.5 };
                if let Some(score) = document.table.row_mut(*target)[source].as_mut() {
                    *score = (*score + sign * amount).max(0.0);
                }
            }
        }
        Some(document)
    }

    /// The text of source `j`: prompt sentences first, then generated ones.
    pub fn source(&self, j: usize) -> &str {
        let n_prompt = self.prompt.sentences.len();
        if j < n_prompt { self.prompt.sentence(j) } else { self.generation.sentence(j - n_prompt) }
    }

    /// The texts of all units of the prompt, and then of all generated ones. Faster than [`Self::source`] for each.
    pub fn source_texts(&self) -> Vec<&str> {
        [self.prompt.sentence_texts(), self.generation.sentence_texts()].concat()
    }

    /// The name of source `j` on the page: P1, P2, ... G1, G2, ...
    pub fn label(&self, j: usize) -> String {
        let n_prompt = self.prompt.sentences.len();
        if j < n_prompt { format!("P{}", j + 1) } else { format!("G{}", j + 1 - n_prompt) }
    }

    /// The names of all sources, in order.
    pub fn labels(&self) -> Vec<String> {
        (0..self.table.n_sources()).map(|j| self.label(j)).collect()
    }

    /// Whether both documents explain the same answer to the same prompt, split into the same sentences and turns.
    pub fn is_same_text(&self, other: &Self) -> bool {
        let is_same = |a: &Passage, b: &Passage| a.text == b.text && a.sentences == b.sentences;
        is_same(&self.prompt, &other.prompt) && self.turns == other.turns && is_same(&self.generation, &other.generation)
    }

    /// Whether every cell is measured. False during a run and after Stop.
    pub fn is_complete(&self) -> bool {
        self.table.n_unmeasured() == 0
    }
}

/// Weights of the sources in one row: flow divided by the largest flow in the row, to the power 2/3. A source without flow has weight 0.
fn flow_weights(row: &[Option<f64>]) -> Vec<f64> {
    let flows = row.iter().map(|flow| flow.unwrap_or(0.0));
    let largest = flows.clone().fold(0.0, f64::max);
    flows.map(|flow| if flow > 0.0 { (flow / largest).cbrt().powi(2) } else { 0.0 }).collect()
}
