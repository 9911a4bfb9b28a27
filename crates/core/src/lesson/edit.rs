//! Edits of a lesson that affect several of its parts.

use super::document::Lesson;
use super::step::Question;
use crate::explanation::Document;
use crate::table::Table;

/// Largest difference of equal scores, as a part of the largest score in their row. A link keeps 16 bits of each score.
const LINK_ROUNDING: f64 = 1e-4;

/// Whether two documents explain the same text with the same measurement. Ignores their output, tokens and manifest, and the rounding of
/// numbers by a link.
pub fn is_same_explanation(a: &Document, b: &Document) -> bool {
    a.is_same_text(b) && a.method == b.method && parts(a) == parts(b) && rows(a).zip(rows(b)).all(|(a, b)| is_same_row(a, b))
}

/// What was measured, without the numbers.
fn parts(document: &Document) -> impl PartialEq {
    let Document { unit, alone, flow, joint, support, groups, contrasts, .. } = document;
    let contrasts: Vec<_> = contrasts.iter().map(|contrast| (contrast.span, contrast.alternative.as_str())).collect();
    (*unit, alone.is_some(), flow.is_some(), joint.len(), support.len(), groups.len(), contrasts)
}

fn rows(document: &Document) -> impl Iterator<Item = &[Option<f64>]> {
    std::iter::once(&document.table).chain(&document.alone).chain(&document.flow).flat_map(Table::rows)
}

fn is_same_row(a: &[Option<f64>], b: &[Option<f64>]) -> bool {
    let largest = a.iter().flatten().fold(0.0_f64, |largest, score| largest.max(score.abs()));
    a.iter().zip(b).all(|cells| match cells {
        (Some(a), Some(b)) => (a - b).abs() <= LINK_ROUNDING * largest,
        (a, b) => a == b,
    })
}

impl Lesson {
    /// 0-based indices of the steps that show this explanation.
    pub fn steps_with(&self, explanation: usize) -> impl Iterator<Item = usize> {
        (0..self.steps.len()).filter(move |&at| self.steps[at].explanation == explanation)
    }

    /// Adds the explanations that are not in the lesson yet. Returns their number.
    pub fn add_explanations(&mut self, documents: Vec<Document>) -> usize {
        let before = self.explanations.len();
        for document in documents {
            if !self.explanations.iter().any(|known| is_same_explanation(known, &document)) {
                self.explanations.push(document);
            }
        }
        self.explanations.len() - before
    }

    /// Makes step `at` show `explanation` with that explanation's own output. Reduces the number of sentences to mark if the prompt is
    /// shorter.
    pub fn show_in_step(&mut self, at: usize, explanation: usize) {
        let (Some(document), Some(step)) = (self.explanations.get(explanation), self.steps.get_mut(at)) else { return };
        step.explanation = explanation;
        step.output.clear();
        if let Some(Question::Mark { count, .. }) = &mut step.question {
            *count = (*count).clamp(1, document.prompt.sentences.len().max(1));
        }
    }

    /// Removes an explanation if no step shows it.
    pub fn remove_explanation(&mut self, explanation: usize) {
        if explanation < self.explanations.len() && self.steps_with(explanation).next().is_none() {
            self.explanations.remove(explanation);
            for step in self.steps.iter_mut().filter(|step| step.explanation > explanation) {
                step.explanation -= 1;
            }
        }
    }
}
