//! The page as its views use it: they read its state and send messages.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::graph::{Observer, Source, ToAnySource};
use web_sys::File;

use super::examples::Example;
use super::focus::Focus;
use super::state::State;
use super::state::local_file::LocalFile;
use super::state::message::{EditorMessage, Effect, Message};
use super::state::settings::Settings;
use crate::explanation::{Answer, Document, Unit};
use crate::graph::Edge;
use crate::shares::Shares;

/// A function that handles a message and returns the effects to carry out.
pub type Update = fn(&mut State, Message) -> Vec<Effect>;

/// Everything outside the state: the browser and the workers.
#[derive(Clone)]
pub struct EffectHandler {
    /// Carries out an effect, and sends its results to the page.
    pub run: Rc<dyn Fn(Page, Effect)>,
    /// Keeps the browser's handles of files that the visitor chose. The state refers to the files by id.
    pub register: Rc<dyn Fn(Vec<File>) -> Vec<LocalFile>>,
    /// Notified after every message.
    pub focus: Focus,
}

/// A handle to the page. Components get it from the context.
#[derive(Clone, Copy)]
pub struct Page {
    state: StoredValue<State, LocalStorage>,
    update: Update,
    handler: StoredValue<EffectHandler, LocalStorage>,
    attribution: Memo<Option<Arc<Shares>>>,
    is_busy: Memo<bool>,
}

impl Page {
    /// A page with this state.
    pub fn new(state: State, update: Update, handler: EffectHandler) -> Self {
        let state = StoredValue::new_local(state);
        let attribution = Memo::new(move |_| state.with_value(|state| state.explanation.view()).map(Arc::new));
        let is_busy = Memo::new(move |_| state.with_value(|state| state.engine.is_busy()));
        Self { state, update, handler: StoredValue::new_local(handler), attribution, is_busy }
    }

    /// Handles an action of the visitor or the result of an effect.
    pub fn send(&self, message: impl Into<Message>) {
        self.handle(message.into());
    }

    fn handle(&self, message: Message) {
        self.change(|state| (self.update)(state, message));
    }

    /// Changes the state, and carries out the effects that `change` returns.
    pub fn change(&self, change: impl FnOnce(&mut State) -> Vec<Effect>) {
        let now_millis = js_sys::Date::now();
        let update = |state: &mut State| {
            state.now_millis = now_millis;
            change(state)
        };
        // A late worker event can arrive after the state was dropped.
        let effects = self.state.try_update_value(update).unwrap_or_default();
        if let Some(handler) = self.handler.try_get_value() {
            effects.into_iter().for_each(|effect| (handler.run)(*self, effect));
            handler.focus.page_changes();
        }
    }

    /// Registers local files and sends them in a message.
    pub fn send_files(&self, files: Vec<File>, message: fn(Vec<LocalFile>) -> Message) {
        let handler = self.handler.get_value();
        self.send(message((handler.register)(files)));
    }

    /// Whether this is the viewer, which cannot start runs.
    pub fn is_viewer(&self) -> bool {
        self.with(|state| state.is_viewer)
    }

    /// Reads the state. A view is rendered again when a field that it read changes.
    pub fn with<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.state.with_value(look)
    }

    /// Changes the settings of the editor.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = untrack(|| self.with(|state| state.editor.settings.clone()));
        change(&mut settings);
        self.send(EditorMessage::SettingsChanged(settings));
    }

    /// The explanation on screen, seen from the selected or previewed sentences. Tracked.
    pub fn current(&self) -> Option<Arc<Shares>> {
        track_while_alive(self.attribution);
        self.attribution.get_untracked()
    }

    /// Reads the explanation on screen, seen from the selected or previewed sentences. `None` if there is none. Tracked.
    pub fn attribution<T>(&self, look: impl FnOnce(&Shares) -> T) -> Option<T> {
        track_while_alive(self.attribution);
        self.attribution.with_untracked(|attribution| attribution.as_deref().map(look))
    }

    /// The edges of the strongest paths of the explanation on screen. Computed once for each output, not at every move of the slider.
    pub fn edges_of_strongest_paths(self) -> Memo<Vec<Edge>> {
        Memo::new(move |_| self.attribution(Shares::edges_of_strongest_paths).unwrap_or_default())
    }

    /// The explanation on screen with the selected sentences as its output. Ignores the sentence under the pointer. Tracked.
    pub fn selected_document(&self) -> Option<Document> {
        self.with(|state| state.explanation.selected_document())
    }

    /// Whether a run is in progress. Tracked.
    pub fn is_busy(&self) -> bool {
        track_while_alive(self.is_busy);
        self.is_busy.get_untracked()
    }

    /// The prompt sentences that the answer on screen needs, if the prompt is an example. Tracked.
    pub fn relevant(&self) -> Option<Vec<usize>> {
        self.example(|example| example.relevant.clone())
    }

    /// The end of the right answer, if the answer on screen is generated and belongs to an example with a known wrong answer.
    pub fn right_answer(&self) -> Option<String> {
        let is_own = self.attribution(|attribution| matches!(attribution.document().manifest.answer, Answer::Generated { .. }))?;
        self.example(|example| example.right.clone()).flatten().filter(|_| is_own)
    }

    /// Reads the example whose prompt is on screen.
    fn example<T>(&self, read: impl Fn(&Example) -> T) -> Option<T> {
        self.attribution(|attribution| self.with(|state| state.editor.example(&attribution.document().prompt.text).map(&read))).flatten()
    }

    /// The unit of the prompt on screen. Tracked.
    pub fn unit(&self) -> Unit {
        self.attribution(|attribution| attribution.document().unit).unwrap_or_default()
    }
}

/// The page that this component is part of.
pub fn use_page() -> Page {
    expect_context()
}

/// Subscribes the current reader to `memo` and unsubscribes it on cleanup. Without this, the memo keeps every former reader until the page
/// closes.
fn track_while_alive<T: Send + Sync + 'static>(memo: Memo<T>) {
    memo.track();
    if let Some(reader) = Observer::get() {
        let memo = ArcMemo::from(memo).to_any_source();
        on_cleanup(move || memo.remove_subscriber(&reader));
    }
}
