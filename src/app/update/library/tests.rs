//! Tests of the library of models, as sequences of messages.

use leptos::prelude::untrack;

use super::super::tests::loaded;
use super::super::{update, update_by_engine, update_by_library};
use super::*;
use crate::app::state::Environment;
use crate::app::state::download::DownloadState;
use crate::app::state::library::Library;
use crate::app::state::local_file::FileId;
use crate::app::state::message::Message;
use crate::app::state::run_status::RunStatus;
use crate::library::errors::{LibraryError, NoStorage};
use crate::library::preview::{DeviceFacts, ModelFacts, ModelPreview};
use crate::library::progress::{DownloadProgress, DownloadStage};
use crate::library::stored_models::{StorageStatus, StoredModel, StoredModels};
use crate::worker::engine::protocol::{EngineEvent, EngineRequest, ModelSource};
use crate::worker::envelope::Envelope;
use crate::worker::library::protocol::LibraryEvent;

const ADDRESS: &str = "https://a.b/big.gguf";

#[derive(Default)]
struct Page {
    state: State,
}

impl Page {
    /// A page that finds this unfinished download.
    fn with_unfinished(spec: &DownloadSpec) -> Self {
        let download = serde_json::to_string(spec).ok();
        Self { state: State::new(Environment { download, ..Environment::default() }) }
    }

    /// A page that has loaded a local model with this name.
    fn with_local_model(name: &str) -> Self {
        let mut page = Self::default();
        page.opens(name);
        page
    }

    fn opens(&mut self, name: &str) {
        let file = LocalFile { id: FileId(7), name: name.into(), bytes: 9, modified_millis: 1.0 };
        let effects = update(&mut self.state, Message::FilesOpened(vec![file]));
        let load = effects.iter().find_map(|effect| if let Effect::SendToEngine(load, _) = effect { Some(load.id) } else { None });
        let event = Envelope { id: load.expect("the model is loaded"), body: EngineEvent::Ready(loaded()) };
        update_by_engine(&mut self.state, event);
    }

    fn send(&mut self, message: LibraryMessage) -> Vec<Effect> {
        update(&mut self.state, Message::Library(message))
    }

    fn event(&mut self, id: RequestId, body: LibraryEvent) -> Vec<Effect> {
        update_by_library(&mut self.state, Envelope { id, body })
    }

    /// Starts a download, and returns the id of its request.
    fn downloads(&mut self, spec: DownloadSpec) -> RequestId {
        let effects = self.send(LibraryMessage::Download(spec));
        self.requested(&effects)
    }

    /// The id of the requested download. Persistent storage is requested, too, but the download does not wait for the answer.
    fn requested(&self, effects: &[Effect]) -> RequestId {
        assert!(effects.contains(&Effect::RequestPersistence));
        let (id, request) = sent(effects);
        assert_eq!(request, LibraryRequest::Download(self.download().spec));
        id
    }

    /// Starts a copy of the local model in use, and returns the id of its request.
    fn copies(&mut self) -> RequestId {
        assert_eq!(self.send(LibraryMessage::KeepCopy), [Effect::CreateObjectUrls(vec![FileId(7)])]);
        let effects = self.send(LibraryMessage::ObjectUrlsCreated(Some(vec!["blob:1".into()])));
        assert_eq!(effects.len(), 2, "copies are not remembered");
        self.requested(&effects)
    }

    /// Asks for a preview, and returns the id of its request.
    fn previews(&mut self, spec: DownloadSpec) -> RequestId {
        sent(&self.send(LibraryMessage::Preview(spec))).0
    }

    fn look<T>(&self, look: impl FnOnce(&Library) -> T) -> T {
        untrack(|| look(&self.state.library))
    }

    fn download(&self) -> Download {
        self.look(|library| library.download.clone()).expect("a download")
    }

    fn has_download(&self) -> bool {
        self.look(|library| library.download.is_some())
    }

    fn has_preview(&self) -> bool {
        self.look(|library| library.preview.is_some())
    }

