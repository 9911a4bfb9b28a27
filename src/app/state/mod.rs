//! What the page knows and what happens to it, without a browser: plain structs, one enum of messages, and [`update`].
//!
//! Views draw the state and send messages. Workers, storage, clipboard, history and timers are [`Effect`]s: data that
//! `update` returns and [`crate::app::effects`] carries out, whose outcome comes back as another message.

mod documents;
pub mod download;
mod editor;
mod engine;
mod explanation;
mod follow_up;
pub mod library;
mod masked_lm;
mod message;
mod model_choice;
mod reactive;
mod run_status;
pub mod selection;
pub mod settings;
#[cfg(test)]
mod tests;

use leptos::prelude::untrack;

pub use editor::Editor;
pub use engine::{Engine, ModelState};
pub use explanation::{Explanation, Origin, ShownDocument};
pub use masked_lm::MaskedLmState;
pub use message::{Effect, Fetch, FileId, LocalFile, Message};
pub use model_choice::ModelChoice;
pub use reactive::Reactive;
pub use run_status::RunStatus;

use crate::problem::Problem;
use crate::request::BackendChoice;
use crate::worker::envelope::RequestId;
use library::Library;

/// Everything the page knows.
#[derive(Default)]
pub struct State {
    pub editor: Editor,
    pub engine: Engine,
    pub explanation: Explanation,
    pub library: Library,
    pub problem: Reactive<Option<Problem>>,
    /// A new version of the page waits to be activated.
    pub update_is_waiting: Reactive<bool>,
    /// The time of the message that is being handled, in milliseconds since 1970.
    pub now_millis: f64,
    /// The address of the page without its fragment.
    page_address: String,
    last_request: RequestId,
    /// Effects of the message that is being handled.
    effects: Vec<Effect>,
}

/// What the page finds when it opens.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The address of the page.
    pub address: String,
    /// The address of the built-in model's file.
    pub built_in_model: String,
    /// The engine that the address asks for.
    pub backend: BackendChoice,
    /// What the visitor typed earlier in this tab.
    pub prompt: String,
    pub given_answer: String,
    /// The model of the last visit, as [`ModelChoice`] wrote it.
    pub model: Option<String>,
    /// The unfinished download of the last visit, as [`library`] wrote it.
    pub download: Option<String>,
    /// The measured speed of the last run in this browser, as [`crate::app::analysis::speed::Speed`] wrote it.
    pub speed: Option<String>,
}

/// Handles one message and says what is to be done about it outside the state.
pub fn update(state: &mut State, message: Message) -> Vec<Effect> {
    // A view that sends a message follows nothing of what the update reads.
    untrack(|| state.handle(message));
    std::mem::take(&mut state.effects)
}

impl State {
    pub fn new(environment: Environment) -> Self {
        Self {
            editor: Editor::new(environment.prompt, environment.given_answer),
            engine: Engine::new(
                environment.backend,
                environment.built_in_model,
                environment.model.as_deref(),
                environment.speed.as_deref(),
            ),
            library: Library::new(environment.download.as_deref()),
            page_address: without_fragment(&environment.address).to_owned(),
            ..Self::default()
        }
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::PromptTyped(prompt) => self.set_prompt(prompt),
            Message::GivenAnswerTyped(answer) => self.set_given_answer(answer),
            Message::SettingsChanged(settings) => *self.editor.settings = settings,
            Message::EditorToggled(is_open) => *self.editor.is_open = is_open,
            Message::EditPrompt(prompt) => self.edit_prompt(&prompt),
            Message::RestoreSetAside => self.restore_set_aside(),

            Message::Explain => self.explain(),
            Message::Recompute => self.recompute(),
            Message::Stop => self.stop(),
            Message::StopTimedOut(id) => self.stop_timed_out(id),
            Message::MeasureDeletion => self.measure_deletion(),
            Message::CompareMethod(method) => self.compare_method(&method),
            Message::ShowMethod(method) => self.explanation.show_method(&method),
            Message::Exclude(sentences) => *self.explanation.excluded = sentences,
            Message::AnswerWithoutExcluded => self.answer_without_excluded(),
            Message::ToggleWords(source) => self.toggle_words(source),

            Message::Select { row, extend } => self.explanation.select(row, extend),
            Message::Preview(row) => *self.explanation.preview = row,
            Message::Focus(source) => *self.explanation.focus = source,
            Message::SetEdgeShare(share) => *self.explanation.edge_share = share,
            Message::Derive { aggregation, normalization } => self.explanation.derive(aggregation, normalization),
            Message::Escape => self.explanation.escape(),

            Message::FilesOpened(files) => self.open_files(files),
            Message::FileRead { name, text } => self.file_read(&name, text.as_deref()),
            Message::AddressChanged(fragment) => self.open_fragment(&fragment),
            Message::OpenGalleryEntry(entry) => self.open_gallery_entry(entry),
            Message::Needed(fetch) => self.fetch_once(fetch),
            Message::Fetched(fetch, text) => self.fetched(&fetch, text.as_deref()),
            Message::SaveDocument => self.save_document(),
            Message::SaveText { name, media_type, text } => self.emit(Effect::SaveFile { name, media_type, text }),
            Message::SaveRefused => self.fail_with("The browser did not save the file", "Allow downloads for this page, then try again"),
            Message::CopyLink => self.copy_link(),
            Message::LinkCopied(is_copied) => self.link_copied(is_copied),
            Message::CloseLink => *self.explanation.link = None,
            Message::DismissProblem => *self.problem = None,
            Message::UpdateWaits(waits) => *self.update_is_waiting = waits,
            Message::ActivateUpdate => self.emit(Effect::ActivateUpdate),

            Message::MaskedLmChosen(files) => self.choose_masked_lm(files),
            Message::Engine(event) => self.engine_event(event),
            Message::EngineLost(problem) => self.engine_lost(problem),
            Message::Library(message) => self.library_message(message),
        }
    }

    fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn next_id(&mut self) -> RequestId {
        self.last_request = self.last_request.next();
        self.last_request
    }

    fn fail_with(&mut self, what: &str, remedy: &str) {
        *self.problem = Some(Problem::new(what, remedy));
    }
}

fn without_fragment(address: &str) -> &str {
    address.split('#').next().unwrap_or_default()
}
