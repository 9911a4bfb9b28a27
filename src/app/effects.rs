//! Carries out effects outside the state: workers, storage, clipboard, history, timers. Makes no decisions.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

use gloo::timers::callback::Timeout;
use leptos::task::spawn_local;
use web_sys::{AbortController, File};

use super::opener::OpenedLink;
use super::page::Page;
use super::state::Environment;
use super::state::library::LibraryMessage;
use super::state::local_file::{FileId, LocalFile};
use super::state::message::{Effect, Fetch, Message};
use super::state::origin::Origin;
use super::state::{lesson_texts, storage_keys};
use super::worker_updates::{self, Update};
use super::{browser, examples, gallery, language, opener, remote_fetch, service_worker};
use crate::library::standard;
use crate::request::{BackendChoice, LoadOptions};
use crate::worker::client::Client;
use crate::worker::engine::protocol::EngineRequest;
use crate::worker::library::protocol::LibraryRequest;
use crate::worker::role::Role;
use glasscage_message::message;

const BUILT_IN_MODEL: &str = "models/demo.gguf";
/// Selector of the lesson and the explanation. The first one in the document counts.
const EXPLANATION: &str = "section.lesson, section.explanation";
const REGISTRY: &str = "models/registry.json";

/// Carries out effects and sends their results back as messages.
#[derive(Default)]
pub struct Effects {
    /// Created with the first request, like the worker itself.
    engine: OnceCell<Client<EngineRequest, Update>>,
    library: OnceCell<Client<LibraryRequest, Update>>,
    /// The browser's handles of the files that the visitor chose.
    files: RefCell<HashMap<FileId, File>>,
    next_file: Cell<u32>,
    /// The link that was opened before the page appeared.
    opened_link: Cell<Option<OpenedLink>>,
    /// Aborts the last request to another site.
    remote: Cell<Option<AbortController>>,
}

impl Effects {
    /// `opened_link` is the link that was opened before the page appeared.
    pub fn new(opened_link: Option<OpenedLink>) -> Self {
        Self { opened_link: Cell::new(opened_link), ..Self::default() }
    }

    /// Keeps the browser's handles of files that the visitor chose. The state refers to the files by id.
    pub fn register(&self, files: Vec<File>) -> Vec<LocalFile> {
        files.into_iter().map(|file| self.register_one(file)).collect()
    }

    fn register_one(&self, file: File) -> LocalFile {
        let id = FileId(self.next_file.replace(self.next_file.get() + 1));
        let local = LocalFile { id, name: file.name(), bytes: file.size() as u64, modified_millis: file.last_modified() };
        self.files.borrow_mut().insert(id, file);
        local
    }