    /// The problem in the dialog.
    fn problem(&self) -> String {
        self.look(|library| library.problem.as_ref().map(ToString::to_string).unwrap_or_default())
    }

    fn page_problem(&self) -> Option<Problem> {
        untrack(|| self.state.problem.clone())
    }

    fn choice(&self) -> ModelChoice {
        untrack(|| self.state.engine.choice.clone())
    }
}

fn spec() -> DownloadSpec {
    DownloadSpec::at("big", vec![ADDRESS.into()])
}

fn preview() -> LibraryEvent {
    let (facts, device) = (ModelFacts::default(), DeviceFacts::default());
    LibraryEvent::Preview(Box::new(ModelPreview { spec: spec(), resumable: true, facts, device, bytes_here: 0 }))
}

fn progress(bytes: u64) -> LibraryEvent {
    LibraryEvent::Progress(DownloadProgress { bytes, total: 100, stage: DownloadStage::Downloading, notice: None })
}

fn problem() -> Problem {
    LibraryError::InUse.into()
}

fn stored(models: &[(&str, DownloadSpec)]) -> LibraryEvent {
    let model = |(id, spec): &(&str, DownloadSpec)| {
        let (id, spec) = ((*id).to_owned(), spec.clone());
        StoredModel { id, spec, bytes: 9, sha256: Some("ab".into()), used_millis: None }
    };
    LibraryEvent::StoredModels(StoredModels { models: models.iter().map(model).collect(), storage: StorageStatus::default() })
}

fn in_storage(id: &str) -> LibraryEvent {
    LibraryEvent::Completed(ModelLocation::Stored(id.into()))
}

/// The only request to the library.
fn sent(effects: &[Effect]) -> (RequestId, LibraryRequest) {
    let requests = effects.iter().filter_map(|effect| if let Effect::SendToLibrary(request) = effect { Some(request) } else { None });
    let [Envelope { id, body }] = requests.collect::<Vec<_>>()[..] else { panic!("one request: {effects:?}") };
    (*id, body.clone())
}

/// The source of the model that the engine is asked to load.
fn loads(effects: &[Effect]) -> Option<ModelSource> {
    effects.iter().find_map(|effect| match effect {
        Effect::SendToEngine(Envelope { body: EngineRequest::Load { source, .. }, .. }, _) => Some(source.clone()),
        _ => None,
    })
}

fn remembers(spec: Option<&DownloadSpec>) -> Effect {
    Effect::RememberForVisits { key: storage_keys::DOWNLOAD, text: spec.map(|spec| serde_json::to_string(spec).unwrap()) }
}

fn revokes() -> Effect {
    Effect::RevokeObjectUrl("blob:1".into())
}

#[test]
fn the_dialog_asks_for_what_is_stored_and_known() {
    let mut page = Page::default();
    let effects = page.send(LibraryMessage::Open);
    let (list, request) = sent(&effects);
    assert_eq!((request, effects.last()), (LibraryRequest::ListModels, Some(&Effect::Fetch(Fetch::Registry))));
    let n_stored = |page: &Page| page.look(|library| library.stored.as_ref().map(|stored| stored.models.len()));
    assert_eq!(n_stored(&page), None);
    page.event(list, stored(&[("ab", spec())]));
    assert_eq!(n_stored(&page), Some(1));
    page.event(RequestId::UNSOLICITED, stored(&[]));
    assert_eq!(n_stored(&page), Some(0), "news needs no request");
    page.send(LibraryMessage::Close);
    page.send(LibraryMessage::Open);
    assert_eq!(n_stored(&page), None, "an old list is not shown");
}

#[test]
fn an_address_is_previewed_as_all_files_of_the_model() {
    let mut page = Page::default();
    let (_, request) = sent(&page.send(LibraryMessage::PreviewTyped(DownloadSpec::typed("https://a.b/big-00002-of-00002.gguf"))));
    let LibraryRequest::Preview(spec) = request else { panic!("{request:?}") };
    assert_eq!((spec.name.as_str(), spec.files.len()), ("big", 2));
    assert_eq!(page.send(LibraryMessage::PreviewTyped(DownloadSpec::typed("big.gguf"))), []);
    assert!(page.problem().starts_with("This is not an address"), "{}", page.problem());
}

