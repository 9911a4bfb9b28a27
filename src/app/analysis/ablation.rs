//! What the model says to the prompt without some of its sentences.

use super::number;
use crate::explanation::{Document, Passage};

/// One such prompt and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ablation {
    /// "P2 and P4".
    pub removed: String,
    /// What is left of the prompt.
    pub prompt: String,
    pub answer: AblationAnswer,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AblationAnswer {
    /// Being written.
    Growing(String),
    /// The sentences of the answer.
    Whole(Vec<String>),
    /// Ended early.
    Stopped(String),
}

impl Ablation {
    /// The prompt of `document` without the prompt sentences `removed`; `None` where none is removed, or nothing is left.
    pub fn new(document: &Document, removed: &[usize]) -> Option<Self> {
        let prompt = without(&document.prompt, removed);
        let is_something = !removed.is_empty() && !prompt.trim().is_empty();
        let labels: Vec<String> = removed.iter().map(|&j| document.label(j)).collect();
        is_something.then(|| Self { removed: number::listed(&labels), prompt, answer: AblationAnswer::Growing(String::new()) })
    }

    /// One more piece of the answer.
    pub fn push(&mut self, piece: &str) {
        if let AblationAnswer::Growing(answer) = &mut self.answer {
            answer.push_str(piece);
        }
    }

    /// Whether the answer is being written.
    pub fn is_growing(&self) -> bool {
        matches!(self.answer, AblationAnswer::Growing(_))
    }

    /// The run ended early: what is there stays.
    pub fn settle(&mut self) {
        if let AblationAnswer::Growing(answer) = &mut self.answer {
            self.answer = AblationAnswer::Stopped(std::mem::take(answer));
        }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        matches!(&self.answer, AblationAnswer::Stopped(answer) if answer.trim().is_empty())
    }

    /// What the missing sentences did to the answer, in words; the sentences of the one before are `original`.
    pub fn verdict(&self, original: &[&str]) -> &'static str {
        match &self.answer {
            AblationAnswer::Growing(_) => "",
            AblationAnswer::Stopped(_) => "Stopped before its end.",
            AblationAnswer::Whole(sentences) if is_same(original, sentences) => "The same answer, word for word.",
            AblationAnswer::Whole(sentences) if is_last_same(original, sentences) => "Other steps, the same ending.",
            AblationAnswer::Whole(_) => "Another ending.",
        }
    }
}

/// The text without these sentences. Where a paragraph ended, one still ends.
fn without(passage: &Passage, removed: &[usize]) -> String {
    let mut rest = String::new();
    for (j, sentence) in passage.sentence_texts().into_iter().enumerate() {
        if !removed.contains(&j) {
            rest.push_str(sentence);
            continue;
        }
        let space = &sentence[sentence.trim_end().len()..];
        let kept = rest.trim_end().len();
        if kept > 0 && space.matches('\n').count() > rest[kept..].matches('\n').count() {
            rest.truncate(kept);
            rest.push_str(space);
        }
    }
    rest.trim_end().to_owned()
}

/// For each of `sentences` whether it is in none of the `original` ones.
pub fn are_new(original: &[&str], sentences: &[String]) -> Vec<bool> {
    sentences.iter().map(|sentence| !original.iter().any(|known| known.trim() == sentence.trim())).collect()
}

fn is_same(original: &[&str], sentences: &[String]) -> bool {
    original.concat().trim() == sentences.concat().trim()
}

fn is_last_same(original: &[&str], sentences: &[String]) -> bool {
    original.last().map(|last| last.trim()) == sentences.last().map(|last| last.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::attribution_graph::tests::document;

    fn passage(sentences: &[&str]) -> Passage {
        let ends: Vec<usize> = sentences
            .iter()
            .scan(0, |end, sentence| {
                *end += sentence.len();
                Some(*end)
            })
            .collect();
        let spans: Vec<_> = std::iter::once(0).chain(ends.iter().copied()).zip(&ends).map(|(start, &end)| start..end).collect();
        Passage::new(&sentences.concat(), &spans, vec![1; sentences.len()])
    }

    #[test]
    fn paragraphs_still_end_where_their_last_sentence_is_gone() {
        let text = passage(&["A. ", "B.\n\n", "C. ", "D?"]);
        assert_eq!(without(&text, &[1]), "A.\n\nC. D?");
        assert_eq!(without(&text, &[0, 1]), "C. D?");
        assert_eq!(without(&text, &[3]), "A. B.\n\nC.");
        assert_eq!(without(&text, &[0, 1, 2, 3]), "");
    }

    #[test]
    fn nothing_removed_and_nothing_left_are_no_trials() {
        let document = document();
        assert_eq!(Ablation::new(&document, &[]), None);
        assert_eq!(Ablation::new(&document, &[0, 1]), None);
        let ablation = Ablation::new(&document, &[0]).unwrap();
        assert_eq!((ablation.removed.as_str(), ablation.prompt.as_str()), ("P1", "B."));
    }

    #[test]
    fn the_verdict_compares_the_last_sentences() {
        let mut ablation = Ablation::new(&document(), &[0]).unwrap();
        let mut verdict = |sentences: &[&str]| {
            ablation.answer = AblationAnswer::Whole(sentences.iter().map(|sentence| (*sentence).into()).collect());
            ablation.verdict(&["2 + 2 = 4. ", "So 4."])
        };
        assert!(verdict(&["2 + 2 = 4. ", "So 4. "]).starts_with("The same answer"));
        assert!(verdict(&["1 + 3 = 4. ", "So 4."]).starts_with("Other steps"));
        assert!(verdict(&["So 5."]).starts_with("Another ending"));
        assert_eq!(are_new(&["2 + 2 = 4. ", "So 4."], &["1 + 3 = 4. ".into(), "So 4.".into()]), [true, false]);
    }

    #[test]
    fn a_trial_that_was_stopped_keeps_its_words() {
        let mut ablation = Ablation::new(&document(), &[0]).unwrap();
        ablation.push("So ");
        ablation.push("4");
        ablation.settle();
        assert_eq!(ablation.answer, AblationAnswer::Stopped("So 4".into()));
        assert!(!ablation.is_empty() && ablation.verdict(&[]).starts_with("Stopped"));
    }
}
