//! Tests of how a visitor gets Glasscage Standard, as sequences of messages.

use leptos::prelude::untrack;

use super::super::{update, update_by_engine, update_by_library};
use super::*;
use crate::app::state::Environment;
use crate::app::state::message::Message;
use crate::app::state::run_status::RunStatus;
use crate::app::state::standard::StandardOffer;
use crate::library::errors::LibraryError;
use crate::library::preview::{DeviceFacts, ModelFacts, ModelPreview};
use crate::library::standard::{self, NAME, Obstacle};
use crate::library::stored_models::{StorageStatus, StoredModel, StoredModels};
use crate::worker::engine::protocol::EngineEvent;
use crate::worker::envelope::Envelope;
use crate::worker::library::protocol::LibraryEvent;

const ADDRESS: &str = "https://a.b/models/standard/standard-00001-of-00003.gguf";
const DOWNLOAD: Option<StandardOffer> = Some(StandardOffer::Download(None));

struct Page {
    state: State,
}

impl Page {
    fn new(environment: Environment) -> Self {
        Self { state: State::new(Environment { standard_model: ADDRESS.into(), ..environment }) }
    }

    /// A page whose storage has the model under the id "ab".
    fn with_stored(environment: Environment) -> Self {
        Self::new(Environment { stored_standard: Some("ab".into()), ..environment })
    }

    fn send(&mut self, message: LibraryMessage) -> Vec<Effect> {
        update(&mut self.state, Message::Library(message))
    }

    fn event(&mut self, id: RequestId, body: LibraryEvent) -> Vec<Effect> {
        update_by_library(&mut self.state, Envelope { id, body })
    }

    /// Presses the button of the offer. Returns the id of the request for a preview.
    fn gets(&mut self) -> RequestId {
        let effects = self.send(LibraryMessage::GetStandard);
        let [Effect::SendToLibrary(Envelope { id, body: LibraryRequest::Preview(spec) })] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(*spec, standard::spec(ADDRESS));
        *id
    }

    /// Presses the button, on a device with enough of everything. Returns the id of the download.
    fn downloads(&mut self) -> RequestId {
        let preview = self.gets();
        let effects = self.event(preview, preview_of(1_000_000_000));
        let download = LibraryRequest::Download(standard::spec(ADDRESS));
        let id = effects.iter().find_map(|effect| match effect {
            Effect::SendToLibrary(Envelope { id, body }) if *body == download => Some(*id),
            _ => None,
        });
        id.unwrap_or_else(|| panic!("{effects:?}"))
    }

    fn offer(&self) -> Option<StandardOffer> {
        untrack(|| self.state.standard_offer())
    }

    fn choice(&self) -> ModelChoice {
        untrack(|| self.state.engine.choice.clone())
    }
}

/// The preview from a device with `free` bytes of free storage.
fn preview_of(free: u64) -> LibraryEvent {
    let storage = StorageStatus { is_available: true, is_persistent: false, free: Some(free) };
    let device = DeviceFacts { storage, ..DeviceFacts::default() };
    let (spec, facts) = (standard::spec(ADDRESS), ModelFacts::default());
    LibraryEvent::Preview(Box::new(ModelPreview { spec, resumable: true, facts, device, bytes_here: 0 }))
}

fn listing(sha256: Option<&str>) -> LibraryEvent {
    let sha256 = sha256.map(str::to_owned);
    let model = StoredModel { id: "ab".into(), spec: standard::spec(ADDRESS), bytes: 9, sha256, used_millis: None };
    LibraryEvent::StoredModels(StoredModels { models: vec![model], storage: StorageStatus::default() })
}

fn stored() -> ModelChoice {
    ModelChoice::Stored { id: "ab".into(), name: NAME.into() }
}

fn remembers(id: Option<&str>) -> Effect {
    Effect::RememberForVisits { key: storage_keys::STANDARD, text: id.map(str::to_owned) }
}

#[test]
fn one_press_downloads_and_chooses_it() {
    let mut page = Page::new(Environment::default());
    assert_eq!(page.offer(), DOWNLOAD);
    let id = page.downloads();
    assert_eq!((page.offer(), page.choice()), (Some(StandardOffer::Arriving), ModelChoice::BuiltIn));
    page.event(id, LibraryEvent::Paused(None));
    assert_eq!(page.offer(), Some(StandardOffer::Arriving), "a paused download has its own buttons");
    page.send(LibraryMessage::Resume);
    let id = untrack(|| page.state.library.download_request).expect("a download");
    page.event(id, LibraryEvent::Completed(ModelLocation::Stored("ab".into())));
    assert_eq!((page.offer(), page.choice()), (None, stored()));
    assert_eq!(page.event(RequestId::UNSOLICITED, listing(Some("cd"))), [remembers(Some("ab"))]);
    assert_eq!(page.event(RequestId::UNSOLICITED, listing(Some("cd"))), [], "it is remembered once");
}

