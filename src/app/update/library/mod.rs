//! Chooses, downloads and deletes models, and handles events from the library's worker.
//!
//! The library has its own worker, so a download continues while the engine computes or is terminated. The id of an event shows which
//! request it answers: a preview, the download, or the deletion. Other events answer dropped requests and change nothing, except the list
//! of stored models, which is always current.

mod events;
mod standard;
#[cfg(test)]
mod standard_tests;
#[cfg(test)]
mod tests;

use super::engine::remember_model;
use crate::app::state::State;
use crate::app::state::download::Download;
use crate::app::state::library::{Library, LibraryMessage};
use crate::app::state::local_file::LocalFile;
use crate::app::state::message::{Effect, Fetch};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::outbox::Outbox;
use crate::app::state::place::Place;
use crate::app::state::storage_keys;
use crate::library::download_spec::{DownloadSpec, FileSpec};
use crate::library::stored_models::ModelLocation;
use crate::problem::Problem;
use crate::worker::envelope::RequestId;
use crate::worker::library::protocol::LibraryRequest;
use crate::worker::role::Lost;
use glasscage_message::message;

impl Library {
    /// Opens the list of models.
    fn open(&mut self, outbox: &mut Outbox) {
        *self.problem = None;
        *self.preview = None;
        // The list of last time may be old.
        *self.stored = None;
        *self.is_open = true;
        self.ask(LibraryRequest::ListModels, outbox);
        if self.known.is_empty() {
            outbox.emit(Effect::Fetch(Fetch::Registry));
        }
    }

    /// Closes the list of models and drops the pending preview.
    pub(in crate::app::update) fn close(&mut self) {
        *self.is_open = false;
        *self.asked = None;
        self.preview_request = None;
    }

    fn preview_typed(&mut self, typed: Result<DownloadSpec, Problem>, outbox: &mut Outbox) {
        match typed {
            Ok(spec) => self.preview(spec, outbox),
            Err(problem) => *self.problem = Some(problem),
        }
    }

    fn preview(&mut self, spec: DownloadSpec, outbox: &mut Outbox) {
        *self.problem = None;
        *self.asked = Some(spec.name.clone());
        self.preview_request = Some(self.ask(LibraryRequest::Preview(spec), outbox));
    }

    fn download(&mut self, spec: DownloadSpec, outbox: &mut Outbox) {
        if self.is_downloading() {
            return;
        }
        *self.problem = None;
        *self.preview = None;
        self.close();
        remember_unfinished(&spec, outbox);
        self.revoke_object_urls(&spec, outbox);
        *self.download = Some(Download::new(spec.clone()));
        // Do not wait for the answer: Firefox asks the visitor, who may not have seen the question.
        outbox.emit(Effect::RequestPersistence);
        self.download_request = Some(self.ask(LibraryRequest::Download(spec), outbox));
    }

    fn pause_download(&mut self, outbox: &mut Outbox) {
        if let Some(download) = self.download_request {
            self.ask(LibraryRequest::Pause(download), outbox);
        }
    }

    fn download_paused(&mut self, problem: Option<Problem>) {
        self.download_request = None;
        self.download.iter_mut().for_each(|download| download.paused(problem.clone()));
    }

    fn resume_download(&mut self, outbox: &mut Outbox) {
        if let Some(spec) = self.download.as_ref().map(|download| download.spec.clone()) {
            self.download(spec, outbox);
        }
    }

    fn dismiss_download(&mut self, outbox: &mut Outbox) {
        if self.is_downloading() {
            return;
        }
        let Some(spec) = self.end_download(outbox) else { return };
        if *self.has_worker {
            self.ask(LibraryRequest::Release(spec), outbox);
        }
    }

    /// Ends the download and returns its spec.
    fn end_download(&mut self, outbox: &mut Outbox) -> Option<DownloadSpec> {
        self.revoke_object_urls(&DownloadSpec::default(), outbox);
        self.download_request = None;
        let spec = self.download.take()?.spec;
        if !spec.is_local_copy() {
            outbox.remember_for_visits(storage_keys::DOWNLOAD, None);
        }
        Some(spec)
    }

