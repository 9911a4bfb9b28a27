//! State of the open lesson: the current step and the reader's answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::lesson_history::LessonHistory;
use super::selection;
use crate::explanation::Document;
use crate::lesson::{Lesson, Question, Step};
use crate::shares::{AttributionGraph, Shares};
use crate::worker::envelope::RequestId;

/// A lesson and the reader's progress in it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLesson {
    pub lesson: Arc<Lesson>,
    /// The lesson as it was written, before translation into the language of the page.
    pub written: Arc<Lesson>,
    /// The step on screen (0-based).
    pub at: usize,
    /// One answer per step.
    answers: Vec<StepAnswer>,
    /// Whether the lesson is being edited instead of read.
    pub is_edited: bool,
    /// The changes of its author, for Undo and Redo.
    pub history: LessonHistory,
    /// How many times Undo or Redo has replaced the whole lesson.
    pub n_restored: u32,
    /// Whether the current step is shown only when the run ends.
    pub step_waits: bool,
    /// The fragment that opens it from the gallery, and the lesson as it is there.
    pub(in crate::app) gallery: Option<(String, Arc<Lesson>)>,
    /// Requests whose results will be added to the lesson.
    pub(in crate::app) awaited: Vec<RequestId>,
}

/// A reader's position and answers in a lesson, as stored in an entry of the browser's history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The current step (0-based).
    pub at: usize,
    /// One answer per step. May be empty if nothing is answered yet.
    pub answers: Vec<StepAnswer>,
}

/// The reader's answers at one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAnswer {
    /// Prompt sentences, ascending.
    pub marked: Vec<usize>,
    /// Whether the reader has revealed the shares.
    pub is_revealed: bool,
    /// The chosen answer (0-based).
    pub choice: Option<usize>,
}

impl OpenLesson {
    /// Opens a lesson at the reader's step, or at its last step if it has fewer.
    pub fn new(lesson: Lesson, Progress { at, mut answers }: Progress) -> Self {
        answers.resize(lesson.steps.len(), StepAnswer::default());
        let lesson = Arc::new(lesson);
        Self {
            at: at.min(lesson.steps.len().saturating_sub(1)),
            answers,
            written: lesson.clone(),
            lesson,
            is_edited: false,
            history: LessonHistory::default(),
            n_restored: 0,
            step_waits: false,
            gallery: None,
            awaited: Vec::new(),
        }
    }

    pub fn progress(&self) -> Progress {
        Progress { at: self.at, answers: self.answers.clone() }
    }

    pub fn step(&self) -> &Step {
        &self.lesson.steps[self.at]
    }

    pub fn answer(&self) -> &StepAnswer {
        &self.answers[self.at]
    }

    /// The explanation of the step, with the output that the step selects.
    pub fn document(&self) -> Document {
        self.lesson.document(self.step())
    }

    /// The explanation of the step, seen from its output.
    pub fn attribution(&self) -> Shares {
        let document = self.document();
        let output = selection::output_of(&document);
        Shares::new(Arc::new(AttributionGraph::new(document)), &output)
    }

    /// Number of sentences that the reader must mark before the shares are shown. `None` if no marks are needed, or not any more.
    pub fn required_marks(&self) -> Option<usize> {
        match self.step().question {
            Some(Question::Mark { count, .. }) if !self.answer().is_revealed && !self.is_edited => Some(count),
            _ => None,
        }
    }

    /// Goes to this step, or to the last step if there are fewer.
    pub(in crate::app) fn go_to(&mut self, at: usize) {
        self.at = at.min(self.lesson.steps.len() - 1);
    }

    /// Replaces the lesson with a changed version and clears the reader's answers.
    pub(in crate::app) fn change(&mut self, lesson: Lesson) {
        if lesson != *self.lesson {
            self.history.note(&self.lesson, self.at);
            self.put(lesson, self.at);
        }
    }

    /// Undoes the last change. Returns whether there was one.
    pub(in crate::app) fn undo(&mut self) -> bool {
        let version = self.history.undo(&self.lesson, self.at);
        self.restore(version)
    }

    /// Redoes the change that was undone last. Returns whether there was one.
    pub(in crate::app) fn redo(&mut self) -> bool {
        let version = self.history.redo(&self.lesson, self.at);
        self.restore(version)
    }

    fn restore(&mut self, version: Option<(Lesson, usize)>) -> bool {
        let is_there = version.is_some();
        if let Some((lesson, at)) = version {
            self.n_restored += 1;
            self.put(lesson, at);
        }
        is_there
    }

    fn put(&mut self, lesson: Lesson, at: usize) {
        let Self { lesson, written, at, answers, .. } = Self::new(lesson, Progress { at, ..Progress::default() });
        (self.lesson, self.written, self.at, self.answers) = (lesson, written, at, answers);
    }

    /// Switches between editing the lesson and reading it as others will. Clears the answers.
    pub(in crate::app) fn edit(&mut self, is_edited: bool) {
        self.is_edited = is_edited;
        self.answers.fill(StepAnswer::default());
    }

    /// Shows the lesson in another language.
    pub(in crate::app) fn translate(&mut self, translated: Lesson) {
        self.lesson = Arc::new(translated);
    }

    /// Marks a prompt sentence, or removes the mark. Ignores marks above the required number.
    pub(in crate::app) fn toggle_mark(&mut self, sentence: usize) {
        let Some(count) = self.required_marks() else { return };
        let marked = &mut self.answers[self.at].marked;
        match marked.binary_search(&sentence) {
            Ok(at) => drop(marked.remove(at)),
            Err(at) if marked.len() < count => marked.insert(at, sentence),
            Err(_) => {}
        }
    }

    /// Shows the shares if the required number of sentences is marked.
    pub(in crate::app) fn reveal(&mut self) {
        if self.required_marks() == Some(self.answer().marked.len()) {
            self.answers[self.at].is_revealed = true;
        }
    }

    pub(in crate::app) fn choose(&mut self, choice: usize) {
        self.answers[self.at].choice = Some(choice);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::app::analysis::example::document;

    /// A lesson with three steps: only a text, a sentence to mark, an answer to choose.
    pub fn lesson() -> Lesson {
        let mark = Question::Mark { ask: "Which?".into(), count: 1 };
        let choose = Question::Choose { ask: "How many?".into(), choices: vec!["1".into(), "2".into()], right: 1, because: "So.".into() };
        let steps = [None, Some(mark), Some(choose)].map(|question| Step { text: "Look.".into(), question, ..Step::default() });
        Lesson::new("A lesson", steps.to_vec(), vec![document()])
    }

    #[test]
    fn shares_stay_hidden_until_sentences_are_marked() {
        let mut open = OpenLesson::new(lesson(), Progress { at: 1, ..Progress::default() });
        assert_eq!(open.required_marks(), Some(1));
        open.reveal();
        assert_eq!(open.required_marks(), Some(1), "nothing is marked");
        open.toggle_mark(1);
        open.toggle_mark(0);
        assert_eq!(open.answer().marked, [1], "one is enough");
        open.toggle_mark(1);
        open.toggle_mark(0);
        open.reveal();
        assert_eq!((open.required_marks(), &open.answer().marked[..]), (None, &[0][..]));
        open.toggle_mark(1);
        assert_eq!(open.answer().marked, [0], "what is seen is not guessed any more");
        open.go_to(9);
        assert_eq!((open.at, open.required_marks()), (2, None));
        open.go_to(1);
        assert_eq!(open.required_marks(), None, "answers stay");
    }
}
