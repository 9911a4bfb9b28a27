//! The page as its views know it: they read its state, and send messages.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::graph::{Observer, Source, ToAnySource};
use web_sys::File;

use super::analysis::attribution_view::AttributionView;
use super::examples::Example;
use super::focus::Focus;
use super::state::State;
use super::state::library::LibraryMessage;
use super::state::local_file::LocalFile;
use super::state::message::{Effect, Message};
use super::state::settings::Settings;
use crate::explanation::{Answer, Document, Unit};
use crate::graph::Edge;

/// What handles a message, and says what is to be done outside the state.
pub type Update = fn(&mut State, Message) -> Vec<Effect>;

/// What is outside the state: the browser and the workers.
#[derive(Clone)]
pub struct Outside {
    pub run: Rc<dyn Fn(Effect)>,
    /// Takes files that the visitor chose; the state knows them by their ids.
    pub register: Rc<dyn Fn(Vec<File>) -> Vec<LocalFile>>,
    /// Told after every message.
    pub focus: Focus,
}

/// A handle that components get from the context.
#[derive(Clone, Copy)]
pub struct Page {
    state: StoredValue<State, LocalStorage>,
    update: Update,
    /// `None` only while the page is made.
    outside: StoredValue<Option<Outside>, LocalStorage>,
    attribution: Memo<Option<Arc<AttributionView>>>,
    is_busy: Memo<bool>,
}

impl Page {
    /// A page of this state. What is outside sends messages to the page.
    pub fn new(state: State, update: Update, outside: impl FnOnce(Self) -> Outside) -> Self {
        let state = StoredValue::new_local(state);
        let attribution = Memo::new(move |_| state.with_value(|state| state.explanation.view()).map(Arc::new));
        let is_busy = Memo::new(move |_| state.with_value(|state| state.engine.is_busy()));
        let page = Self { state, update, outside: StoredValue::new_local(None), attribution, is_busy };
        page.outside.set_value(Some(outside(page)));
        page
    }

    /// Handles what the visitor did, or what came of an effect.
    pub fn send(&self, message: Message) {
        let now_millis = js_sys::Date::now();
        let update = |state: &mut State| {
            state.now_millis = now_millis;
            (self.update)(state, message)
        };
        // A worker may speak once more while the page is being closed.
        let effects = self.state.try_update_value(update).unwrap_or_default();
        if let Some(outside) = self.outside.try_get_value().flatten() {
            effects.into_iter().for_each(|effect| (outside.run)(effect));
            outside.focus.page_changes();
        }
    }

    /// Sends what the visitor does with models.
    pub fn send_library(&self, message: LibraryMessage) {
        self.send(Message::Library(message));
    }

    /// Sends files of this device, to be opened by what they are.
    pub fn send_files(&self, files: Vec<File>, message: fn(Vec<LocalFile>) -> Message) {
        if let Some(outside) = self.outside.get_value() {
            self.send(message((outside.register)(files)));
        }
    }

    /// Whether this is the viewer, which can run nothing.
    pub fn is_viewer(&self) -> bool {
        self.with(|state| state.is_viewer)
    }

    /// Something of the state. A view follows the fields that it reads.
    pub fn with<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.state.with_value(look)
    }

    /// Changes the settings of the editor.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = untrack(|| self.with(|state| state.editor.settings.clone()));
        change(&mut settings);
        self.send(Message::SettingsChanged(settings));
    }

    /// The explanation on screen, as seen from what is chosen. Tracked.
    pub fn current(&self) -> Option<Arc<AttributionView>> {
        track_while_alive(self.attribution);
        self.attribution.get_untracked()
    }

    /// Something of the explanation on screen, as seen from what is chosen; `None` where there is none. Tracked.
    pub fn attribution<T>(&self, look: impl FnOnce(&AttributionView) -> T) -> Option<T> {
        track_while_alive(self.attribution);
        self.attribution.with_untracked(|attribution| attribution.as_deref().map(look))
    }

    /// What the strongest paths of the explanation on screen use, found once for what is explained, and not at every move of the slider.
    pub fn edges_of_strongest_paths(self) -> Memo<Vec<Edge>> {
        Memo::new(move |_| self.attribution(AttributionView::edges_of_strongest_paths).unwrap_or_default())
    }

    /// The explanation on screen with what is chosen in it as its output; a sentence under the pointer is not chosen. Tracked.
    pub fn selected_document(&self) -> Option<Document> {
        self.with(|state| state.explanation.selected_document())
    }

    /// Whether a run goes on. Tracked.
    pub fn is_busy(&self) -> bool {
        track_while_alive(self.is_busy);
        self.is_busy.get_untracked()
    }

    /// The prompt sentences that the answer on screen needs, where the prompt is an example that knows them. Tracked.
    pub fn relevant(&self) -> Option<Vec<usize>> {
        self.example(|example| example.relevant.clone())
    }

    /// What the right answer ends with, of an example whose answer is wrong.
    pub fn right_answer(&self) -> Option<String> {
        let is_own = self.attribution(|attribution| matches!(attribution.document().manifest.answer, Answer::Generated { .. }))?;
        self.example(|example| example.right.clone()).flatten().filter(|_| is_own)
    }

    /// Of the example whose prompt is on screen.
    fn example<T>(&self, read: impl Fn(&Example) -> T) -> Option<T> {
        self.attribution(|attribution| self.with(|state| state.editor.example(&attribution.document().prompt.text).map(&read))).flatten()
    }

    /// What a source on screen is. Tracked.
    pub fn unit(&self) -> Unit {
        self.attribution(|attribution| attribution.document().unit).unwrap_or_default()
    }
}

/// The page that this component is part of.
pub fn use_page() -> Page {
    expect_context()
}

/// Tracks a memo that lives as long as the page. It would remember whatever ever read it, were a reader not taken off when it is gone.
fn track_while_alive<T: Send + Sync + 'static>(memo: Memo<T>) {
    memo.track();
    if let Some(reader) = Observer::get() {
        let memo = ArcMemo::from(memo).to_any_source();
        on_cleanup(move || memo.remove_subscriber(&reader));
    }
}
