//! Choosing, downloading and deleting models: what a visitor can do, and what the library's reports change.
//!
//! The library has a worker of its own: a download goes on while the engine computes, or is ended.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::browser;
use super::choice::Choice;
use super::download::Download;
use super::run::Run;
use super::state::Page;
use crate::library::address::{all_parts, file_address, file_name, part_of};
use crate::library::download_spec::DownloadSpec;
use crate::library::preview::ModelPreview;
use crate::library::registry::{self, RegistryEntry};
use crate::library::stored_models::{ModelLocation, StoredModel, StoredModels};
use crate::problem::Problem;
use crate::worker::client::{Client, Event, Message, Request};
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::library::protocol::{LibraryEvent, LibraryRequest};

const REGISTRY: &str = "models/registry.json";
/// The download that was not finished, for the next visit.
const UNFINISHED: &str = "glasscage.download";

/// The signals of the library.
#[derive(Clone, Copy)]
pub struct Library {
    /// Whether the list of models is on screen.
    pub is_open: RwSignal<bool>,
    /// Known small models.
    pub known: RwSignal<Vec<RegistryEntry>>,
    /// What is kept here; `None` until it was asked for.
    pub shelf: RwSignal<Option<StoredModels>>,
    /// The name of the model that a server is asked about.
    pub asked: RwSignal<Option<String>>,
    /// What that came to.
    pub offer: RwSignal<Option<ModelPreview>>,
    pub download: RwSignal<Option<Download>>,
    /// The copy of a local model that was made on this visit, by its id.
    pub copied: RwSignal<Option<String>>,
    /// A model that arrived while the engine was busy.
    pub arrived: RwSignal<Option<Choice>>,
    pub problem: RwSignal<Option<Problem>>,
    client: StoredValue<Option<Client>, LocalStorage>,
    requests: StoredValue<Requests>,
}

/// The ids of the last request, and of those whose answers are awaited.
#[derive(Clone, Copy, Default)]
struct Requests {
    last: RequestId,
    preview: RequestId,
    download: RequestId,
}

impl Library {
    pub fn new() -> Self {
        let unfinished = browser::kept(UNFINISHED).and_then(|json| serde_json::from_str(&json).ok());
        Self {
            is_open: RwSignal::new(false),
            known: RwSignal::default(),
            shelf: RwSignal::new(None),
            asked: RwSignal::new(None),
            offer: RwSignal::new(None),
            download: RwSignal::new(unfinished.map(Download::unfinished)),
            copied: RwSignal::new(None),
            arrived: RwSignal::new(None),
            problem: RwSignal::new(None),
            client: StoredValue::new_local(None),
            requests: StoredValue::default(),
        }
    }
}

impl Page {
    /// Shows the models there are.
    pub fn open_library(&self) {
        let library = self.library;
        library.problem.set(None);
        library.offer.set(None);
        library.asked.set(None);
        library.is_open.set(true);
        self.request_library(LibraryRequest::ListModels);
        if library.known.with_untracked(Vec::is_empty) {
            spawn_local(async move {
                let json = browser::fetch_text(REGISTRY).await.unwrap_or_default();
                library.known.set(registry::parse(&json));
            });
        }
    }

    /// Asks the server of a pasted address what it has.
    pub fn look_up_address(&self, typed: &str) {
        match file_address(typed) {
            Ok(address) => {
                let file = file_name(&address);
                let name = part_of(&file).map_or(file.as_str(), |(stem, ..)| stem).trim_end_matches(".gguf").to_owned();
                self.look_up(DownloadSpec::at(name, all_parts(&address)));
            }
            Err(error) => self.library.problem.set(Some(error.into())),
        }
    }

    /// Asks the server what it has, before anything is downloaded.
    pub fn look_up(&self, spec: DownloadSpec) {
        self.library.problem.set(None);
        self.library.asked.set(Some(spec.name.clone()));
        let id = self.request_library(LibraryRequest::Preview(spec));
        self.library.requests.update_value(|requests| requests.preview = id);
    }

    /// Downloads a model, or what is missing of it.
    pub fn fetch(&self, spec: DownloadSpec) {
        let library = self.library;
        library.problem.set(None);
        library.offer.set(None);
        library.is_open.set(false);
        keep_unfinished(&spec);
        if let Some(before) = library.download.get_untracked() {
            revoke_object_urls(&before.spec, &spec);
        }
        library.download.set(Some(Download::new(spec.clone())));
        let page = *self;
        spawn_local(async move {
            browser::ask_for_persistence().await;
            let id = page.request_library(LibraryRequest::Download(spec));
            page.library.requests.update_value(|requests| requests.download = id);
        });
    }

    /// Whether a download goes on. Tracked.
    pub fn is_downloading(&self) -> bool {
        self.library.download.with(|download| download.as_ref().is_some_and(|download| !download.is_paused()))
    }

    pub fn pause_download(&self) {
        let download = self.library.requests.with_value(|requests| requests.download);
        self.request_library(LibraryRequest::Pause(download));
    }

    pub fn resume_download(&self) {
        if let Some(download) = self.library.download.get_untracked() {
            self.fetch(download.spec);
        }
    }

    /// The visitor does not want it any more; what is stored stays under Models.
    pub fn dismiss_download(&self) {
        let Some(Download { spec, .. }) = self.end_download() else { return };
        // Without a worker nothing is in memory.
        if self.library.client.with_value(Option::is_some) {
            self.request_library(LibraryRequest::Release(spec));
        }
    }

