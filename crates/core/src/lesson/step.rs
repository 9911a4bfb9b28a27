//! One step of a lesson.

use serde::{Deserialize, Serialize};

use crate::explanation::Document;

/// Maximum number of choices.
const MAX_CHOICES: usize = 10;

/// A text for the reader, the view next to it, and an optional question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Paragraphs, separated by empty lines.
    pub text: String,
    /// 0-based index of the explanation that this step shows.
    #[serde(default)]
    pub explanation: usize,
    /// The generated sentences that are explained: 0-based, ascending. If empty, those of the explanation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<usize>,
    #[serde(default)]
    pub shown: Shown,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// The view of the explanation that a step shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    #[default]
    Text,
    Path,
    Table,
    /// Only the text of the step.
    Nothing,
}

/// A question to the reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// The reader marks prompt sentences, before any share is shown.
    Mark { ask: String, count: usize },
    /// The reader chooses one of several answers.
    Choose { ask: String, choices: Vec<String>, right: usize, because: String },
}

impl Step {
    /// All texts of the step.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let asked: Vec<&str> = match &self.question {
            None => Vec::new(),
            Some(Question::Mark { ask, .. }) => vec![ask],
            Some(Question::Choose { ask, choices, because, .. }) => choices.iter().chain([ask, because]).map(String::as_str).collect(),
        };
        asked.into_iter().chain([self.text.as_str()])
    }

    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let asked: Vec<&mut String> = match &mut self.question {
            None => Vec::new(),
            Some(Question::Mark { ask, .. }) => vec![ask],
            Some(Question::Choose { ask, choices, because, .. }) => choices.iter_mut().chain([ask, because]).collect(),
        };
        asked.into_iter().chain([&mut self.text])
    }

    /// Whether the step refers only to existing parts of `document`, and its question can be answered.
    pub(super) fn fits(&self, document: &Document) -> bool {
        let n_generated = document.generation.sentences.len();
        let is_asked_well = match &self.question {
            None => true,
            Some(Question::Mark { count, .. }) => (1..=document.prompt.sentences.len()).contains(count),
            Some(Question::Choose { choices, right, .. }) => (2..=MAX_CHOICES).contains(&choices.len()) && *right < choices.len(),
        };
        is_asked_well && self.output.is_sorted_by(|a, b| a < b) && self.output.iter().all(|&row| row < n_generated)
    }
}
