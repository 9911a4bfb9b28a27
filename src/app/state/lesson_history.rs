//! Undo and Redo for a lesson that is being edited.

use std::sync::Arc;

use crate::explanation::Document;
use crate::lesson::{Lesson, Step};

/// Maximum number of changes that can be undone.
const MAX_CHANGES: usize = 100;

/// The versions for Undo and Redo. They share their explanations, which are most of a lesson and rarely change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LessonHistory {
    /// Versions before the current one, latest last.
    past: Vec<Version>,
    /// Undone versions. Redo takes the last one first.
    future: Vec<Version>,
}

/// A lesson, and the step that was on screen.
#[derive(Clone, Debug, PartialEq)]
struct Version {
    language: Option<String>,
    title: String,
    steps: Vec<Step>,
    explanations: Arc<Vec<Document>>,
    at: usize,
}

impl LessonHistory {
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// Records the lesson as it was before a change.
    pub fn note(&mut self, before: &Lesson, at: usize) {
        self.future.clear();
        let version = self.version(before, at);
        self.past.push(version);
        self.past.drain(..self.past.len().saturating_sub(MAX_CHANGES));
    }

    /// Returns the version before the current one, which Redo can then restore.
    pub fn undo(&mut self, now: &Lesson, at: usize) -> Option<(Lesson, usize)> {
        let now = self.version(now, at);
        let before = self.past.pop()?;
        self.future.push(now);
        Some(before.into_lesson())
    }

    /// Returns the version that was undone last.
    pub fn redo(&mut self, now: &Lesson, at: usize) -> Option<(Lesson, usize)> {
        let now = self.version(now, at);
        let after = self.future.pop()?;
        self.past.push(now);
        Some(after.into_lesson())
    }

    fn version(&self, lesson: &Lesson, at: usize) -> Version {
        let known = [&self.past, &self.future].into_iter().filter_map(|versions| versions.last());
        let same = known.map(|version| &version.explanations).find(|known| ***known == lesson.explanations);
        Version {
            language: lesson.language.clone(),
            title: lesson.title.clone(),
            steps: lesson.steps.clone(),
            explanations: same.cloned().unwrap_or_else(|| Arc::new(lesson.explanations.clone())),
            at,
        }
    }
}

impl Version {
    fn into_lesson(self) -> (Lesson, usize) {
        let Self { language, title, steps, explanations, at } = self;
        (Lesson { language, ..Lesson::new(title, steps, Vec::clone(&explanations)) }, at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::app::state::lesson::tests::lesson;

    fn titled(title: u8) -> Lesson {
        Lesson { title: title.to_string(), language: Some("de".into()), ..lesson() }
    }

    proptest! {
        /// Compares with a simple model: a list of all versions and the position in it.
        #[test]
        fn undo_and_redo_go_through_the_versions(actions in prop::collection::vec(0_u8..3, 0..60)) {
            let mut history = LessonHistory::default();
            let (mut versions, mut place) = (vec![titled(0)], 0);
            for (number, action) in actions.into_iter().enumerate() {
                let (now, at) = (versions[place].clone(), place % 3);
                prop_assert_eq!((history.can_undo(), history.can_redo()), (place > 0, place + 1 < versions.len()));
                match action {
                    0 => {
                        history.note(&now, at);
                        versions.truncate(place + 1);
                        versions.push(titled(number as u8 + 1));
                        place += 1;
                    }
                    1 => {
                        let expected = place.checked_sub(1).map(|before| (versions[before].clone(), before % 3));
                        place -= usize::from(expected.is_some());
                        prop_assert_eq!(history.undo(&now, at), expected);
                    }
                    _ => {
                        let expected = versions.get(place + 1).map(|after| (after.clone(), (place + 1) % 3));
                        place += usize::from(expected.is_some());
                        prop_assert_eq!(history.redo(&now, at), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_explanations_are_shared() {
        let mut history = LessonHistory::default();
        for number in 0..=u8::MAX {
            history.note(&titled(number), 0);
        }
        assert_eq!((history.past.len(), history.past[0].title.as_str()), (MAX_CHANGES, "156"));
        let shared = &history.past[0].explanations;
        assert!(history.past.iter().all(|version| Arc::ptr_eq(&version.explanations, shared)));
        let mut now = titled(0);
        while let Some((before, at)) = history.undo(&now, 0) {
            assert_eq!(at, 0);
            now = before;
        }
        assert_eq!((now.title.as_str(), history.future.len()), ("156", MAX_CHANGES));
    }
}