    /// Nothing is downloaded any more.
    fn end_download(&self) -> Option<Download> {
        let download = self.library.download.try_update(Option::take).flatten()?;
        if !download.spec.is_local_copy() {
            browser::keep(UNFINISHED, None);
        }
        revoke_object_urls(&download.spec, &DownloadSpec::default());
        Some(download)
    }

    /// Loads a model that is kept.
    pub fn use_kept(&self, kept: &StoredModel) {
        self.library.is_open.set(false);
        self.choose_model(Choice::Kept { id: kept.id.clone(), name: kept.spec.name.clone() }, Vec::new());
    }

    pub fn use_built_in(&self) {
        self.library.is_open.set(false);
        self.choose_model(Choice::BuiltIn, Vec::new());
    }

    /// Deletes models from the storage.
    pub fn delete_kept(&self, ids: Vec<String>) {
        self.library.problem.set(None);
        let is_chosen = self.choice.with_untracked(|choice| matches!(choice, Choice::Kept { id, .. } if ids.contains(id)));
        if is_chosen {
            Choice::BuiltIn.remember();
        }
        self.forget_copy(&ids);
        let unfinished = self.library.download.get_untracked().filter(Download::is_paused);
        let is_deleted = |download: &Download| {
            let kept = self.library.shelf.get_untracked().unwrap_or_default().models;
            kept.iter().any(|kept| ids.contains(&kept.id) && kept.spec.name == download.spec.name)
        };
        if unfinished.as_ref().is_some_and(is_deleted) {
            self.dismiss_download();
        }
        self.request_library(LibraryRequest::Delete(ids));
    }

    fn request_library(&self, body: LibraryRequest) -> RequestId {
        let page = *self;
        self.library.requests.update_value(|requests| requests.last = requests.last.next());
        let id = self.library.requests.with_value(|requests| requests.last);
        self.library.client.update_value(|client| {
            client.get_or_insert_with(|| Client::new(move |message| page.library_says(message)));
        });
        if let Some(client) = self.library.client.get_value() {
            client.send(&Request::Library(Envelope { id, body }), &[]);
        }
        id
    }

    fn library_says(&self, message: Message) {
        match message {
            Ok(Event::Library(event)) => self.receive_library_event(event),
            Ok(_) => {}
            Err(Problem { what, .. }) => {
                let problem = Problem::new(what, "What is stored is kept. Check the connection, then try again");
                self.library.asked.set(None);
                match self.library.download.with_untracked(Option::is_some) {
                    true => self.library.download.update(|download| download.iter_mut().for_each(|d| d.paused(Some(problem.clone())))),
                    false => self.library.problem.set(Some(problem)),
                }
            }
        }
    }

    fn receive_library_event(&self, Envelope { id, body }: Envelope<LibraryEvent>) {
        let library = self.library;
        match body {
            LibraryEvent::StoredModels(shelf) => library.shelf.set(Some(shelf)),
            LibraryEvent::Preview(offer) => {
                // The visitor may have gone on to something else.
                if id == library.requests.with_value(|requests| requests.preview) {
                    library.asked.set(None);
                    library.offer.set(Some(*offer));
                }
            }
            LibraryEvent::Progress(fetching) => {
                let now = browser::now_millis();
                library.download.update(|download| download.iter_mut().for_each(|download| download.went_on(fetching.clone(), now)));
            }
            LibraryEvent::Replaced(spec) => {
                keep_unfinished(&spec);
                library.download.update(|download| download.iter_mut().for_each(|download| download.spec = spec.clone()));
            }
            LibraryEvent::Paused(problem) => {
                library.download.update(|download| download.iter_mut().for_each(|download| download.paused(problem.clone())));
            }
            LibraryEvent::Completed(location) => self.arrived(location),
            LibraryEvent::Done => {}
            LibraryEvent::Failed(problem) => {
                library.asked.set(None);
                library.problem.set(Some(problem));
            }
            LibraryEvent::Discarded(problem) => {
                self.end_download();
                self.problem.set(Some(problem));
            }
        }
    }

    /// A model that arrived is loaded, unless the engine is busy: then it waits for the visitor.
    fn arrived(&self, place: ModelLocation) {
        let Some(Download { spec, .. }) = self.end_download() else { return };
        if spec.is_local_copy() {
            return self.copy_arrived(&spec, place);
        }
        let name = spec.name;
        let choice = match place {
            ModelLocation::Stored(id) => Choice::Kept { id, name },
            ModelLocation::Memory(address) => Choice::Memory { address, name },
        };
        match self.run.with_untracked(Run::is_active) {
            true => self.library.arrived.set(Some(choice)),
            false => self.choose_model(choice, Vec::new()),
        }
    }

    /// Takes the model that arrived.
    pub fn use_arrived(&self) {
        if let Some(choice) = self.library.arrived.get_untracked() {
            self.library.arrived.set(None);
            self.choose_model(choice, Vec::new());
        }
    }
}

/// The next visit finds the download; of a copy it could not read the file.
fn keep_unfinished(spec: &DownloadSpec) {
    if !spec.is_local_copy() {
        browser::keep(UNFINISHED, serde_json::to_string(spec).ok().as_deref());
    }
}

/// Revokes the object URLs of `spec`, but for those that `next` has too.
fn revoke_object_urls(spec: &DownloadSpec, next: &DownloadSpec) {
    let still = next.object_urls();
    spec.object_urls().iter().filter(|address| !still.contains(address)).for_each(|address| browser::revoke_object_url(address));
}
