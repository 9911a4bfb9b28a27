//! The library's worker: previews models, downloads them into the browser's storage, lists and deletes them.
//!
//! [`crate::library`] makes the decisions, and this module carries them out. Only the holder of a model's lock writes to its folder.

mod download;
mod header_validator;
mod probe;

use std::cell::RefCell;
use std::rc::Rc;

use super::protocol::{LibraryEvent, LibraryRequest};
use crate::library::download_spec::{DownloadSpec, FileSpec};
use crate::library::errors::{LibraryError, StorageError};
use crate::library::preview::{ModelFacts, ModelPreview};
use crate::library::stored_models::ModelLocation;
use crate::model::summary::ModelSummary;
use crate::worker::device;
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::scope;
use crate::worker::storage::lock::Lock;
use crate::worker::storage::stored_models;

use download::{Download, DownloadControl, DownloadStop, PostEvent};
use header_validator::unsupported;
use probe::FileProbe;

/// Serves requests until the worker is terminated.
pub fn run() {
    let service = Rc::new(LibraryService::new(|event| scope::post(&event)));
    scope::listen(move |request, _| {
        let service = service.clone();
        wasm_bindgen_futures::spawn_local(async move { service.serve(request).await });
    });
}

/// Serves requests, several at the same time. Only one download runs at a time.
pub struct LibraryService {
    post: Rc<dyn Fn(Envelope<LibraryEvent>)>,
    /// The running download and its request.
    running: RefCell<Option<(RequestId, Rc<DownloadControl>)>>,
    /// Results of the last probe of a server.
    probes: RefCell<Rc<Vec<FileProbe>>>,
    /// A stopped download whose bytes could not be stored and are in memory. It can be resumed while this tab is open.
    stopped: RefCell<Option<Download>>,
}

impl LibraryService {
    /// A service that sends its events to `post`.
    pub fn new(post: impl Fn(Envelope<LibraryEvent>) + 'static) -> Self {
        Self { post: Rc::new(post), running: RefCell::default(), probes: RefCell::default(), stopped: RefCell::default() }
    }

    /// Answers a request. Several calls may run at the same time: a download runs while others are served.
    pub async fn serve(&self, Envelope { id, body }: Envelope<LibraryRequest>) {
        let (event, has_changed) = match body {
            LibraryRequest::ListModels => (LibraryEvent::StoredModels(stored_models::list().await), false),
            LibraryRequest::Preview(spec) => {
                (self.preview(spec).await.map_or_else(failed, |preview| LibraryEvent::Preview(preview.into())), false)
            }
            LibraryRequest::Download(spec) => (self.download(id, spec).await, true),
            LibraryRequest::Pause(download) => (self.pause(download), false),
            LibraryRequest::Release(spec) => (self.release(&spec), false),
            LibraryRequest::Delete(ids) => (self.delete(&ids).await.map_or_else(failed, |()| LibraryEvent::Done), true),
        };
        (self.post)(Envelope { id, body: event });
        if has_changed {
            (self.post)(Envelope { id: RequestId::UNSOLICITED, body: LibraryEvent::StoredModels(stored_models::list().await) });
        }
    }

    async fn preview(&self, mut spec: DownloadSpec) -> Result<ModelPreview, LibraryError> {
        let probes = probe::probe_files(&spec).await?;
        let summary = ModelSummary::of(&probes[0].first_bytes).map_err(|error| unsupported(&error))?;
        for (file, probe) in spec.files.iter_mut().zip(&probes) {
            file.bytes = file.bytes.or(probe.version.total);
        }
        let is_told_apart = |(file, probe): (&FileSpec, &FileProbe)| file.sha256.is_some() || probe.version.is_known();
        let resumable = spec.files.iter().zip(&probes).all(is_told_apart) && probes.iter().all(|probe| probe.resumable);
        *self.probes.borrow_mut() = Rc::new(probes);
        let bytes_here = self.bytes_here(&stored_models::model_id(&spec)).await;
        Ok(ModelPreview { spec, resumable, facts: model_facts(summary), device: device::facts().await, bytes_here })
    }

    async fn bytes_here(&self, id: &str) -> u64 {
        let stored = stored_models::list().await.models.into_iter().find(|model| model.id == id).map_or(0, |model| model.bytes);
        self.stopped.borrow().as_ref().filter(|stopped| stopped.is_of(id)).map_or(stored, Download::bytes)
    }

