//! Lessons: opened, gone through step by step, and left.

use crate::app::gallery::GalleryEntry;
use crate::app::i18n::t;
use crate::app::state::explanation::Origin;
use crate::app::state::lesson::{OpenLesson, Progress};
use crate::app::state::lesson_texts;
use crate::app::state::message::{Effect, Fetch, LessonMessage};
use crate::app::state::opened::Opened;
use crate::app::state::place::Place;
use crate::app::state::{Awaited, State};
use crate::explanation::Document;
use crate::lesson::{Lesson, Step};
use crate::problem::Problem;
use crate::worker::envelope::RequestId;

impl State {
    /// Puts a lesson on screen where its reader is in it.
    pub(super) fn open_lesson(&mut self, lesson: Lesson, progress: Progress) {
        let open = OpenLesson::new(lesson, progress);
        self.open(open.document(), Origin::Lesson);
        let is_english = lesson_texts::is_english(&open.written);
        *self.lesson = Some(open);
        self.translate_lesson();
        if let Some(tag) = self.lesson_texts.missing().filter(|_| is_english) {
            self.emit(Effect::Fetch(Fetch::LessonTexts(tag)));
        }
    }

    /// Takes what the gallery's lessons say in the language of the page; a lesson that waits for it is fetched now.
    pub(super) fn lesson_texts_fetched(&mut self, texts: Option<&str>) {
        let are_here = self.lesson_texts.arrived(texts);
        self.translate_lesson();
        match &self.awaited {
            // When it is on screen, they are asked for again.
            Some(Awaited { id, entry: Some(entry) }) if entry.is_lesson() => {
                self.emit(Effect::Fetch(Fetch::GalleryEntry(*id, entry.clone())));
            }
            _ => self.say_unless(are_here),
        }
    }

    /// Tells the lesson on screen in the language of the page, where it is one of ours, and as it was written.
    fn translate_lesson(&mut self) {
        let translated = self.lesson.as_ref().and_then(|open| self.lesson_texts.translated(&open.written));
        if let (Some(translated), Some(open)) = (translated, &mut *self.lesson)
            && open.lesson == open.written
            && !open.is_edited
        {
            open.translate(translated);
        }
    }

    pub(super) fn lesson_message(&mut self, message: LessonMessage) {
        let Some(open) = &mut *self.lesson else { return };
        match message {
            LessonMessage::GoTo(at) => {
                open.go_to(at);
                self.show_step();
            }
            LessonMessage::Mark(sentence) => self.answer_step(|open| open.toggle_mark(sentence)),
            LessonMessage::Reveal => self.answer_step(OpenLesson::reveal),
            LessonMessage::Choose(choice) => self.answer_step(|open| open.choose(choice)),
            LessonMessage::Edit(is_edited) => {
                open.edit(is_edited);
                self.show_step();
            }
            LessonMessage::Change(lesson) => self.change_lesson(*lesson),
            LessonMessage::AddFiles(files) => {
                for file in files {
                    let id = self.await_by_lesson();
                    self.emit(Effect::ReadFile(id, file));
                }
            }
            LessonMessage::AddLink(link) => self.add_link(&link),
            LessonMessage::Undo => self.restore_lesson(OpenLesson::undo),
            LessonMessage::Redo => self.restore_lesson(OpenLesson::redo),
            LessonMessage::TakeOutput => {
                // The explanation on screen may belong to another step.
                if !*self.step_waits {
                    let mut lesson = Lesson::clone(&open.lesson);
                    lesson.steps[open.at].output.clone_from(&self.explanation.output);
                    self.change_lesson(lesson);
                }
            }
            LessonMessage::End => {
                self.close_lesson();
                self.replace_entry();
            }
        }
    }

    /// Takes what the reader does at a step, and keeps it through a reload.
    fn answer_step(&mut self, answer: impl FnOnce(&mut OpenLesson)) {
        if let Some(open) = &mut *self.lesson {
            answer(open);
            self.replace_entry();
        }
    }

    /// Begins a lesson about the explanation on screen, with one step.
    pub(super) fn make_lesson(&mut self) {
        if let Some(document) = self.explanation.selected_document().filter(|_| !self.refuse_while_busy()) {
            let title = crate::explanation::title(&document);
            // As far as the page knows what its visitor writes.
            let language = Some(self.language.clone()).filter(|tag| !tag.is_empty());
            let lesson = Lesson { language, ..Lesson::new(title, vec![Step::default()], vec![document]) };
            self.show(Opened::Lesson(lesson, Progress::default()));
            self.lesson_message(LessonMessage::Edit(true));
        }
    }

