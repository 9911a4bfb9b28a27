//! Chooses, downloads and deletes models, and handles events from the library's worker.
//!
//! The library has its own worker, so a download continues while the engine computes or is terminated. The id of an event shows which
//! request it answers: a preview, the download, or the deletion. Other events answer dropped requests and change nothing, except the list
//! of stored models, which is always current.

mod standard;
#[cfg(test)]
mod standard_tests;
#[cfg(test)]
mod tests;

use crate::app::state::State;
use crate::app::state::download::Download;
use crate::app::state::library::LibraryMessage;
use crate::app::state::local_file::LocalFile;
use crate::app::state::message::{Effect, Fetch};
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::place::Place;
use crate::app::state::storage_keys;
use crate::library::download_spec::{DownloadSpec, FileSpec};
use crate::library::stored_models::ModelLocation;
use crate::problem::Problem;
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::library::protocol::{LibraryEvent, LibraryRequest};
use crate::worker::role::Lost;
use glasscage_message::message;

// Actions of the visitor.
impl State {
    pub(in crate::app::update) fn library_message(&mut self, message: LibraryMessage) {
        match message {
            LibraryMessage::Open => self.open_library(),
            LibraryMessage::Close => self.close_library(),
            LibraryMessage::PreviewTyped(typed) => self.preview_typed(typed),
            LibraryMessage::Preview(spec) => self.preview(spec),
            LibraryMessage::GetStandard => self.get_standard(),
            LibraryMessage::ClosePreview => *self.library.preview = None,
            LibraryMessage::Download(spec) => self.download(spec),
            LibraryMessage::Pause => self.pause_download(),
            LibraryMessage::Resume => self.resume_download(),
            LibraryMessage::Dismiss => self.dismiss_download(),
            LibraryMessage::UseBuiltIn => self.use_model(ModelChoice::BuiltIn),
            LibraryMessage::UseStored { id, name } => self.use_model(ModelChoice::Stored { id, name }),
            LibraryMessage::UseArrived => self.use_arrived(),
            LibraryMessage::Delete(ids) => self.delete_models(ids),
            LibraryMessage::KeepCopy => self.keep_copy(),
            LibraryMessage::ObjectUrlsCreated(urls) => self.copy_files(urls),
            LibraryMessage::Event(event) => self.library_event(event),
            LibraryMessage::Lost(lost) => self.library_lost(lost),
        }
    }

    fn open_library(&mut self) {
        *self.library.problem = None;
        *self.library.preview = None;
        *self.library.is_open = true;
        self.ask_library(LibraryRequest::ListModels);
        if self.library.known.is_empty() {
            self.emit(Effect::Fetch(Fetch::Registry));
        }
    }

    /// Closes the list of models and drops the pending preview.
    fn close_library(&mut self) {
        *self.library.is_open = false;
        *self.library.asked = None;
        self.library.preview_request = None;
    }

    fn preview_typed(&mut self, typed: Result<DownloadSpec, Problem>) {
        match typed {
            Ok(spec) => self.preview(spec),
            Err(problem) => *self.library.problem = Some(problem),
        }
    }

    fn preview(&mut self, spec: DownloadSpec) {
        *self.library.problem = None;
        *self.library.asked = Some(spec.name.clone());
        self.library.preview_request = Some(self.ask_library(LibraryRequest::Preview(spec)));
    }

    fn download(&mut self, spec: DownloadSpec) {
        if self.library.is_downloading() {
            return;
        }
        *self.library.problem = None;
        *self.library.preview = None;
        self.close_library();
        self.remember_unfinished(&spec);
        self.revoke_object_urls(&spec);
        *self.library.download = Some(Download::new(spec.clone()));
        // Do not wait for the answer: Firefox asks the visitor, who may not have seen the question.
        self.emit(Effect::RequestPersistence);
        self.library.download_request = Some(self.ask_library(LibraryRequest::Download(spec)));
    }

    fn pause_download(&mut self) {
        if let Some(download) = self.library.download_request {
            self.ask_library(LibraryRequest::Pause(download));
        }
    }

    fn download_paused(&mut self, problem: Option<Problem>) {
        self.library.download_request = None;
        self.library.download.iter_mut().for_each(|download| download.paused(problem.clone()));
    }

    fn resume_download(&mut self) {
        if let Some(spec) = self.library.download.as_ref().map(|download| download.spec.clone()) {
            self.download(spec);
        }
    }

    fn dismiss_download(&mut self) {
        if self.library.is_downloading() {
            return;
        }
        let Some(spec) = self.end_download() else { return };
        if self.library.has_worker {
            self.ask_library(LibraryRequest::Release(spec));
        }
    }

    /// Ends the download and returns its spec.
    fn end_download(&mut self) -> Option<DownloadSpec> {
        self.revoke_object_urls(&DownloadSpec::default());
        self.library.download_request = None;
        let spec = self.library.download.take()?.spec;
        if !spec.is_local_copy() {
            self.emit(Effect::RememberForVisits { key: storage_keys::DOWNLOAD, text: None });
        }
        Some(spec)
    }