    async fn download(&self, id: RequestId, spec: DownloadSpec) -> LibraryEvent {
        if self.running.borrow().is_some() {
            return failed(LibraryError::AlreadyDownloading);
        }
        let control = Rc::<DownloadControl>::default();
        *self.running.borrow_mut() = Some((id, control.clone()));
        let post = self.post.clone();
        let result = self.run_download(spec, control, Rc::new(move |body| post(Envelope { id, body }))).await;
        self.running.take();
        match result {
            Ok(location) => LibraryEvent::Completed(location),
            Err(DownloadStop::Paused) => LibraryEvent::Paused(None),
            Err(DownloadStop::Interrupted(error)) => LibraryEvent::Paused(Some(error.into())),
            Err(DownloadStop::Discarded(error)) => LibraryEvent::Discarded(error.into()),
        }
    }

    /// Resumes the stopped download if it is for the same model. A stopped download of another model stays until this one stops too.
    async fn run_download(&self, spec: DownloadSpec, control: Rc<DownloadControl>, post: PostEvent) -> Result<ModelLocation, DownloadStop> {
        let stopped = self.stopped.borrow_mut().take_if(|stopped| stopped.continues(&spec));
        let mut download = match stopped {
            Some(stopped) => stopped.resumed(control, post),
            None => {
                let lock = self.lock(&stored_models::model_id(&spec)).await;
                let lock = lock.ok_or(DownloadStop::Interrupted(LibraryError::InUse))?;
                let spec = self.with_version(spec).await.map_err(DownloadStop::Interrupted)?;
                let probes = self.probes.borrow().clone();
                Download::new(spec, probes, lock, control, post)
            }
        };
        let result = download.run().await;
        if download.is_in_memory() && matches!(result, Err(DownloadStop::Paused | DownloadStop::Interrupted(_))) {
            *self.stopped.borrow_mut() = Some(download);
        }
        result
    }

    /// Adds the file version to a new download. Probes the server, unless it was probed just before.
    async fn with_version(&self, spec: DownloadSpec) -> Result<DownloadSpec, LibraryError> {
        let address = spec.files.first().map(|file| file.address.clone());
        let was_probed = self.probes.borrow().first().is_some_and(|probe| Some(&probe.address) == address.as_ref());
        // A local file has only one version.
        match spec.is_local_copy() || was_probed || stored_models::has_journal(&stored_models::model_id(&spec)).await {
            true => Ok(spec),
            false => self.preview(spec).await.map(|preview| preview.spec),
        }
    }

    fn pause(&self, download: RequestId) -> LibraryEvent {
        self.running.borrow().iter().filter(|(id, _)| *id == download).for_each(|(_, control)| control.pause());
        LibraryEvent::Done
    }

    fn release(&self, spec: &DownloadSpec) -> LibraryEvent {
        drop(self.stopped.borrow_mut().take_if(|stopped| stopped.continues(spec)));
        LibraryEvent::Done
    }

    /// Deletes as many of these models as possible. Returns the error of the last model that could not be deleted.
    async fn delete(&self, ids: &[String]) -> Result<(), LibraryError> {
        let mut result = Ok(());
        for id in ids {
            let deleted: Result<(), StorageError> = stored_models::delete(id, self.lock(id).await).await;
            result = deleted.map_err(LibraryError::NotDeleted).and(result);
        }
        result
    }

    /// The lock of a model. Drops a stopped download that holds it.
    async fn lock(&self, id: &str) -> Option<Lock> {
        let stopped = self.stopped.borrow_mut().take_if(|stopped| stopped.is_of(id));
        match stopped {
            Some(stopped) => Some(stopped.into_lock()),
            None => Lock::try_acquire(id).await,
        }
    }
}

fn failed(error: LibraryError) -> LibraryEvent {
    LibraryEvent::Failed(error.into())
}

fn model_facts(summary: ModelSummary) -> ModelFacts {
    let ModelSummary { architecture, name, license, parameters, context_length, bytes_per_token } = summary;
    ModelFacts { architecture: architecture.into(), name, license, parameters, context_length, bytes_per_token }
}