    /// Adds what a link carries, or what it names of the gallery.
    fn add_link(&mut self, link: &str) {
        match link.trim().split_once('#').and_then(|(_, fragment)| GalleryEntry::of_fragment(fragment)) {
            Some(entry) => {
                let id = self.await_by_lesson();
                self.emit(Effect::Fetch(Fetch::GalleryEntry(id, entry)));
            }
            None => self.add_to_lesson(Opened::from_bytes(link.as_bytes(), Origin::Link)),
        }
    }

    /// The number of a new request whose answer is added to the lesson on screen, unless that is closed before it comes.
    fn await_by_lesson(&mut self) -> RequestId {
        let id = self.next_id();
        self.awaited_by_lesson.push(id);
        id
    }

    /// Whether the answer to this request is still to be added to the lesson.
    pub(super) fn is_awaited_by_lesson(&mut self, id: RequestId) -> bool {
        let at = self.awaited_by_lesson.iter().position(|awaited| *awaited == id);
        at.map(|at| self.awaited_by_lesson.remove(at)).is_some()
    }

    /// Takes the lesson off the screen. What was asked for it belongs to no other one.
    pub(super) fn close_lesson(&mut self) {
        *self.lesson = None;
        *self.step_waits = false;
        self.awaited_by_lesson.clear();
    }

    /// Adds what a file or a link holds to the explanations of the lesson.
    pub(super) fn add_to_lesson(&mut self, opened: Result<Opened, String>) {
        let Some(mut lesson) = self.lesson.as_ref().map(|open| Lesson::clone(&open.lesson)) else { return };
        let documents = match opened {
            Ok(Opened::Explanation(document, _)) => vec![*document],
            Ok(Opened::Lesson(other, _)) => other.explanations,
            Err(problem) => {
                let remedy = t!("Use a file from “Save JSON” or “Export”, or a link from “Copy link”");
                return self.fail_at(Place::Lesson, Problem::new(&problem, remedy));
            }
        };
        match lesson.add_explanations(documents) {
            0 => self.fail_at(
                Place::Lesson,
                Problem::new(t!("The lesson already contains this explanation"), t!("You can choose it in any step")),
            ),
            _ => self.change_lesson(lesson),
        }
    }

    /// Puts a changed lesson in its place. The writer's controls offer nothing that a lesson cannot have, but for texts too long.
    fn change_lesson(&mut self, lesson: Lesson) {
        if let Err(error) = lesson.check() {
            let remedy = t!("The lesson was not changed. Try a different change");
            return self.fail_at(Place::Lesson, Problem::new(error.to_string(), remedy));
        }
        if self.problem_place == Place::Lesson {
            *self.problem = None;
        }
        let Some(open) = &mut *self.lesson else { return };
        let before = open.document();
        open.change(lesson);
        self.lesson_changed(&before);
    }

    /// Takes a change back, or makes it again.
    fn restore_lesson(&mut self, restore: fn(&mut OpenLesson) -> bool) {
        let Some(open) = self.lesson.as_mut().filter(|open| open.is_edited) else { return };
        let before = open.document();
        if restore(open) {
            self.lesson_changed(&before);
        }
    }

    /// Shows the step, unless it shows the same as before: words that change leave what is chosen on screen as it is.
    fn lesson_changed(&mut self, before: &Document) {
        match self.lesson.as_ref().is_some_and(|open| open.document() == *before) {
            true => self.replace_entry(),
            false => self.show_step(),
        }
    }

    /// Shows the step's explanation, which had to wait for the end of a run.
    pub(super) fn make_up_for_step(&mut self) {
        if *self.step_waits && !self.engine.is_busy() {
            self.show_step();
        }
    }

    /// What the step shows, in the place of what is on screen. A run that goes on keeps what it makes until it ends.
    fn show_step(&mut self) {
        *self.step_waits = self.engine.is_busy();
        let document = self.lesson.as_ref().map(OpenLesson::document);
        if let Some(document) = document.filter(|_| !*self.step_waits) {
            self.explanation.show(document, Origin::Lesson);
            self.replace_entry();
        }
    }
}
