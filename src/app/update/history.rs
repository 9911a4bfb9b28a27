//! Entries of the browser's history: one for every explanation that was on screen, and those of the page without one.

use std::fmt::Display;

use crate::app::i18n::t;
use crate::app::state::State;
use crate::app::state::explanation::Origin;
use crate::app::state::history_entry::{self, Entry};
use crate::app::state::message::Effect;
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::run_status::RunStatus;
use crate::app::welcome;
use crate::explanation::{Document, from_fragment, is_link};
use crate::lesson;

impl State {
    /// Puts a document on screen, as a new entry of the history.
    pub(super) fn show(&mut self, document: Document, origin: Origin) {
        match origin {
            Origin::Here => self.explanation.show(document, origin),
            _ => self.open(document, origin),
        }
        match std::mem::take(&mut self.entry_awaits_explanation) {
            true => self.replace_entry(),
            false => self.push_entry(),
        }
    }

    /// Shows what the entry of the history that the browser is at now carries: an explanation, or none. Nothing is fetched for it.
    pub(super) fn visit(&mut self, entry: Option<&str>, fragment: &str) {
        if self.refuse_while_busy() {
            // The browser has gone there already, and comes back to what is on screen.
            return self.push_entry();
        }
        self.entry_awaits_explanation = false;
        match entry.and_then(history_entry::from_text) {
            Some(Entry::Explanation(document, origin)) => self.open(*document, origin),
            Some(Entry::Lesson(lesson, at)) => self.open_lesson(lesson, at),
            None if is_link(fragment) => {
                self.open_link(fragment, from_fragment(fragment), |state, document| state.open(document, Origin::Link));
            }
            None if lesson::is_link(fragment) => {
                self.open_link(fragment, lesson::from_fragment(fragment), |state, lesson| state.open_lesson(lesson, 0));
            }
            None => {
                self.close_explanation();
                self.welcome();
            }
        }
    }

    /// Shows what comes with the page, unless the visitor has begun to ask. The form is beside it only for who has chosen a model.
    fn welcome(&mut self) {
        if self.editor.prompt.trim().is_empty()
            && let Some(document) = welcome::document()
        {
            self.open(document, Origin::Welcome);
            *self.editor.is_open = self.library.download.is_some() || *self.engine.choice != ModelChoice::BuiltIn;
        }
    }

    /// Opens what the link in the address bar carries.
    fn open_link<T, E: Display>(&mut self, fragment: &str, carried: Result<T, E>, open: impl FnOnce(&mut Self, T)) {
        match carried {
            Ok(carried) => {
                open(self, carried);
                let address = format!("{}#{}", self.page_address, fragment.trim_start_matches('#'));
                self.replace_entry_at(address);
            }
            Err(error) => {
                self.close_explanation();
                self.fail_with(&error.to_string(), t!("Ask for the link again, or for the saved JSON file"));
            }
        }
    }

    /// Puts an explanation on screen that no run of this moment made. The editor stays open only with the prompt that it explains.
    pub(super) fn open(&mut self, document: Document, origin: Origin) {
        *self.problem = None;
        *self.lesson = None;
        *self.editor.is_open = origin == Origin::Here && *self.editor.prompt == document.prompt.text;
        *self.engine.run = RunStatus::Idle;
        *self.engine.unfinished = None;
        self.explanation.show(document, origin);
    }

    /// The page as it is without an explanation. The one on screen is an entry of the history, behind this one.
    pub(super) fn go_home(&mut self) {
        if !self.explanation.is_home() && !self.refuse_while_busy() {
            self.close_explanation();
            self.welcome();
            self.push_entry();
        }
    }

    /// Takes an explanation of another prompt off the screen, where that of this prompt is to appear.
    pub(super) fn make_room_for(&mut self, prompt: &str) {
        if self.explanation.document().is_some_and(|document| document.prompt.text != prompt) {
            let was_home = self.explanation.is_home();
            *self.lesson = None;
            self.explanation.close();
            if !was_home {
                self.push_entry();
                self.entry_awaits_explanation = true;
            }
        }
    }

    fn close_explanation(&mut self) {
        *self.problem = None;
        *self.lesson = None;
        *self.editor.is_open = true;
        *self.engine.run = RunStatus::Idle;
        *self.engine.unfinished = None;
        self.explanation.close();
    }

    /// What is on screen, as a new entry.
    pub(super) fn push_entry(&mut self) {
        let (address, text) = (self.page_address.clone(), self.entry_text());
        self.emit(Effect::PushEntry { address, text });
    }

    /// What is on screen, in place of what the entry had.
    pub(super) fn replace_entry(&mut self) {
        self.replace_entry_at(self.page_address.clone());
    }

    /// The same, with a link in the address bar.
    pub(super) fn replace_entry_at(&mut self, address: String) {
        let text = self.entry_text();
        self.emit(Effect::ReplaceEntry { address, text });
    }

    fn entry_text(&self) -> Option<String> {
        if let Some(open) = &*self.lesson {
            return Some(history_entry::lesson_to_text(&open.lesson, open.at));
        }
        let origin = self.explanation.shown.as_ref().filter(|_| !self.explanation.is_home())?.origin;
        Some(history_entry::to_text(&self.explanation.selected_document()?, origin))
    }
}
