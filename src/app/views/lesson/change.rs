use leptos::prelude::*;

use crate::app::page::Page;
use crate::app::state::message::LessonMessage;
use crate::lesson::{Lesson, Question, Step};

/// Changes the step on screen, or the lesson around it.
#[derive(Clone, Copy)]
pub struct Change {
    pub page: Page,
}

impl Change {
    pub fn lesson(self, change: impl FnOnce(&mut Lesson, usize)) {
        let lesson = untrack(|| self.page.with(|state| state.lesson().map(|open| (Lesson::clone(&open.lesson), open.at))));
        if let Some((mut lesson, at)) = lesson {
            change(&mut lesson, at);
            self.page.send(LessonMessage::Change(Box::new(lesson)));
        }
    }

    pub fn step(self, change: impl FnOnce(&mut Step)) {
        self.lesson(|lesson, at| change(&mut lesson.steps[at]));
    }

    /// Changes the question of the step, if there is one.
    pub fn question(self, change: impl FnOnce(&mut Question)) {
        self.step(|step| {
            if let Some(question) = &mut step.question {
                change(question);
            }
        });
    }
}
