//! Tests of models that do not load or crash the engine, of crashed tabs, and of models that are no longer chosen.

use super::tests::{Page, answered, asked, file, loaded, requests, unmeasured};
use crate::app::analysis::example::document;
use crate::app::state::engine::ModelState;
use crate::app::state::history_entry;
use crate::app::state::library::LibraryMessage;
use crate::app::state::message::{EditorMessage, Effect, Message};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::origin::Origin;
use crate::app::state::storage_keys;
use crate::app::update::State;
use crate::problem::Problem;
use crate::request::{ExplainProgress, LoadOptions, LoadProgress};
use crate::worker::engine::protocol::{EngineEvent, EngineRequest, ModelSource};
use crate::worker::role::Lost;
use glasscage_message::message;

const NAME: &str = "mine.gguf";

/// A page with a prompt and a local model. The load is still pending.
fn with_local_model() -> (Page, Vec<Effect>) {
    let mut page = Page::new();
    page.send(EditorMessage::PromptTyped("A. B.".into()));
    let effects = page.send(Message::FilesOpened(vec![file(NAME)]));
    (page, effects)
}

/// Checks that the local model is still chosen, named in the problem, and loaded by the next press of Explain.
fn stays_chosen(mut page: Page) {
    let (choice, state) = page.look(|state| (state.engine.choice.clone(), state.engine.model.clone()));
    assert_eq!((choice, state), (ModelChoice::Files(NAME.into()), ModelState::Failed));
    assert!(page.problem().contains(NAME), "{}", page.problem());
    assert!(page.look(|state| state.engine.can_fall_back()));
    assert_eq!(page.look(|state| state.editor.prompt.clone()), "A. B.");
    let effects = page.send(Message::Explain);
    let load = EngineRequest::Load { source: ModelSource::Files, options: LoadOptions::default(), has_spare_core: false };
    assert_eq!(requests(&effects)[0].body, load);
    let effects = page.engine(asked(&effects), EngineEvent::Ready(loaded()));
    assert!(matches!(requests(&effects)[0].body, EngineRequest::Explain(_)), "one press goes on");
}

#[test]
fn unloadable_model_is_named_and_stays_chosen() {
    let (mut page, effects) = with_local_model();
    page.engine(asked(&effects), EngineEvent::Failed(Problem::new(message!("this is not a GGUF file"), message!("Open another file"))));
    assert_eq!(page.problem(), "\u{201c}mine.gguf\u{201d} was not loaded: This is not a GGUF file. Open another file.");
    stays_chosen(page);
}

#[test]
fn model_crashing_engine_is_named_and_stays_chosen() {
    let (mut page, effects) = with_local_model();
    page.engine(asked(&effects), EngineEvent::Loading(LoadProgress::default()));
    page.send(Message::EngineLost(Lost::Stopped));
    assert!(page.problem().starts_with("The engine stopped while \u{201c}mine.gguf\u{201d} was loading."), "{}", page.problem());
    stays_chosen(page);

    let (mut page, effects) = with_local_model();
    page.engine(asked(&effects), EngineEvent::Ready(loaded()));
    let run = asked(&page.send(Message::Explain));
    page.token(run, "So 4");
    page.send(Message::EngineLost(Lost::Stopped));
    assert!(page.problem().starts_with("The engine stopped while \u{201c}mine.gguf\u{201d} was in use."), "{}", page.problem());
    assert_eq!(page.look(|state| state.engine.unfinished.as_ref().map(|unfinished| unfinished.text.clone())), Some("So 4".into()));
    stays_chosen(page);
}

#[test]
fn failed_reload_after_device_loss_names_model() {
    let (mut page, effects) = with_local_model();
    page.engine(asked(&effects), EngineEvent::Ready(loaded()));
    let run = asked(&page.send(Message::Explain));
    page.engine(run, EngineEvent::Loading(LoadProgress::default()));
    page.engine(run, EngineEvent::Failed(Problem::new(message!("the GPU stopped working"), message!("Press Explain again"))));
    stays_chosen(page);
}

#[test]
fn missing_engine_is_not_blamed_on_model() {
    for lost in [Lost::NotArrived, Lost::NotStarted, Lost::Incompatible] {
        let (mut page, _) = with_local_model();
        page.send(Message::EngineLost(lost));
        assert!(!page.problem().contains(NAME) && !page.look(|state| state.engine.can_fall_back()), "{}", page.problem());
        assert_eq!(requests(&page.send(Message::Explain)).len(), 1, "it is tried again");
    }
}

