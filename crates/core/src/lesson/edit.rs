//! Changes of a lesson that concern several of its parts.

use super::document::Lesson;
use super::step::Question;
use crate::explanation::{self, Document};

/// Whether two documents explain the same text by the same measurement, whatever they choose in it; one may have come in a link, whose
/// numbers are rounded.
pub fn is_same_explanation(a: &Document, b: &Document) -> bool {
    let measured = |document: &Document| {
        let document = Document { output: Vec::new(), manifest: a.manifest.clone(), ..document.clone() };
        explanation::to_fragment(&document)
    };
    a.is_same_text(b) && a.method.id == b.method.id && measured(a) == measured(b)
}

impl Lesson {
    /// The steps that show this explanation, from 0.
    pub fn steps_with(&self, explanation: usize) -> impl Iterator<Item = usize> {
        (0..self.steps.len()).filter(move |&at| self.steps[at].explanation == explanation)
    }

    /// Adds the explanations that are not in it yet; how many those are.
    pub fn add_explanations(&mut self, documents: Vec<Document>) -> usize {
        let before = self.explanations.len();
        for document in documents {
            if !self.explanations.iter().any(|known| is_same_explanation(known, &document)) {
                self.explanations.push(document);
            }
        }
        self.explanations.len() - before
    }

    /// Lets a step show another explanation, as that one was chosen. No more sentences are to be marked than it has.
    pub fn show_in_step(&mut self, at: usize, explanation: usize) {
        let (Some(document), Some(step)) = (self.explanations.get(explanation), self.steps.get_mut(at)) else { return };
        step.explanation = explanation;
        step.output.clear();
        if let Some(Question::Mark { count, .. }) = &mut step.question {
            *count = (*count).clamp(1, document.prompt.sentences.len().max(1));
        }
    }

    /// Takes an explanation out that no step shows.
    pub fn remove_explanation(&mut self, explanation: usize) {
        if explanation < self.explanations.len() && self.steps_with(explanation).next().is_none() {
            self.explanations.remove(explanation);
            for step in self.steps.iter_mut().filter(|step| step.explanation > explanation) {
                step.explanation -= 1;
            }
        }
    }
}
