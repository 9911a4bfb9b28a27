//! The browser's history: one entry for each explanation that was on screen, and entries for the start page.

use crate::app::gallery::GalleryEntry;
use crate::app::state::editor::is_prompt_of;
use crate::app::state::history_entry;
use crate::app::state::message::{Effect, Fetch, Message};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::opened::Opened;
use crate::app::state::origin::Origin;
use crate::app::state::remote::Remote;
use crate::app::state::run_status::RunStatus;
use crate::app::state::screen::Screen;
use crate::app::state::storage_keys;
use crate::app::state::{EntryAwaits, State};
use crate::app::welcome;
use crate::explanation::Document;
use glasscage_message::message;

/// Time without another selection before the selection is stored, in ms.
const REST_MILLIS: u32 = 300;

impl State {
    /// Shows what was opened, in a new or waiting history entry.
    pub(super) fn show(&mut self, opened: Opened) {
        self.put_on_screen(opened);
        self.shown();
    }

    /// Makes the history entry for what is now on screen, and scrolls to it.
    pub(super) fn shown(&mut self) {
        let is_of_the_address = self.entry_awaits == Some(EntryAwaits::Address);
        self.entry_made();
        // The visitor may have scrolled far down to the gallery.
        if !is_of_the_address {
            self.emit(Effect::ScrollToExplanation);
        }
    }

    /// Shows an explanation that was computed on this page, in the history entry that waits for it or in a new one.
    pub(super) fn show_own(&mut self, document: Document) {
        if self.remote().is_some() {
            *self.screen = Screen::default();
        }
        self.awaited = None;
        self.explanation.show(document, Origin::Here);
        self.entry_made();
    }

    /// Makes a history entry for the result of a run. Until the result exists, the entry contains what is on screen. The entry must be made
    /// when the visitor asks: Safari's Back button skips entries that a page makes more than ten seconds after the last user interaction.
    /// It also skips the page on which they were made.
    pub(super) fn make_entry_for_run(&mut self) {
        // A link that is not open yet keeps its entry, so Back leads to it.
        if self.entry_awaits == Some(EntryAwaits::Address) {
            self.entry_awaits = None;
        }
        self.entry_made();
        self.entry_awaits = Some(EntryAwaits::Run);
    }

    /// Stores what is on screen in the waiting history entry, or in a new one.
    fn entry_made(&mut self) {
        match self.entry_awaits.take() {
            Some(_) => self.replace_entry(),
            None => self.push_entry(),
        }
    }

    /// Shows the current history entry: its state, or else what the fragment names, or else the start page. Fetches no explanation if
    /// the entry contains one.
    pub(super) fn visit(&mut self, entry: Option<&str>, fragment: &str) {
        if self.refuse_while_busy() {
            // The browser has already moved, so make an entry for what is on screen.
            return self.push_entry();
        }
        self.entry_awaits = None;
        let of_gallery = GalleryEntry::of_fragment(fragment);
        if let Some(opened) = entry.and_then(history_entry::from_text) {
            return match of_gallery {
                // The address still names the gallery, so the lesson is unchanged.
                Some(entry) => self.put_gallery_entry_on_screen(opened, &entry),
                None => self.put_on_screen(opened),
            };
        }
        if let Some(asked) = Remote::of_fragment(fragment) {
            self.close_explanation();
            return self.offer_remote(asked);
        }
        self.close_explanation();
        if let Some(entry) = of_gallery {
            // The fetched explanation or lesson will replace this entry.
            self.entry_awaits = Some(EntryAwaits::Address);
            self.fetch_gallery_entry(entry);
        } else if Opened::is_link(fragment) {
            self.entry_awaits = Some(EntryAwaits::Address);
            self.open_link(fragment);
        } else {
            self.welcome();
        }
    }

    /// Restores what was on screen when the browser ended the tab, unless the address or the entry names something else.
    pub(super) fn tab_ended(&mut self, entry: &str) {
        let has_nothing = self.explanation.is_home() && matches!(*self.screen, Screen::Explanation { .. });
        let awaits_nothing = self.awaited.is_none() && self.problem.is_none();
        let Some(opened) = history_entry::from_text(entry).filter(|_| has_nothing && awaits_nothing) else { return };
        self.put_on_screen(opened);
        self.replace_entry();
        self.fail_with(message!("The browser closed this page"), message!("Your text and the last explanation were restored"));
    }

    /// Shows the welcome explanation, unless the visitor has typed a prompt. The form is next to it only if the visitor has chosen or
    /// downloaded a model, or the address names one.
    pub(super) fn welcome(&mut self) {
        if self.editor.prompt.trim().is_empty()
            && let Some(document) = welcome::document()
        {
            self.open(document, Origin::Welcome);
            let has_chosen = self.library.download.is_some() || *self.engine.choice != ModelChoice::BuiltIn;
            *self.editor.is_open = has_chosen || self.library.standard.is_in_address;
        }
    }