#[test]
fn only_the_last_preview_that_was_asked_for_is_shown() {
    let mut page = Page::default();
    page.send(LibraryMessage::Open);
    let (first, second) = (page.previews(spec()), page.previews(spec()));
    page.event(first, preview());
    page.event(first, LibraryEvent::Failed(problem()));
    assert_eq!((page.has_preview(), page.problem().as_str()), (false, ""), "late answers");
    page.event(second, preview());
    assert!(page.has_preview() && page.look(|library| library.asked.is_none()));
    page.send(LibraryMessage::ClosePreview);
    assert!(!page.has_preview());
}

#[test]
fn failed_preview_shows_problem_closing_cancels_preview() {
    let mut page = Page::default();
    page.send(LibraryMessage::Open);
    let id = page.previews(spec());
    page.event(id, LibraryEvent::Failed(problem()));
    assert_eq!((page.has_preview(), page.problem()), (false, problem().to_string()));
    let id = page.previews(spec());
    assert_eq!(page.problem(), "");
    page.send(LibraryMessage::Close);
    page.send(LibraryMessage::Open);
    page.event(id, preview());
    assert!(!page.has_preview());
}

#[test]
fn a_download_is_remembered_until_it_arrives_and_is_loaded() {
    let mut page = Page::default();
    page.send(LibraryMessage::Open);
    let effects = page.send(LibraryMessage::Download(spec()));
    assert_eq!(effects[0], remembers(Some(&spec())));
    assert!(!page.look(|library| *library.is_open));
    let id = page.requested(&effects);
    page.event(id, progress(40));
    assert_eq!((page.download().bytes, page.look(Library::is_downloading)), (40, true));
    let effects = page.event(id, in_storage("ab"));
    assert_eq!((&effects[0], loads(&effects)), (&remembers(None), Some(ModelSource::Stored("ab".into()))));
    assert!(!page.has_download());
    assert!(Page::with_unfinished(&spec()).download().is_paused(), "the next visit finds an unfinished one");
}

#[test]
fn a_second_press_starts_no_second_download() {
    let mut page = Page::default();
    let effects = page.send(LibraryMessage::Download(spec()));
    assert_eq!(page.send(LibraryMessage::Download(spec())), []);
    let id = page.requested(&effects);
    for again in [LibraryMessage::Download(spec()), LibraryMessage::Resume] {
        assert_eq!(page.send(again), []);
    }
    page.event(id, LibraryEvent::Paused(None));
    let effects = page.send(LibraryMessage::Resume);
    assert_eq!(page.send(LibraryMessage::Resume), []);
    assert_ne!(page.requested(&effects), id);
}

#[test]
fn a_download_is_paused_and_resumed_under_another_id() {
    let mut page = Page::default();
    let first = page.downloads(spec());
    assert_eq!(sent(&page.send(LibraryMessage::Pause)).1, LibraryRequest::Pause(first));
    assert!(page.look(Library::is_downloading), "it goes on until the worker says otherwise");
    page.event(first, LibraryEvent::Paused(None));
    assert_eq!(page.download().state, DownloadState::Paused(None));
    assert_eq!(page.send(LibraryMessage::Pause), []);
    let effects = page.send(LibraryMessage::Resume);
    page.event(first, progress(40));
    let second = page.requested(&effects);
    page.event(first, progress(40));
    assert_eq!(page.download().state, DownloadState::Starting, "late answers to the first request");
    page.event(second, progress(50));
    assert_eq!(page.download().bytes, 50);
}

