//! The lesson that the reader is in: where, and what was answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::lesson_history::LessonHistory;
use super::selection;
use crate::app::analysis::attribution_graph::AttributionGraph;
use crate::app::analysis::attribution_view::AttributionView;
use crate::explanation::Document;
use crate::lesson::{Lesson, Question, Step};

/// A lesson and how far it is gone through.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLesson {
    pub lesson: Arc<Lesson>,
    /// The same as it was written, where it is told in the language of the page.
    pub written: Arc<Lesson>,
    /// The step on screen, from 0.
    pub at: usize,
    /// For each step.
    answers: Vec<StepAnswer>,
    /// Whether it is being written, and not read.
    pub is_edited: bool,
    /// What its writer changed.
    pub history: LessonHistory,
    /// How often another version of it was taken up as a whole.
    pub n_restored: u32,
}

/// Where a reader is in a lesson, and what was answered on the way; as an entry of the browser's history keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The step, from 0.
    pub at: usize,
    /// For each step; none where nothing is answered yet.
    pub answers: Vec<StepAnswer>,
}

/// What the reader answered at one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepAnswer {
    /// Prompt sentences, ascending.
    pub marked: Vec<usize>,
    /// The shares were asked for.
    pub is_revealed: bool,
    /// The answer chosen.
    pub choice: Option<usize>,
}

impl OpenLesson {
    /// The lesson at the reader's step, or its last one.
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

    /// The explanation of the step, with what the step chooses in it.
    pub fn document(&self) -> Document {
        self.lesson.document(self.step())
    }

    /// The same, as seen from what it explains.
    pub fn attribution(&self) -> AttributionView {
        let document = self.document();
        let output = selection::output_of(&document);
        AttributionView::new(Arc::new(AttributionGraph::new(document)), &output)
    }

    /// How many sentences the reader is to mark, where nothing may be seen before that.
    pub fn to_mark(&self) -> Option<usize> {
        match self.step().question {
            Some(Question::Mark { count, .. }) if !self.answer().is_revealed && !self.is_edited => Some(count),
            _ => None,
        }
    }

    /// Goes to a step that there is.
    pub(in crate::app) fn go_to(&mut self, at: usize) {
        self.at = at.min(self.lesson.steps.len() - 1);
    }

    /// Puts a changed lesson in its place; what was answered is forgotten.
    pub(in crate::app) fn change(&mut self, lesson: Lesson) {
        if lesson != *self.lesson {
            self.history.note(&self.lesson, self.at);
            self.put(lesson, self.at);
        }
    }

    /// Takes the last change back; whether there was one.
    pub(in crate::app) fn undo(&mut self) -> bool {
        let version = self.history.undo(&self.lesson, self.at);
        self.restore(version)
    }

    /// Makes the change again that was taken back last; whether there was one.
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
        let Self { is_edited, n_restored, .. } = *self;
        let history = std::mem::take(&mut self.history);
        *self = Self { is_edited, n_restored, history, ..Self::new(lesson, Progress { at, ..Progress::default() }) };
    }

    /// Writes the lesson, or reads it as others will.
    pub(in crate::app) fn edit(&mut self, is_edited: bool) {
        self.is_edited = is_edited;
        self.answers.fill(StepAnswer::default());
    }

    /// Tells it in another language.
    pub(in crate::app) fn translate(&mut self, translated: Lesson) {
        self.lesson = Arc::new(translated);
    }

    /// Marks a prompt sentence, or takes the mark away. No more are marked than are asked for.
    pub(in crate::app) fn toggle_mark(&mut self, sentence: usize) {
        let Some(count) = self.to_mark() else { return };
        let marked = &mut self.answers[self.at].marked;
        match marked.binary_search(&sentence) {
            Ok(at) => drop(marked.remove(at)),
            Err(at) if marked.len() < count => marked.insert(at, sentence),
            Err(_) => {}
        }
    }

    /// Shows the shares, when as many sentences are marked as are asked for.
    pub(in crate::app) fn reveal(&mut self) {
        if self.to_mark() == Some(self.answer().marked.len()) {
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
    use crate::app::analysis::attribution_graph::tests::document;

    /// Words, a sentence to mark, an answer to choose.
    pub fn lesson() -> Lesson {
        let mark = Question::Mark { ask: "Which?".into(), count: 1 };
        let choose = Question::Choose { ask: "How many?".into(), choices: vec!["1".into(), "2".into()], right: 1, because: "So.".into() };
        let steps = [None, Some(mark), Some(choose)].map(|question| Step { text: "Look.".into(), question, ..Step::default() });
        Lesson::new("A lesson", steps.to_vec(), vec![document()])
    }

    #[test]
    fn shares_wait_until_as_many_sentences_are_marked_as_are_asked_for() {
        let mut open = OpenLesson::new(lesson(), Progress { at: 1, ..Progress::default() });
        assert_eq!(open.to_mark(), Some(1));
        open.reveal();
        assert_eq!(open.to_mark(), Some(1), "nothing is marked");
        open.toggle_mark(1);
        open.toggle_mark(0);
        assert_eq!(open.answer().marked, [1], "one is enough");
        open.toggle_mark(1);
        open.toggle_mark(0);
        open.reveal();
        assert_eq!((open.to_mark(), &open.answer().marked[..]), (None, &[0][..]));
        open.toggle_mark(1);
        assert_eq!(open.answer().marked, [0], "what is seen is not guessed any more");
        open.go_to(9);
        assert_eq!((open.at, open.to_mark()), (2, None));
        open.go_to(1);
        assert_eq!(open.to_mark(), None, "answers stay");
    }
}