    /// Revokes the object URLs of the current download, except those that `next` also uses.
    fn revoke_object_urls(&self, next: &DownloadSpec, outbox: &mut Outbox) {
        let used = self.download.as_ref().map(|download| download.spec.object_urls()).unwrap_or_default();
        let kept = next.object_urls();
        used.into_iter().filter(|url| !kept.contains(url)).for_each(|url| outbox.emit(Effect::RevokeObjectUrl(url)));
    }

    fn is_unfinished_download_among(&self, ids: &[String]) -> bool {
        let Some(download) = self.download.as_ref().filter(|download| download.is_paused()) else { return false };
        let stored = self.stored.iter().flat_map(|stored| &stored.models);
        stored.filter(|model| ids.contains(&model.id)).any(|model| first_address(&model.spec) == first_address(&download.spec))
    }

    pub(in crate::app::update) fn ask(&mut self, body: LibraryRequest, outbox: &mut Outbox) -> RequestId {
        *self.has_worker = true;
        outbox.ask_library(body)
    }
}

/// Remembers the download for the next visit. Skips copies, because the next visit could not read the local file.
fn remember_unfinished(spec: &DownloadSpec, outbox: &mut Outbox) {
    if !spec.is_local_copy() {
        outbox.remember_for_visits(storage_keys::DOWNLOAD, serde_json::to_string(spec).ok());
    }
}

// Actions of the visitor.
impl State {
    pub(in crate::app::update) fn library_message(&mut self, message: LibraryMessage) {
        match message {
            LibraryMessage::Open => self.library.open(&mut self.outbox),
            LibraryMessage::Close => self.library.close(),
            LibraryMessage::PreviewTyped(typed) => self.library.preview_typed(typed, &mut self.outbox),
            LibraryMessage::Preview(spec) => self.library.preview(spec, &mut self.outbox),
            LibraryMessage::GetStandard => self.get_standard(),
            LibraryMessage::ClosePreview => *self.library.preview = None,
            LibraryMessage::Download(spec) => self.library.download(spec, &mut self.outbox),
            LibraryMessage::Pause => self.library.pause_download(&mut self.outbox),
            LibraryMessage::Resume => self.library.resume_download(&mut self.outbox),
            LibraryMessage::Dismiss => self.library.dismiss_download(&mut self.outbox),
            LibraryMessage::UseBuiltIn => self.use_model(ModelChoice::BuiltIn),
            LibraryMessage::UseStored { id, name } => self.use_model(ModelChoice::Stored { id, name }),
            LibraryMessage::UseArrived => self.use_arrived(),
            LibraryMessage::Delete(ids) => self.delete_models(ids),
            LibraryMessage::KeepCopy => self.keep_copy(),
            LibraryMessage::ObjectUrlsCreated(urls) => self.copy_files(urls),
            LibraryMessage::Lost(lost) => self.library_lost(lost),
        }
    }

    fn use_model(&mut self, choice: ModelChoice) {
        self.library.close();
        self.choose_model(choice, Vec::new());
    }

    fn use_arrived(&mut self) {
        if let Some(choice) = self.library.arrived.take_if(|_| !self.engine.is_busy()) {
            self.choose_model(choice, Vec::new());
        }
    }

    fn delete_models(&mut self, ids: Vec<String>) {
        *self.library.problem = None;
        if matches!(&*self.engine.choice, ModelChoice::Stored { id, .. } if ids.contains(id)) {
            remember_model(&ModelChoice::BuiltIn, &mut self.outbox);
        }
        self.forget_copy(&ids);
        if self.library.is_unfinished_download_among(&ids) {
            self.library.dismiss_download(&mut self.outbox);
        }
        self.library.deletion_request = Some(self.library.ask(LibraryRequest::Delete(ids), &mut self.outbox));
    }
}