#[test]
fn a_model_that_arrives_while_the_engine_is_busy_waits() {
    let mut page = Page::default();
    let id = page.downloads(spec());
    *page.state.engine.run = RunStatus::Preparing;
    let effects = page.event(id, LibraryEvent::Completed(ModelLocation::Memory("blob:1".into())));
    assert_eq!(effects, [remembers(None)]);
    *page.state.engine.run = RunStatus::Idle;
    let effects = page.send(LibraryMessage::UseArrived);
    assert_eq!(loads(&effects), Some(ModelSource::Url("blob:1".into())));
    assert_eq!(page.send(LibraryMessage::UseArrived), [], "a second press");
    let effects = page.send(LibraryMessage::UseBuiltIn);
    assert!(effects.contains(&revokes()), "nobody can choose it any more, so its memory is given back: {effects:?}");
}

#[test]
fn replaced_waiting_model_frees_its_memory() {
    let mut page = Page::default();
    *page.state.engine.run = RunStatus::Preparing;
    let id = page.downloads(spec());
    page.event(id, LibraryEvent::Completed(ModelLocation::Memory("blob:1".into())));
    let id = page.downloads(spec());
    assert!(page.event(id, in_storage("ab")).contains(&revokes()));
}

#[test]
fn preview_and_download_fail_apart_from_each_other() {
    let mut page = Page::default();
    let download = page.downloads(spec());
    page.send(LibraryMessage::Open);
    let id = page.previews(spec());
    page.event(id, LibraryEvent::Failed(problem()));
    assert!(page.look(Library::is_downloading) && !page.problem().is_empty());
    let id = page.previews(spec());
    page.event(download, LibraryEvent::Paused(Some(problem())));
    assert_eq!((page.problem().as_str(), page.download().is_paused()), ("", true));
    page.event(id, preview());
    assert!(page.has_preview());
}

#[test]
fn discarded_download_is_forgotten_with_page_problem() {
    let mut page = Page::default();
    let id = page.downloads(spec());
    assert_eq!(page.event(id, LibraryEvent::Discarded(problem())), [remembers(None)]);
    assert_eq!((page.has_download(), page.page_problem()), (false, Some(problem())));
}

#[test]
fn replaced_file_updates_remembered_download() {
    let mut page = Page::default();
    let id = page.downloads(spec());
    let mut replaced = spec();
    replaced.files[0].bytes = Some(7);
    assert_eq!(page.event(id, LibraryEvent::Replaced(replaced.clone())), [remembers(Some(&replaced))]);
    assert_eq!(page.download().spec, replaced);
}

#[test]
fn dismissed_download_frees_memory_and_ignores_events() {
    let mut page = Page::default();
    let id = page.downloads(spec());
    assert_eq!(page.send(LibraryMessage::Dismiss), [], "it must be paused first");
    page.event(id, LibraryEvent::Paused(None));
    let effects = page.send(LibraryMessage::Dismiss);
    assert_eq!((&effects[0], sent(&effects).1), (&remembers(None), LibraryRequest::Release(spec())));
    assert_eq!(page.event(id, in_storage("ab")), []);
    let mut page = Page::with_unfinished(&spec());
    assert_eq!(page.send(LibraryMessage::Dismiss), [remembers(None)], "no worker is started for that");
}

#[test]
fn a_worker_that_is_lost_leaves_a_paused_download() {
    let mut page = Page::default();
    let id = page.downloads(spec());
    page.event(id, progress(40));
    page.send(LibraryMessage::Lost(Lost::Stopped));
    assert!(page.download().detail().contains("Stored models are kept"), "{}", page.download().detail());
    page.event(id, progress(50));
    assert_eq!(page.download().bytes, 40);
    let effects = page.send(LibraryMessage::Resume);
    page.requested(&effects);
}

#[test]
fn lost_library_worker_ends_pending_preview() {
    let mut page = Page::with_unfinished(&spec());
    page.send(LibraryMessage::Open);
    let id = page.previews(spec());
    page.send(LibraryMessage::Lost(Lost::Stopped));
    assert!(page.look(|library| library.asked.is_none()) && page.problem().contains("Stored models are kept"), "{}", page.problem());
    assert_eq!(page.download().state, DownloadState::Paused(None), "it was not running");
    page.event(id, preview());
    assert!(!page.has_preview());
}

