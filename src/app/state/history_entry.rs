//! The state text of a browser history entry: an explanation and its origin, or a lesson and its reader's progress. The browser keeps it
//! through Back, Forward and a reload, and drops it with the entry.

use super::lesson::Progress;
use super::opened::Opened;
use super::origin::Origin;
use crate::explanation::Document;
use crate::lesson::Lesson;

const ORIGINS: [(Origin, &str); 5] =
    [(Origin::Here, "here"), (Origin::Link, "link"), (Origin::File, "file"), (Origin::Gallery, "gallery"), (Origin::Lesson, "of a lesson")];
/// Prefix of the line with the progress in a lesson.
const LESSON: &str = "lesson ";

/// The text of an explanation's entry: a line with the origin, then the document's JSON.
pub fn to_text(document: &Document, origin: Origin) -> String {
    let name = ORIGINS.iter().find(|(other, _)| *other == origin).map_or("", |(_, name)| name);
    format!("{name}\n{}", document.to_json())
}

/// The text of a lesson's entry: a line with the progress, then the lesson's JSON.
pub fn lesson_to_text(lesson: &Lesson, progress: &Progress) -> String {
    let progress = serde_json::to_string(progress).expect("numbers and lists of them");
    format!("{LESSON}{progress}\n{}", lesson.to_json())
}

/// Parses the text of an entry. `None` if another version of the page wrote it.
pub fn from_text(text: &str) -> Option<Opened> {
    let (name, json) = text.split_once('\n')?;
    if let Some(progress) = name.strip_prefix(LESSON) {
        return Some(Opened::Lesson(Lesson::from_json(json).ok()?, serde_json::from_str(progress).ok()?));
    }
    let (origin, _) = ORIGINS.iter().find(|(_, other)| *other == name)?;
    Some(Opened::Explanation(Document::from_json(json).ok()?.into(), *origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;
    use crate::app::state::lesson::StepAnswer;
    use crate::app::state::lesson::tests::lesson;

    #[test]
    fn an_entry_carries_an_explanation_and_where_it_came_from() {
        for (origin, _) in ORIGINS {
            assert_eq!(from_text(&to_text(&document(), origin)), Some(Opened::Explanation(document().into(), origin)));
        }
        for other in ["", "here", "here\n{}", "elsewhere\n{}", "lesson\n{}", "lesson 1\n{}"] {
            assert_eq!(from_text(other), None);
        }
    }

    #[test]
    fn an_entry_carries_a_lesson_and_what_was_answered() {
        let answers = vec![StepAnswer { marked: vec![0, 3], is_revealed: true, choice: Some(1) }; 3];
        let progress = Progress { at: 2, answers };
        assert_eq!(from_text(&lesson_to_text(&lesson(), &progress)), Some(Opened::Lesson(lesson(), progress)));
    }
}