    /// Remembers the download for the next visit. Skips copies, because the next visit could not read the local file.
    fn remember_unfinished(&mut self, spec: &DownloadSpec) {
        if !spec.is_local_copy() {
            self.emit(Effect::RememberForVisits { key: storage_keys::DOWNLOAD, text: serde_json::to_string(spec).ok() });
        }
    }

    /// Revokes the object URLs of the current download, except those that `next` also uses.
    fn revoke_object_urls(&mut self, next: &DownloadSpec) {
        let used = self.library.download.as_ref().map(|download| download.spec.object_urls()).unwrap_or_default();
        let kept = next.object_urls();
        used.into_iter().filter(|url| !kept.contains(url)).for_each(|url| self.emit(Effect::RevokeObjectUrl(url)));
    }

    fn use_model(&mut self, choice: ModelChoice) {
        self.close_library();
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
            self.remember_model(&ModelChoice::BuiltIn);
        }
        self.forget_copy(&ids);
        if self.is_unfinished_download_among(&ids) {
            self.dismiss_download();
        }
        self.library.deletion_request = Some(self.ask_library(LibraryRequest::Delete(ids)));
    }

    fn is_unfinished_download_among(&self, ids: &[String]) -> bool {
        let Some(download) = self.library.download.as_ref().filter(|download| download.is_paused()) else { return false };
        let stored = self.library.stored.iter().flat_map(|stored| &stored.models);
        stored.filter(|model| ids.contains(&model.id)).any(|model| first_address(&model.spec) == first_address(&download.spec))
    }

    fn ask_library(&mut self, body: LibraryRequest) -> RequestId {
        let id = self.next_id();
        self.library.has_worker = true;
        self.emit(Effect::SendToLibrary(Envelope { id, body }));
        id
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
        self.download(spec);
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
            self.set_model_choice(ModelChoice::Stored { id, name });
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
        self.set_model_choice(ModelChoice::Files(name));
    }
}

// Events from the library.
impl State {
    fn library_event(&mut self, Envelope { id, body }: Envelope<LibraryEvent>) {
        if let LibraryEvent::StoredModels(stored) = body {
            self.look_for_standard(&stored);
            *self.library.stored = Some(stored);
        } else if self.library.download_request == Some(id) {
            self.download_event(body);
        } else if self.library.preview_request == Some(id) {
            self.preview_event(body);
        } else if *self.library.standard.request == Some(id) {
            self.standard_previewed(body);
        } else if self.library.deletion_request == Some(id)
            && let LibraryEvent::Failed(problem) = body
        {
            *self.library.problem = Some(problem);
        }
    }

    fn preview_event(&mut self, event: LibraryEvent) {
        match event {
            LibraryEvent::Preview(preview) => *self.library.preview = Some(*preview),
            LibraryEvent::Failed(problem) => *self.library.problem = Some(problem),
            _ => return,
        }
        self.library.preview_request = None;
        *self.library.asked = None;
    }

    fn download_event(&mut self, event: LibraryEvent) {
        let now_millis = self.now_millis;
        let Some(download) = &mut *self.library.download else { return };
        match event {
            LibraryEvent::Progress(progress) => download.advanced(progress, now_millis),
            LibraryEvent::Replaced(spec) => {
                download.spec = spec.clone();
                self.remember_unfinished(&spec);
            }
            LibraryEvent::Paused(problem) => self.download_paused(problem),
            LibraryEvent::Failed(problem) => self.download_paused(Some(problem)),
            LibraryEvent::Completed(location) => self.download_completed(location),
            LibraryEvent::Discarded(problem) => {
                self.end_download();
                self.fail_at(Place::Page, problem);
            }
            LibraryEvent::StoredModels(_) | LibraryEvent::Preview(_) | LibraryEvent::Done => {}
        }
    }

    /// Loads the downloaded model. If the engine is busy, the model waits for the visitor.
    fn download_completed(&mut self, location: ModelLocation) {
        let Some(spec) = self.end_download() else { return };
        if spec.is_local_copy() {
            return self.copy_arrived(&spec, location);
        }
        let name = spec.name;
        let choice = match location {
            ModelLocation::Stored(id) => ModelChoice::Stored { id, name },
            ModelLocation::Memory(address) => ModelChoice::Memory { address, name },
        };
        match self.engine.is_busy() {
            true => {
                let before = self.library.arrived.replace(choice);
                before.into_iter().for_each(|before| self.release(before));
            }
            false => self.choose_model(choice, Vec::new()),
        }
    }

    fn library_lost(&mut self, lost: Lost) {
        self.library.has_worker = false;
        self.library.preview_request = None;
        *self.library.asked = None;
        let problem = lost_problem(lost);
        if self.library.standard.request.take().is_some() {
            self.fail_at(Place::Editor, problem.clone());
        }
        let was_downloading = self.library.is_downloading();
        if was_downloading {
            self.download_paused(Some(problem.clone()));
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
