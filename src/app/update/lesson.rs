//! Opens, shows, edits and closes lessons.

use crate::app::gallery::GalleryEntry;
use crate::app::state::lesson::{OpenLesson, Progress};
use crate::app::state::lesson_texts;
use crate::app::state::message::{Effect, Fetch, LessonMessage};
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::app::state::place::Place;
use crate::app::state::screen::Screen;
use crate::app::state::{Awaited, State};
use crate::explanation::Document;
use crate::lesson::{Lesson, Step};
use crate::problem::Problem;
use crate::worker::envelope::RequestId;
use glasscage_message::{Message, ToMessage, message};

impl State {
    /// Shows a lesson at its reader's step.
    pub(super) fn open_lesson(&mut self, lesson: Lesson, progress: Progress) {
        let open = OpenLesson::new(lesson, progress);
        self.open(open.document(), Origin::Lesson);
        let is_english = lesson_texts::is_english(&open.written);
        *self.screen = Screen::Lesson(Box::new(open));
        self.translate_lesson();
        if let Some(tag) = self.lesson_texts.missing().filter(|_| is_english) {
            self.emit(Effect::Fetch(Fetch::LessonTexts(tag)));
        }
    }

    /// Stores the fetched translations of the gallery's lessons, and fetches the lesson that waits for them.
    pub(super) fn lesson_texts_fetched(&mut self, texts: Option<&str>) {
        let are_here = self.lesson_texts.arrived(texts);
        self.translate_lesson();
        match &self.awaited {
            // If the translations are missing, opening the lesson requests them again.
            Some(Awaited { id, entry: Some(entry) }) if entry.is_lesson() => {
                self.emit(Effect::Fetch(Fetch::GalleryEntry(*id, entry.clone())));
            }
            _ => self.report_missing_unless(are_here),
        }
    }

    /// Translates the lesson on screen into the language of the page, if a translation exists and the lesson is not being edited.
    fn translate_lesson(&mut self) {
        let translated = self.lesson().and_then(|open| self.lesson_texts.translated(&open.written));
        if let (Some(translated), Some(open)) = (translated, self.lesson_mut())
            && open.lesson == open.written
            && !open.is_edited
        {
            open.translate(translated);
        }
    }