#[test]
fn a_second_press_asks_nothing() {
    let mut page = Page::new(Environment::default());
    let preview = page.gets();
    assert_eq!(page.send(LibraryMessage::GetStandard), []);
    page.event(preview, preview_of(1_000_000_000));
    assert_eq!(page.send(LibraryMessage::GetStandard), []);
}

#[test]
fn arrival_during_a_run_waits_for_the_visitor() {
    let mut page = Page::new(Environment::default());
    let id = page.downloads();
    *page.state.engine.run = RunStatus::Preparing;
    page.event(id, LibraryEvent::Completed(ModelLocation::Stored("ab".into())));
    assert_eq!((page.offer(), page.choice()), (None, ModelChoice::BuiltIn), "there is a button for what has arrived");
    *page.state.engine.run = RunStatus::Idle;
    page.send(LibraryMessage::UseArrived);
    assert_eq!(page.choice(), stored());
}

#[test]
fn full_storage_is_reported_and_nothing_is_downloaded() {
    let mut page = Page::new(Environment::default());
    let preview = page.gets();
    assert_eq!(page.event(preview, preview_of(1_000_000)), []);
    assert_eq!(page.offer(), Some(StandardOffer::Download(Some(Obstacle::Storage))));
    page.downloads();
    assert_eq!(page.offer(), Some(StandardOffer::Arriving), "after the visitor has made room");
}

#[test]
fn failed_preview_is_reported_in_the_form() {
    let mut page = Page::new(Environment::default());
    let id = page.gets();
    page.event(id, LibraryEvent::Failed(LibraryError::InUse.into()));
    let problem = |page: &Page| untrack(|| (page.state.problem_place, page.state.problem.is_some()));
    assert_eq!((page.offer(), problem(&page)), (DOWNLOAD, (Place::Editor, true)));
    page.gets();
    assert_eq!(problem(&page), (Place::Editor, false));
    page.send(LibraryMessage::Lost(Lost::Stopped));
    assert_eq!((page.offer(), problem(&page)), (DOWNLOAD, (Place::Editor, true)));
    page.gets();
}

#[test]
fn stored_model_is_offered_for_use() {
    let mut page = Page::with_stored(Environment::default());
    assert_eq!((page.offer(), page.choice()), (Some(StandardOffer::Use("ab".into())), ModelChoice::BuiltIn));
    page.send(LibraryMessage::UseStored { id: "ab".into(), name: NAME.into() });
    assert_eq!((page.offer(), page.choice()), (None, stored()));
    page.send(LibraryMessage::UseBuiltIn);
    assert_eq!(page.event(RequestId::UNSOLICITED, listing(None)), [remembers(None)], "it is not complete any more");
    assert_eq!(page.offer(), DOWNLOAD);
}

#[test]
fn failed_load_reads_the_storage_again() {
    let mut page = Page::with_stored(Environment::default());
    page.send(LibraryMessage::UseStored { id: "ab".into(), name: NAME.into() });
    let load = untrack(|| page.state.engine.load).expect("a load");
    let failed = EngineEvent::Failed(LibraryError::Gone.into());
    let effects = update_by_engine(&mut page.state, Envelope { id: load, body: failed });
    let lists = |effect: &Effect| matches!(effect, Effect::SendToLibrary(Envelope { body: LibraryRequest::ListModels, .. }));
    assert!(effects.iter().any(lists), "{effects:?}");
}

#[test]
fn other_choices_hide_the_offer() {
    let mut page = Page::new(Environment::default());
    page.send(LibraryMessage::UseStored { id: "ef".into(), name: "Qwen".into() });
    assert_eq!(page.offer(), None);
    let mut page = Page::new(Environment::default());
    page.send(LibraryMessage::Download(DownloadSpec::at("Qwen", vec!["https://a.b/qwen.gguf".into()])));
    assert_eq!(page.offer(), None, "one download at a time");
}

#[test]
fn address_opens_the_form_and_starts_nothing() {
    let asks = || Environment { asks_for_standard: true, model: stored_qwen().to_json(), ..Environment::default() };
    let visit = |page: &mut Page| update(&mut page.state, Message::Visited { entry: None, fragment: String::new() });
    let mut page = Page::new(asks());
    assert!(visit(&mut page).iter().all(|effect| !matches!(effect, Effect::SendToLibrary(_))));
    assert_eq!((page.offer(), page.choice()), (DOWNLOAD, stored_qwen()));
    assert!(untrack(|| *page.state.editor.is_open));
    let mut page = Page::with_stored(asks());
    visit(&mut page);
    assert_eq!((page.offer(), page.choice()), (None, stored()));
    assert!(untrack(|| *page.state.editor.is_open));
}

fn stored_qwen() -> ModelChoice {
    ModelChoice::Stored { id: "ef".into(), name: "Qwen".into() }
}