    pub(super) fn put_on_screen(&mut self, opened: Opened) {
        match opened {
            Opened::Explanation(document, origin) => self.open(*document, origin),
            Opened::Lesson(lesson, progress) => self.open_lesson(lesson, progress),
        }
    }

    /// Shows an entry of the gallery. Its address stays that of the gallery until it is changed.
    pub(super) fn put_gallery_entry_on_screen(&mut self, opened: Opened, entry: &GalleryEntry) {
        self.put_on_screen(opened);
        let opened_by = entry.fragment();
        match &mut *self.screen {
            Screen::Explanation { gallery } => {
                *gallery = Some(opened_by);
                // They name the right answer and the relevant sentences.
                self.fetch_once(Fetch::Examples);
            }
            Screen::Lesson(open) => open.gallery = Some((opened_by, open.written.clone())),
            Screen::Remote(_) => {}
        }
    }

    /// Shows an explanation that does not come from the current run. The editor stays open only if the explanation was computed here from
    /// the prompt in the editor.
    pub(super) fn open(&mut self, document: Document, origin: Origin) {
        *self.problem = None;
        *self.screen = Screen::default();
        self.awaited = None;
        *self.editor.is_open = origin == Origin::Here && self.editor.is_prompt_of(&document);
        *self.engine.run = RunStatus::Idle;
        *self.engine.unfinished = None;
        self.explanation.show(document, origin);
    }

    /// Shows the start page. Back returns to the explanation that was on screen.
    pub(super) fn go_home(&mut self) {
        if self.remote().is_some() {
            return self.decline_remote();
        }
        if !self.explanation.is_home() && !self.refuse_while_busy() {
            self.close_explanation();
            self.welcome();
            self.entry_made();
            self.outbox.remember_in_tab(storage_keys::ENTRY, String::new());
        }
    }

    /// Closes an explanation of another prompt, to make room for that of this prompt.
    pub(super) fn make_room_for(&mut self, prompt: &str) {
        if self.explanation.document().is_some_and(|document| !is_prompt_of(prompt, document)) {
            *self.screen = Screen::default();
            self.explanation.close();
        }
    }

    pub(super) fn close_explanation(&mut self) {
        self.awaited = None;
        *self.problem = None;
        *self.screen = Screen::default();
        *self.editor.is_open = true;
        *self.engine.run = RunStatus::Idle;
        *self.engine.unfinished = None;
        self.explanation.close();
    }

    /// Adds a history entry for what is on screen.
    pub(super) fn push_entry(&mut self) {
        let (address, text) = (self.entry_address(), self.entry_text());
        self.emit(Effect::PushEntry { address, text });
    }

    /// Replaces the current history entry with what is on screen.
    pub(super) fn replace_entry(&mut self) {
        self.replace_entry_at(self.entry_address());
    }

    /// Replaces the current history entry with what is on screen, and the address bar with `address`.
    pub(super) fn replace_entry_at(&mut self, address: String) {
        let text = self.entry_text();
        self.emit(Effect::ReplaceEntry { address, text });
    }

    /// Stores the selection in the history entry after a pause, because storing a large document at every click would take too long.
    pub(super) fn store_selection_later(&mut self) {
        let message = Box::new(Message::SelectionRests(self.explanation.output.clone()));
        self.emit(Effect::After { millis: REST_MILLIS, message });
    }

    /// Stores the selection in the history entry, unless it has changed again. The address stays. The entry of a lesson has no selection.
    pub(super) fn store_selection(&mut self, output: &[usize]) {
        if self.lesson().is_none()
            && *self.explanation.output == output
            && let Some(text) = self.entry_text()
        {
            self.emit(Effect::UpdateEntry(text));
        }
    }

    /// The address of the gallery entry on screen, or else that of the page.
    fn entry_address(&self) -> String {
        self.gallery_fragment().map_or_else(|| self.page_address.clone(), |fragment| format!("{}#{fragment}", self.page_address))
    }

    /// The fragment of the gallery entry on screen. `None` if it was changed or something else is on screen.
    pub(super) fn gallery_fragment(&self) -> Option<&str> {
        let (fragment, is_unchanged) = match &*self.screen {
            Screen::Explanation { gallery } => {
                let is_on_screen = self.explanation.shown.as_ref().is_some_and(|shown| shown.origin == Origin::Gallery);
                (gallery.as_ref()?, is_on_screen)
            }
            Screen::Lesson(open) => {
                let (fragment, lesson) = open.gallery.as_ref()?;
                (fragment, open.written == *lesson)
            }
            Screen::Remote(_) => return None,
        };
        is_unchanged.then_some(fragment)
    }

    fn entry_text(&self) -> Option<String> {
        if let Some(open) = self.lesson() {
            return Some(history_entry::lesson_to_text(&open.written, &open.progress()));
        }
        let origin = self.explanation.shown.as_ref().filter(|_| !self.explanation.is_home())?.origin;
        Some(history_entry::to_text(&self.explanation.selected_document()?, origin))
    }
}