    pub(super) fn lesson_message(&mut self, message: LessonMessage) {
        let Some(open) = self.lesson_mut() else { return };
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
                    self.await_by_lesson(|id| Effect::ReadFile(id, file));
                }
            }
            LessonMessage::AddLink(link) => self.add_link(&link),
            LessonMessage::Undo => self.restore_lesson(OpenLesson::undo),
            LessonMessage::Redo => self.restore_lesson(OpenLesson::redo),
            LessonMessage::TakeOutput => {
                // The explanation on screen may belong to another step.
                if !open.step_waits {
                    let (mut lesson, at) = (Lesson::clone(&open.lesson), open.at);
                    lesson.steps[at].output.clone_from(&self.explanation.output);
                    self.change_lesson(lesson);
                }
            }
            LessonMessage::End => {
                *self.screen = Screen::default();
                self.explanation.close_link();
                self.replace_entry();
            }
        }
    }

    /// Applies an action of the reader at a step, and stores the progress for a reload.
    fn answer_step(&mut self, answer: impl FnOnce(&mut OpenLesson)) {
        if let Some(open) = self.lesson_mut() {
            answer(open);
            self.replace_entry();
        }
    }

    /// Starts a lesson about the explanation on screen, with one step.
    pub(super) fn make_lesson(&mut self) {
        if let Some(document) = self.explanation.selected_document().filter(|_| !self.refuse_while_busy()) {
            let title = crate::explanation::title(&document);
            // The page assumes that visitors write in its language.
            let language = Some(self.language.clone()).filter(|tag| !tag.is_empty());
            let lesson = Lesson { language, ..Lesson::new(title, vec![Step::default()], vec![document]) };
            self.show(Opened::Lesson(lesson, Progress::default()));
            self.lesson_message(LessonMessage::Edit(true));
        }
    }

    /// Adds the explanations in a link, or fetches the gallery entry that the link names.
    fn add_link(&mut self, link: &str) {
        match link.trim().split_once('#').and_then(|(_, fragment)| GalleryEntry::of_fragment(fragment)) {
            Some(entry) => self.await_by_lesson(|id| Effect::Fetch(Fetch::GalleryEntry(id, entry))),
            None => self.await_by_lesson(|id| Effect::OpenLink(id, link.to_owned())),
        }
    }

    /// Sends a new request. Its result is added to the lesson on screen, unless the lesson is closed first.
    fn await_by_lesson(&mut self, request: impl FnOnce(RequestId) -> Effect) {
        let id = self.next_id();
        if let Some(open) = self.lesson_mut() {
            open.awaited.push(id);
            self.emit(request(id));
        }
    }

    /// Whether the result of this request will still be added to the lesson. Marks the request as answered.
    pub(super) fn is_awaited_by_lesson(&mut self, id: RequestId) -> bool {
        let Some(open) = self.lesson_mut() else { return false };
        let at = open.awaited.iter().position(|awaited| *awaited == id);
        at.map(|at| open.awaited.remove(at)).is_some()
    }

    /// Adds the explanations in a file or a link to the lesson.
    pub(super) fn add_to_lesson(&mut self, opened: Result<Opened, Message>) {
        let Some(mut lesson) = self.lesson().map(|open| Lesson::clone(&open.lesson)) else { return };
        let documents = match opened {
            Ok(Opened::Explanation(document, _)) => vec![*document],
            Ok(Opened::Lesson(other, _)) => other.explanations,
            Err(problem) => {
                let remedy = message!("Use a file from “Save JSON” or “Export”, or a link from “Copy link”");
                return self.fail_at(Place::Lesson, Problem::new(problem, remedy));
            }
        };
        match lesson.add_explanations(documents) {
            0 => self.fail_at(
                Place::Lesson,
                Problem::new(message!("The lesson already contains this explanation"), message!("You can choose it in any step")),
            ),
            _ => self.change_lesson(lesson),
        }
    }

    /// Replaces the lesson with a changed version, unless that is invalid. The author's controls prevent most invalid changes. They do not
    /// prevent long texts, a 101st step, or a file that brings the lesson above 20 explanations.
    fn change_lesson(&mut self, lesson: Lesson) {
        if let Err(error) = lesson.check() {
            let remedy = message!("The lesson was not changed. Try a different change");
            return self.fail_at(Place::Lesson, Problem::new(error.to_message(), remedy));
        }
        if self.problem_place == Place::Lesson {
            *self.problem = None;
        }
        let Some(open) = self.lesson_mut() else { return };
        let before = open.document();
        open.change(lesson);
        self.lesson_changed(&before);
    }

    /// Undoes or redoes a change.
    fn restore_lesson(&mut self, restore: fn(&mut OpenLesson) -> bool) {
        let Some(open) = self.lesson_mut().filter(|open| open.is_edited) else { return };
        let before = open.document();
        if restore(open) {
            self.lesson_changed(&before);
        }
    }

    /// Shows the step if its explanation has changed. A change of texts keeps the selection on screen.
    fn lesson_changed(&mut self, before: &Document) {
        self.explanation.close_link();
        match self.lesson().is_some_and(|open| open.document() == *before) {
            true => self.replace_entry(),
            false => self.show_step(),
        }
    }

    /// Shows the step's explanation if it had to wait for the end of a run.
    pub(super) fn show_delayed_step(&mut self) {
        if self.lesson().is_some_and(|open| open.step_waits) && !self.engine.is_busy() {
            self.show_step();
        }
    }

    /// Shows the step's explanation. During a run, the result of the run stays on screen until it ends.
    fn show_step(&mut self) {
        let waits = self.engine.is_busy();
        let Some(open) = self.lesson_mut() else { return };
        open.step_waits = waits;
        if !waits {
            let document = open.document();
            self.explanation.show(document, Origin::Lesson);
            self.replace_entry();
        }
    }
}
