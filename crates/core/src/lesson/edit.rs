//! Edits of a lesson that affect several of its parts.

use super::document::Lesson;
use super::step::Question;
use crate::explanation::{self, Document};

/// Whether two documents explain the same text with the same measurement. Ignores their output and manifest. Compares what their links
/// would contain, because the numbers of one may have been rounded by a link.
pub fn is_same_explanation(a: &Document, b: &Document) -> bool {
    let measured = |document: &Document| {
        let document = Document { output: Vec::new(), manifest: a.manifest.clone(), ..document.clone() };
        explanation::link_content(&document)
    };
    a.is_same_text(b) && a.method.id == b.method.id && measured(a) == measured(b)
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
