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
use crate::library::messages::{Errand, Kept, Offer, Place, Report, Shelf, Wanted};
use crate::library::registry::{self, Known};
use crate::problem::Problem;
use crate::worker::client::{Client, Event, Message, Request};

const REGISTRY: &str = "models/registry.json";
/// The download that was not finished, for the next visit.
const UNFINISHED: &str = "glasscage.download";

/// The signals of the library.
#[derive(Clone, Copy)]
pub struct Library {
    /// Whether the list of models is on screen.
    pub is_open: RwSignal<bool>,
    /// Known small models.
    pub known: RwSignal<Vec<Known>>,
    /// What is kept here; `None` until it was asked for.
    pub shelf: RwSignal<Option<Shelf>>,
    /// The name of the model that a server is asked about.
    pub asked: RwSignal<Option<String>>,
    /// What that came to.
    pub offer: RwSignal<Option<Offer>>,
    pub download: RwSignal<Option<Download>>,
    /// The copy of a local model that was made on this visit, by its id.
    pub copied: RwSignal<Option<String>>,
    /// A model that arrived while the engine was busy.
    pub arrived: RwSignal<Option<Choice>>,
    pub problem: RwSignal<Option<Problem>>,
    client: StoredValue<Option<Client>, LocalStorage>,
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
        self.errand(Errand::List);
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
                self.look_up(Wanted::at(name, all_parts(&address)));
            }
            Err(error) => {
                let remedy = "Paste the address of a .gguf file, or of its page on huggingface.co";
                self.library.problem.set(Some(Problem::new(error.to_string(), remedy)));
            }
        }
    }

    /// Asks the server what it has, before anything is downloaded.
    pub fn look_up(&self, wanted: Wanted) {
        self.library.problem.set(None);
        self.library.asked.set(Some(wanted.name.clone()));
        self.errand(Errand::LookUp(wanted));
    }

    /// Downloads a model, or what is missing of it.
    pub fn fetch(&self, wanted: Wanted) {
        let library = self.library;
        library.problem.set(None);
        library.offer.set(None);
        library.is_open.set(false);
        keep_unfinished(&wanted);
        if let Some(before) = library.download.get_untracked() {
            take_back(&before.wanted, &wanted);
        }
        library.download.set(Some(Download::new(wanted.clone())));
        let page = *self;
        spawn_local(async move {
            browser::ask_for_persistence().await;
            page.errand(Errand::Fetch(wanted));
        });
    }

    /// Whether a download goes on. Tracked.
    pub fn is_downloading(&self) -> bool {
        self.library.download.with(|download| download.as_ref().is_some_and(|download| !download.is_paused()))
    }

    pub fn pause_download(&self) {
        self.errand(Errand::Pause);
    }

    pub fn resume_download(&self) {
        if let Some(download) = self.library.download.get_untracked() {
            self.fetch(download.wanted);
        }
    }

    /// The visitor does not want it any more; what is stored stays under Models.
    pub fn dismiss_download(&self) {
        let Some(Download { wanted, .. }) = self.end_download() else { return };
        // Without a worker nothing is in memory.
        if let Some(client) = self.library.client.get_value() {
            client.send(&Request::Library(Errand::Forget(wanted)), &[]);
        }
    }

    /// Nothing is downloaded any more.
    fn end_download(&self) -> Option<Download> {
        let download = self.library.download.try_update(Option::take).flatten()?;
        if !download.wanted.is_copy() {
            browser::keep(UNFINISHED, None);
        }
        take_back(&download.wanted, &Wanted::default());
        Some(download)
    }

    /// Loads a model that is kept.
    pub fn use_kept(&self, kept: &Kept) {
        self.library.is_open.set(false);
        self.choose_model(Choice::Kept { id: kept.id.clone(), name: kept.wanted.name.clone() }, Vec::new());
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
            kept.iter().any(|kept| ids.contains(&kept.id) && kept.wanted.name == download.wanted.name)
        };
        if unfinished.as_ref().is_some_and(is_deleted) {
            self.dismiss_download();
        }
        self.errand(Errand::Delete(ids));
    }

    fn errand(&self, errand: Errand) {
        let page = *self;
        self.library.client.update_value(|client| {
            client.get_or_insert_with(|| Client::new(move |message| page.library_says(message)));
        });
        if let Some(client) = self.library.client.get_value() {
            client.send(&Request::Library(errand), &[]);
        }
    }

    fn library_says(&self, message: Message) {
        match message {
            Ok(Event::Library(report)) => self.take_report(report),
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

    fn take_report(&self, report: Report) {
        let library = self.library;
        match report {
            Report::Shelf(shelf) => library.shelf.set(Some(shelf)),
            Report::Offer(offer) => {
                // The visitor may have gone on to something else.
                if library.asked.get_untracked().as_ref() == Some(&offer.wanted.name) {
                    library.asked.set(None);
                    library.offer.set(Some(*offer));
                }
            }
            Report::Fetching(fetching) => {
                let now = browser::now_millis();
                library.download.update(|download| download.iter_mut().for_each(|download| download.went_on(fetching.clone(), now)));
            }
            Report::Replaced(wanted) => {
                keep_unfinished(&wanted);
                library.download.update(|download| download.iter_mut().for_each(|download| download.wanted = wanted.clone()));
            }
            Report::Paused(problem) => {
                library.download.update(|download| download.iter_mut().for_each(|download| download.paused(problem.clone())));
            }
            Report::Arrived { name, place } => self.arrived(name, place),
            Report::Failed(problem) => {
                library.asked.set(None);
                library.problem.set(Some(problem));
            }
            Report::Discarded(problem) => {
                self.end_download();
                self.problem.set(Some(problem));
            }
        }
    }

    /// A model that arrived is loaded, unless the engine is busy: then it waits for the visitor.
    fn arrived(&self, name: String, place: Place) {
        if let Some(Download { wanted, .. }) = self.end_download().filter(|download| download.wanted.is_copy()) {
            return self.copy_arrived(&wanted, place);
        }
        let choice = match place {
            Place::Kept(id) => Choice::Kept { id, name },
            Place::Memory(address) => Choice::Memory { address, name },
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
fn keep_unfinished(wanted: &Wanted) {
    if !wanted.is_copy() {
        browser::keep(UNFINISHED, serde_json::to_string(wanted).ok().as_deref());
    }
}

/// Takes back the addresses that were lent for `wanted`, but for those that `next` has too.
fn take_back(wanted: &Wanted, next: &Wanted) {
    let lent = |wanted: &Wanted| wanted.parts.iter().filter_map(|part| part.local.clone()).collect::<Vec<_>>();
    let still = lent(next);
    lent(wanted).iter().filter(|address| !still.contains(address)).for_each(|address| browser::take_back(address));
}