#[test]
fn one_press_replaces_failed_model_with_built_in() {
    let (mut page, effects) = with_local_model();
    page.engine(asked(&effects), EngineEvent::Failed(Problem::new(message!("broken"), message!("another"))));
    let load = asked(&page.send(LibraryMessage::UseBuiltIn));
    page.engine(load, EngineEvent::Ready(loaded()));
    assert!(page.look(|state| *state.engine.choice == ModelChoice::BuiltIn && !state.engine.can_fall_back()) && page.problem().is_empty());
}

#[test]
fn unloadable_file_is_not_remembered_for_next_visit() {
    let (mut page, effects) = with_local_model();
    let effects = page.engine(asked(&effects), EngineEvent::Failed(Problem::new(message!("broken"), message!("another"))));
    assert!(effects.contains(&Effect::RememberForVisits { key: storage_keys::MODEL, text: None }));
}

#[test]
fn an_update_of_the_page_does_not_forget_the_model() {
    let (mut page, effects) = with_local_model();
    let mut other = loaded();
    other.glasscage = "other".into();
    page.engine(asked(&effects), EngineEvent::Ready(other));
    assert_eq!(page.look(|state| state.engine.choice.clone()), ModelChoice::Files(NAME.into()));
}

#[test]
fn changing_model_ends_previous_worker_first() {
    let (mut page, effects) = with_local_model();
    page.engine(asked(&effects), EngineEvent::Ready(loaded()));
    let effects = page.send(LibraryMessage::UseBuiltIn);
    let ends = effects.iter().position(|effect| *effect == Effect::EndEngine);
    let loads = effects.iter().position(|effect| matches!(effect, Effect::SendToEngine(..)));
    assert!(ends.is_some() && ends < loads, "the worker before ends, and its memory with it: {effects:?}");
}

#[test]
fn reload_keeps_model_chosen_in_tab() {
    let mut page = Page::new();
    let (key, stored) = (storage_keys::MODEL, ModelChoice::Stored { id: "ab".into(), name: "Qwen".into() });
    let in_tab = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::RememberInTab { key: of, text } if *of == key => Some(ModelChoice::from_json(text)),
            _ => None,
        })
    };
    let effects = page.send(LibraryMessage::UseStored { id: "ab".into(), name: "Qwen".into() });
    assert_eq!(in_tab(&effects), Some(stored));
    assert_eq!(in_tab(&page.send(LibraryMessage::UseBuiltIn)), Some(ModelChoice::BuiltIn), "no other tab\u{2019}s");
}

fn shown_origin(state: &State) -> Option<Origin> {
    state.explanation.shown.as_ref().map(|shown| shown.origin)
}

#[test]
fn ended_tab_restores_last_explanation_and_reports_it() {
    let mut page = Page::new();
    page.visit(None, "");
    let entry = history_entry::to_text(&document(), Origin::Here);
    let effects = page.send(Message::TabEnded(entry.clone()));
    assert_eq!(page.look(shown_origin), Some(Origin::Here));
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { text: Some(text), .. }] if *text == entry), "for a reload: {effects:?}");
    assert_eq!(page.problem(), "The browser closed this page. Your text and the last explanation were restored.");
}

#[test]
fn address_takes_precedence_over_ended_tab_entry() {
    let entry = history_entry::to_text(&document(), Origin::Here);
    let mut page = Page::new();
    page.visit(Some(&history_entry::to_text(&document(), Origin::Link)), "");
    assert!(page.send(Message::TabEnded(entry.clone())).is_empty() && page.look(shown_origin) == Some(Origin::Link));
    page.visit(None, "#g1.damaged");
    assert!(page.send(Message::TabEnded(entry)).is_empty() && page.look(shown_origin).is_none());
    page.visit(None, "");
    assert!(page.send(Message::TabEnded("another version".into())).is_empty() && page.problem().is_empty());
}

#[test]
fn hiding_tab_while_measuring_stores_measured_scores() {
    let mut page = Page::ready();
    assert!(page.send(Message::MayEnd).is_empty());
    let run = asked(&page.send(Message::Explain));
    page.engine(run, answered(unmeasured()));
    let column = ExplainProgress::Column { source: 0, scores: vec![1.0, -0.5, 0.0, 0.0], done: 1, planned: 5 };
    page.engine(run, EngineEvent::Progress(column));
    let effects = page.send(Message::MayEnd);
    assert!(matches!(&effects[..], [Effect::ReplaceEntry { text: Some(text), .. }] if text.contains("-0.5")), "{effects:?}");
}