#[test]
fn deleting_model_forgets_choice_and_unfinished_download() {
    let mut page = Page::default();
    page.send(LibraryMessage::UseStored { id: "ab".into(), name: "big".into() });
    let id = page.downloads(spec());
    page.event(id, LibraryEvent::Paused(None));
    page.event(RequestId::UNSOLICITED, stored(&[("ab", spec()), ("cd", DownloadSpec::at("big", vec!["https://c.d/big.gguf".into()]))]));
    page.send(LibraryMessage::Delete(vec!["cd".into()]));
    assert!(page.has_download(), "another model of this name");
    let effects = page.send(LibraryMessage::Delete(vec!["ab".into()]));
    assert_eq!(effects[0], Effect::RememberForVisits { key: "glasscage.model", text: None });
    assert!(effects.contains(&remembers(None)) && !page.has_download());
    let Some(Effect::SendToLibrary(Envelope { id, body: LibraryRequest::Delete(_) })) = effects.last() else { panic!("{effects:?}") };
    page.event(*id, LibraryEvent::Failed(problem()));
    assert_eq!(page.problem(), problem().to_string());
}

#[test]
fn copy_replaces_local_model_until_deleted() {
    let mut page = Page::with_local_model("mine.gguf");
    let id = page.copies();
    let copy = page.download().spec;
    let effects = page.event(id, in_storage("ab"));
    assert!(effects.contains(&revokes()) && loads(&effects).is_none());
    assert_eq!(page.choice(), ModelChoice::Stored { id: "ab".into(), name: "mine.gguf".into() });
    assert!(untrack(|| page.state.is_copied() && !page.state.can_keep_copy()));

    page.event(RequestId::UNSOLICITED, stored(&[("ab", copy)]));
    let effects = page.send(LibraryMessage::Delete(vec!["ab".into()]));
    let local = ModelChoice::Files("mine.gguf".into());
    assert_eq!(page.choice(), local);
    let last_remembered = effects.iter().rev().find(|effect| matches!(effect, Effect::RememberForVisits { key: storage_keys::MODEL, .. }));
    assert_eq!(last_remembered, Some(&Effect::RememberForVisits { key: storage_keys::MODEL, text: local.to_json() }));
    assert!(untrack(|| !page.state.is_copied() && page.state.can_keep_copy()));
}

#[test]
fn finished_copy_of_unused_model_changes_nothing() {
    let mut page = Page::with_local_model("mine.gguf");
    let id = page.copies();
    page.opens("other.gguf");
    assert_eq!(page.event(id, in_storage("ab")), [revokes()]);
    assert_eq!(page.choice(), ModelChoice::Files("other.gguf".into()));
}

#[test]
fn a_full_storage_ends_a_copy_with_a_problem() {
    let mut page = Page::with_local_model("mine.gguf");
    let id = page.copies();
    let full = Problem::from(LibraryError::NoCopy(NoStorage::Full));
    assert_eq!(page.event(id, LibraryEvent::Discarded(full.clone())), [revokes()]);
    assert_eq!(page.page_problem(), Some(full));
}

#[test]
fn resumed_copy_keeps_url_new_download_revokes_it() {
    let mut page = Page::with_local_model("mine.gguf");
    let id = page.copies();
    page.event(id, LibraryEvent::Paused(None));
    let effects = page.send(LibraryMessage::Resume);
    assert!(!effects.contains(&revokes()));
    let id = page.requested(&effects);
    page.event(id, LibraryEvent::Paused(None));
    assert!(page.send(LibraryMessage::Download(spec())).contains(&revokes()));
}

#[test]
fn refused_copy_shows_problem_late_copy_is_dropped() {
    let mut page = Page::with_local_model("mine.gguf");
    page.send(LibraryMessage::ObjectUrlsCreated(None));
    assert!(page.page_problem().is_some() && !page.has_download());
    page.downloads(spec());
    assert_eq!(page.send(LibraryMessage::KeepCopy), [], "one download at a time");
    assert_eq!(page.send(LibraryMessage::ObjectUrlsCreated(Some(vec!["blob:1".into()]))), [revokes()]);
}
