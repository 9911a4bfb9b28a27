//! Changes the texts and settings of the editor.

use crate::app::state::State;
use crate::app::state::message::{Effect, Fetch};
use crate::app::state::settings::Settings;
use crate::app::state::storage_keys;

impl State {
    pub(super) fn set_prompt(&mut self, prompt: String) {
        self.emit(Effect::RememberInTab { key: storage_keys::PROMPT, text: prompt.clone() });
        *self.editor.prompt = prompt;
        self.recount_tokens();
    }

    pub(super) fn change_settings(&mut self, settings: Settings) {
        let is_framed_otherwise = self.editor.settings.use_template != settings.use_template;
        *self.editor.settings = settings;
        if is_framed_otherwise {
            self.recount_tokens();
        }
    }

    pub(super) fn set_given_answer(&mut self, answer: String) {
        self.emit(Effect::RememberInTab { key: storage_keys::GIVEN_ANSWER, text: answer.clone() });
        *self.editor.given_answer = answer;
    }

    /// Puts a prompt and a given answer, which may be empty, into the editor. Saves the visitor's own texts for later.
    pub(super) fn replace_texts(&mut self, prompt: &str, given_answer: &str) {
        let (old_prompt, old_answer) = (self.editor.prompt.clone(), self.editor.given_answer.clone());
        let is_own_prompt = !old_prompt.trim().is_empty() && old_prompt != prompt && !self.editor.is_example(&old_prompt);
        let is_own_answer = !old_answer.trim().is_empty() && old_answer != given_answer;
        if is_own_prompt || is_own_answer {
            *self.editor.set_aside = Some((old_prompt, old_answer));
        }
        self.set_prompt(prompt.to_owned());
        self.set_given_answer(given_answer.to_owned());
    }

    pub(super) fn edit_prompt(&mut self, prompt: &str) {
        self.replace_texts(prompt, "");
        *self.editor.is_open = true;
    }

    pub(super) fn restore_set_aside(&mut self) {
        if let Some((prompt, given_answer)) = self.editor.set_aside.take() {
            self.set_prompt(prompt);
            self.set_given_answer(given_answer);
        }
    }

    /// Fetches a text that a view needs, unless examples or gallery are already loaded or requested.
    pub(super) fn fetch_once(&mut self, fetch: Fetch) {
        let is_requested = match fetch {
            Fetch::Examples => &mut self.editor.examples_are_requested,
            Fetch::Gallery => &mut self.explanation.gallery_is_requested,
            Fetch::GalleryEntry(..) | Fetch::LessonTexts(_) | Fetch::Registry => &mut false,
        };
        if !std::mem::replace(is_requested, true) {
            self.emit(Effect::Fetch(fetch));
        }
    }
}