// Copies of local models.
impl State {
    /// Whether the model in use is local and can be copied now.
    pub fn can_keep_copy(&self) -> bool {
        let is_local = matches!(*self.engine.choice, ModelChoice::Files(_));
        is_local && self.engine.loaded().is_some() && !self.library.is_downloading()
    }

    /// Whether the model in use is a copy that was made in this session.
    pub fn is_copied(&self) -> bool {
        matches!(&*self.engine.choice, ModelChoice::Stored { id, .. } if self.library.copied.as_ref() == Some(id))
    }

    fn keep_copy(&mut self) {
        if self.can_keep_copy() {
            self.emit(Effect::CreateObjectUrls(self.engine.files.iter().map(|file| file.id).collect()));
        }
    }

    fn copy_files(&mut self, urls: Option<Vec<String>>) {
        let ModelChoice::Files(name) = &*self.engine.choice else { return };
        let Some(urls) = urls else {
            return self.fail_with(message!("The browser did not let the file be copied"), message!("Open the file again, then try again"));
        };
        if self.library.is_downloading() {
            return urls.into_iter().for_each(|url| self.emit(Effect::RevokeObjectUrl(url)));
        }
        let files = self.engine.files.iter().zip(urls).map(|(file, url)| FileSpec { object_url: Some(url), ..file_spec(file) });
        let spec = DownloadSpec { name: name.clone(), files: files.collect() };
        self.library.download(spec, &mut self.outbox);
    }

    /// Switches to the stored copy, if the local model is still in use.
    fn copy_arrived(&mut self, copy: &DownloadSpec, location: ModelLocation) {
        let addresses = copy.files.iter().map(|file| file.address.clone());
        let is_same = self.engine.files.iter().map(|file| file_spec(file).address).eq(addresses);
        let ModelChoice::Files(name) = &*self.engine.choice else { return };
        let name = name.clone();
        if let ModelLocation::Stored(id) = location
            && is_same
        {
            *self.library.copied = Some(id.clone());
            self.engine.choose(ModelChoice::Stored { id, name }, &mut self.outbox);
            self.emit(Effect::RegisterServiceWorker);
        }
    }

    /// Switches back to the local files, if their copy is deleted.
    fn forget_copy(&mut self, deleted: &[String]) {
        let Some(copied) = self.library.copied.as_ref().filter(|copied| deleted.contains(copied)).cloned() else { return };
        *self.library.copied = None;
        let name = match &*self.engine.choice {
            ModelChoice::Stored { id, name } if *id == copied && !self.engine.files.is_empty() => name.clone(),
            _ => return,
        };
        self.engine.choose(ModelChoice::Files(name), &mut self.outbox);
    }
}

impl State {
    fn library_lost(&mut self, lost: Lost) {
        *self.library.has_worker = false;
        self.library.preview_request = None;
        *self.library.asked = None;
        let problem = lost_problem(lost);
        if self.library.standard.request.take().is_some() {
            self.fail_at(Place::Editor, problem.clone());
        }
        let was_downloading = self.library.is_downloading();
        if was_downloading {
            self.library.download_paused(Some(problem.clone()));
        }
        if *self.library.is_open || !was_downloading {
            *self.library.problem = Some(problem);
        }
    }
}

fn file_spec(file: &LocalFile) -> FileSpec {
    FileSpec::local(&file.name, file.bytes, file.modified_millis)
}

/// The address of the first file, which identifies a model.
fn first_address(spec: &DownloadSpec) -> Option<&str> {
    spec.files.first().map(|file| file.address.as_str())
}

fn lost_problem(lost: Lost) -> Problem {
    let what = match lost {
        Lost::NotStarted => message!("The model library could not be started"),
        Lost::NotArrived => message!("The model library could not be downloaded"),
        Lost::Stopped => message!("The model library stopped unexpectedly"),
        Lost::Incompatible => {
            return Problem::new(
                message!("The model library and this page have different versions"),
                message!("Reload the page to get both in the same version"),
            );
        }
    };
    Problem::new(what, message!("Stored models are kept. Check the connection, then try again"))
}
