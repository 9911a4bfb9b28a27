//! Lessons: opened, gone through step by step, and left.

use crate::app::state::State;
use crate::app::state::explanation::Origin;
use crate::app::state::lesson::OpenLesson;
use crate::app::state::message::LessonMessage;
use crate::lesson::Lesson;

impl State {
    /// Puts a lesson on screen at one of its steps, as a new entry of the history.
    pub(super) fn show_lesson(&mut self, lesson: Lesson) {
        self.open_lesson(lesson, 0);
        self.push_entry();
    }

    /// Puts a lesson on screen at one of its steps.
    pub(super) fn open_lesson(&mut self, lesson: Lesson, at: usize) {
        let open = OpenLesson::new(lesson, at);
        self.open(open.document(), Origin::Lesson);
        *self.lesson = Some(open);
    }

    pub(super) fn lesson_message(&mut self, message: LessonMessage) {
        let Some(open) = &mut *self.lesson else { return };
        match message {
            LessonMessage::GoTo(at) => {
                open.go_to(at);
                self.show_step();
            }
            LessonMessage::Mark(sentence) => open.toggle_mark(sentence),
            LessonMessage::Reveal => open.reveal(),
            LessonMessage::Choose(choice) => open.choose(choice),
            LessonMessage::End => {
                *self.lesson = None;
                self.replace_entry();
            }
        }
    }

    /// What the step shows, in the place of what is on screen. A run that goes on keeps what it makes.
    fn show_step(&mut self) {
        let document = self.lesson.as_ref().map(OpenLesson::document);
        if let Some(document) = document.filter(|_| !self.engine.is_busy()) {
            self.explanation.show(document, Origin::Lesson);
            self.replace_entry();
        }
    }
}