    /// Carries out `effect`, and sends its results to `page`.
    pub fn run(&self, page: Page, effect: Effect) {
        match effect {
            Effect::SendToEngine(request, files) => {
                let deliver = move |event| match event {
                    Ok(update) => page.change(update),
                    Err(lost) => page.send(Message::EngineLost(lost)),
                };
                self.engine
                    .get_or_init(|| Client::new(Role::Engine, worker_updates::engine_decoder, deliver))
                    .send(&request, &self.files_of(&files));
            }
            Effect::EndEngine => self.engine.get().into_iter().for_each(Client::terminate),
            Effect::SendToLibrary(request) => {
                let deliver = move |event| match event {
                    Ok(update) => page.change(update),
                    Err(lost) => page.send(LibraryMessage::Lost(lost)),
                };
                self.library.get_or_init(|| Client::new(Role::Library, worker_updates::library_decoder, deliver)).send(&request, &[]);
            }
            Effect::RequestPersistence => browser::ask_for_persistence(),
            Effect::CreateObjectUrls(files) => {
                let urls = self.files_of(&files).iter().map(|file| browser::create_object_url(file)).collect();
                page.send(LibraryMessage::ObjectUrlsCreated(urls));
            }
            Effect::RevokeObjectUrl(url) => browser::revoke_object_url(&url),
            Effect::After { millis, message } => {
                Timeout::new(millis, move || page.send(*message)).forget();
            }
            Effect::Fetch(fetch) => later(page, async move {
                let text = browser::fetch_text(&path(&fetch)).await;
                Message::Fetched(fetch, text)
            }),
            Effect::FetchRemote(id, address) => {
                let controller = AbortController::new().ok();
                self.remote.set(controller.clone());
                later(page, async move {
                    let fetched = match remote_fetch::fetch(&address, controller).await {
                        Ok(bytes) => Ok(opener::opened(&bytes, Origin::Link).await),
                        Err(failure) => Err(failure),
                    };
                    Message::RemoteFetched(id, fetched)
                });
            }
            Effect::AbortRemote => self.remote.take().into_iter().for_each(|controller| controller.abort()),
            Effect::ReadFile(id, file) => {
                let handle = self.files.borrow_mut().remove(&file.id);
                later(page, async move {
                    let bytes = match handle {
                        Some(handle) => browser::read(&handle).await,
                        None => None,
                    };
                    let opened = match bytes {
                        Some(bytes) => opener::opened(&bytes, Origin::File).await,
                        None => Err(message!("the file could not be read")),
                    };
                    Message::FileRead { id, name: file.name, opened }
                });
            }
            Effect::OpenLink(id, link) => match self.opened_link.take().filter(|(opened, _)| *opened == link) {
                Some((link, opened)) => page.send(Message::LinkOpened { id, link, opened }),
                None => later(page, async move {
                    let opened = opener::opened(link.as_bytes(), Origin::Link).await;
                    Message::LinkOpened { id, link, opened }
                }),
            },
            Effect::ReadTexts(files) => {
                let handles: Vec<_> = files.into_iter().map(|file| (file.name, self.files.borrow_mut().remove(&file.id))).collect();
                later(page, async move {
                    let mut texts = Vec::new();
                    for (name, handle) in handles {
                        let bytes = match handle {
                            Some(handle) => browser::read(&handle).await,
                            None => None,
                        };
                        texts.push((name, bytes));
                    }
                    Message::TextsRead(texts)
                });
            }
            Effect::SaveFile { name, media_type, bytes } => {
                if browser::download(&name, media_type, &bytes).is_none() {
                    page.send(Message::SaveRefused);
                }
            }
            Effect::CopyToClipboard(address) => later(page, async move {
                let is_copied = browser::copy(&address).await;
                Message::LinkCopied { address, is_copied }
            }),
            Effect::PushEntry { address, text } => {
                browser::push_entry(&address, text.as_deref());
                browser::remember_entry(text.as_deref());
            }
            Effect::ReplaceEntry { address, text } => {
                browser::replace_entry(&address, text.as_deref());
                browser::remember_entry(text.as_deref());
            }
            Effect::UpdateEntry(text) => {
                browser::replace_entry(&browser::address(), Some(&text));
                browser::remember_entry(Some(&text));
            }
            // Scroll after the explanation is rendered.
            Effect::ScrollToExplanation => {
                Timeout::new(0, || browser::scroll_into_view_if_hidden(EXPLANATION)).forget();
            }
            Effect::RememberInTab { key, text } => browser::remember_in_tab(key, &text),
            Effect::RememberForVisits { key, text } => browser::remember_for_visits(key, text.as_deref()),
            Effect::RegisterServiceWorker => service_worker::register(),
            Effect::ActivateUpdate => service_worker::activate_update(),
        }
    }

    fn files_of(&self, ids: &[FileId]) -> Vec<File> {
        let files = self.files.borrow();
        ids.iter().filter_map(|id| files.get(id).cloned()).collect()
    }
}

/// Runs `work` and sends the message that it returns.
fn later(page: Page, work: impl Future<Output = Message> + 'static) {
    spawn_local(async move { page.send(work.await) });
}

/// Path of a text on the page's own site.
fn path(fetch: &Fetch) -> String {
    match fetch {
        Fetch::Examples => examples::PATH.into(),
        Fetch::Gallery => gallery::INDEX.into(),
        Fetch::GalleryEntry(_, entry) => entry.path(),
        Fetch::LessonTexts(tag) => lesson_texts::path(tag),
        Fetch::Registry => REGISTRY.into(),
    }
}

/// Collects the environment in which the page opens: address, language, device, stored data.
pub fn environment() -> Environment {
    Environment {
        address: browser::address(),
        language: language::tag(),
        built_in_model: browser::absolute(BUILT_IN_MODEL).unwrap_or_else(|| BUILT_IN_MODEL.into()),
        standard_model: browser::absolute(standard::FIRST_PART).unwrap_or_default(),
        stored_standard: browser::remembered(storage_keys::STANDARD),
        asks_for_standard: browser::parameter("model").as_deref() == Some("standard"),
        load_options: LoadOptions { backend: backend(&browser::query()), kernel_shapes: browser::remembered(storage_keys::KERNEL_SHAPES) },
        has_spare_core: browser::has_spare_core(),
        prompt: browser::remembered_in_tab(storage_keys::PROMPT).unwrap_or_default(),
        given_answer: browser::remembered_in_tab(storage_keys::GIVEN_ANSWER).unwrap_or_default(),
        replaced_texts: browser::remembered_in_tab(storage_keys::REPLACED_TEXTS),
        model: browser::remembered_in_tab(storage_keys::MODEL).or_else(|| browser::remembered(storage_keys::MODEL)),
        download: browser::remembered(storage_keys::DOWNLOAD),
        speed: browser::remembered(storage_keys::SPEED),
    }
}

/// The backend that the query selects with `?backend=cpu` or `?backend=gpu`. Automatic otherwise.
fn backend(query: &str) -> BackendChoice {
    let asked = query.trim_start_matches('?').split('&').find_map(|part| part.strip_prefix("backend="));
    match asked {
        Some("cpu") => BackendChoice::Cpu,
        Some("gpu") => BackendChoice::Gpu,
        _ => BackendChoice::Auto,
    }
}
