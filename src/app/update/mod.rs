//! Handles every message without a browser: changes the state and returns effects.

#[cfg(test)]
mod contrast_tests;
mod documents;
mod dropped_texts;
mod editor;
mod engine;
mod engine_events;
mod follow_up;
mod history;
#[cfg(test)]
mod history_tests;
mod lesson;
#[cfg(test)]
mod lesson_tests;
mod library;
#[cfg(test)]
mod load_tests;
mod masked_lm;
mod model_failures;
#[cfg(test)]
mod model_failures_tests;
mod next_turn;
#[cfg(test)]
mod next_turn_tests;
mod remote;
#[cfg(test)]
mod remote_tests;
mod requests;
#[cfg(test)]
mod requests_tests;
#[cfg(test)]
mod tests;
mod unfinished_answer;
#[cfg(test)]
mod unfinished_answer_tests;
mod variants;
#[cfg(test)]
mod variants_tests;

use glasscage_message::message;
use leptos::prelude::untrack;

use super::state::State;
use super::state::message::{Effect, ExplanationMessage, Message};
use super::state::purpose::Purpose;
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};
use crate::worker::envelope::Envelope;
use crate::worker::library::protocol::LibraryEvent;

/// Handles one message and returns the effects to carry out.
pub fn update(state: &mut State, message: Message) -> Vec<Effect> {
    changed(state, |state| state.handle(message))
}

/// Handles an event of the engine and returns the effects to carry out. Events of workers are not [`Message`]s, because the browser fetches
/// their code later than that of [`update`].
pub fn update_by_engine(state: &mut State, event: Envelope<EngineEvent>) -> Vec<Effect> {
    changed(state, |state| state.engine_event(event))
}

/// Handles an event of the model library and returns the effects to carry out.
pub fn update_by_library(state: &mut State, event: Envelope<LibraryEvent>) -> Vec<Effect> {
    changed(state, |state| state.library_event(event))
}

fn changed(state: &mut State, change: impl FnOnce(&mut State)) -> Vec<Effect> {
    // A view that sends a message must not be subscribed to the fields that the update reads.
    untrack(|| {
        change(state);
        state.show_delayed_step();
    });
    state.outbox.take_effects()
}

impl State {
    fn handle(&mut self, message: Message) {
        match message {
            Message::Editor(message) => self.editor.update(message, &self.engine, &mut self.outbox),
            Message::Explanation(message) => {
                let is_derived = matches!(message, ExplanationMessage::Derive(_));
                let selected = self.explanation.output.clone();
                self.explanation.update(message);
                if is_derived {
                    self.replace_entry();
                } else if *self.explanation.output != selected {
                    self.store_selection_later();
                }
            }
            Message::SelectionRests(output) => self.store_selection(&output),
            Message::Lesson(message) => self.lesson_message(message),
            Message::Library(message) => self.library_message(message),

            Message::Explain => self.explain(),
            Message::Recompute => self.recompute(),
            Message::NextTurn => self.next_turn(),
            Message::ContinueAnswer => self.continue_answer(),
            Message::ExplainSoFar => self.explain_so_far(),
            Message::RaiseTokenLimit => self.raise_token_limit(),
            Message::Stop => self.stop(),
            Message::StopTimedOut(id) => self.stop_timed_out(id),
            Message::MeasureDeletion => self.measure_deletion(),
            Message::MeasureContrast { mark, alternative } => self.measure_contrast(mark, &alternative),
            Message::MeasureDevice => self.request(Purpose::MeasureDevice, EngineRequest::MeasureDevice),
            Message::CompareMethod(method) => self.compare_method(&method),
            Message::ShowMethod(method) => self.show_method(&method),
            Message::AnswerVariant => self.answer_variant(),
            Message::AnswerWithout(sources) => self.answer_without(&sources),
            Message::ContinueFrom { token, rank } => self.continue_from(token, rank),
            Message::ExplainVariant(at) => self.explain_variant(at),
            Message::OpenVariant(at) => self.open_variant(at),
            Message::EditVariant(at) => self.edit_variant(at),
            Message::ToggleWords(source) => self.toggle_words(source),

            Message::FilesOpened(files) => self.open_files(files),
            Message::TextsRead(files) => self.texts_read(files),
            Message::FileRead { id, name, opened } => self.file_read(id, &name, opened),
            Message::LinkOpened { id, link, opened } => self.link_opened(id, &link, opened),
            Message::Visited { entry, fragment } => self.visit(entry.as_deref(), &fragment),
            Message::FetchRemote => self.fetch_remote(),
            Message::DeclineRemote => self.decline_remote(),
            Message::RemoteFetched(id, fetched) => self.remote_fetched(id, fetched),
            Message::GoHome => self.go_home(),
            Message::OpenGalleryEntry(entry) => self.fetch_gallery_entry(entry),
            Message::MakeLesson => self.make_lesson(),
            Message::Needed(fetch) => self.fetch_once(fetch),
            Message::Fetched(fetch, text) => self.fetched(&fetch, text.as_deref()),
            Message::SaveDocument => self.save_document(),
            Message::Save { name, media_type, bytes } => self.emit(Effect::SaveFile { name, media_type, bytes }),
            Message::SaveRefused => {
                self.fail_with(message!("The browser did not save the file"), message!("Allow downloads for this page, then try again"));
            }
            Message::CopyLink => self.copy_link(),
            Message::LinkEncoded(fragment) => self.link_encoded(&fragment),
            Message::LinkCopied { address, is_copied } => self.link_copied(&address, is_copied),
            Message::ShowInLink { part, is_shown } => self.show_in_link(part, is_shown),
            Message::CloseLink => self.explanation.close_link(),
            Message::DismissProblem => *self.problem = None,
            Message::UpdateWaits(waits) => *self.update_is_waiting = waits,
            Message::KeptForOffline => *self.is_kept_for_offline = true,
            Message::ActivateUpdate => self.emit(Effect::ActivateUpdate),

            // Only the viewer is embedded.
            Message::Host(_) => {}
            Message::MaskedLmChosen(files) => self.choose_masked_lm(files),
            Message::TabEndedWhileLoading(name) => self.tab_ended_while_loading(&name),
            Message::EngineLost(lost) => self.engine_lost(lost),
            Message::TabEnded(entry) => self.tab_ended(&entry),
            Message::LanguageMissing => self.language_missing(),
            Message::MayEnd => self.keep_measured(),
        }
    }
}
