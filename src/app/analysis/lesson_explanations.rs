//! Labels of a lesson's explanations, and the explanations that can be added.

use crate::app::i18n::{t, text};
use crate::explanation::{Document, MethodText, title};
use crate::lesson::{Lesson, is_same_explanation};

/// Title and method: "How many beans are left? \u{b7} Attention".
pub fn label(document: &Document) -> String {
    t!("{title} \u{b7} {method}", title = title(document), method = text(MethodText::of(&document.method.id).label))
}

/// Label of each explanation of the lesson, and the 0-based steps that show it.
pub fn of_lesson(lesson: &Lesson) -> Vec<(String, Vec<usize>)> {
    let one = |(k, document)| (label(document), lesson.steps_with(k).collect());
    lesson.explanations.iter().enumerate().map(one).collect()
}

/// Distinct explanations from this session that the lesson does not contain.
pub fn offered<'a>(lesson: &Lesson, recent_explanations: impl Iterator<Item = &'a Document>) -> Vec<Document> {
    let mut offered: Vec<Document> = Vec::new();
    for document in recent_explanations {
        let known = lesson.explanations.iter().chain(&offered);
        if !{ known }.any(|known| is_same_explanation(known, document)) {
            offered.push(document.clone());
        }
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::app::state::lesson::tests::lesson;

    #[test]
    fn explanations_are_told_apart_by_question_and_method() {
        let mut lesson = lesson();
        let mut other = document();
        other.method.id = "pairs".into();
        let recent_explanations = [document(), other.clone(), Document { output: vec![0], ..other.clone() }];
        assert_eq!(offered(&lesson, recent_explanations.iter()), [other.clone()]);
        assert_eq!(lesson.add_explanations(vec![other.clone()]), 1);
        assert_eq!(offered(&lesson, recent_explanations.iter()), []);
        let [first, second] = &of_lesson(&lesson)[..] else { panic!() };
        assert_eq!((&first.0, &second.0, &first.1[..], &second.1[..]), (&label(&document()), &label(&other), &[0, 1, 2][..], &[][..]));
        assert!(second.0.ends_with("\u{b7} Leave one or two out (Pairs)"), "{}", second.0);
    }
}
