//! One download: verifies the stored bytes, requests the rest until the model is complete, then verifies the whole model.
//!
//! `run` handles all files, `transfer` handles one of them. Both work on the [`Download`] here.

mod run;
mod stop;
mod transfer;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use sha2::{Digest, Sha256};
use web_sys::AbortController;

use super::header_validator::HeaderValidator;
use super::probe::FileProbe;
use crate::library::download_spec::DownloadSpec;
use crate::library::errors::{LibraryError, NoStorage, StorageError};
use crate::library::http_response::FileVersion;
use crate::library::journal::{JOURNAL, Journal};
use crate::library::progress::{DownloadNotice, DownloadProgress, DownloadStage};
use crate::worker::http::abort_controller;
use crate::worker::js::{now_millis, sleep};
use crate::worker::library::protocol::LibraryEvent;
use crate::worker::storage::lock::Lock;
use crate::worker::storage::opfs::Folder;
use crate::worker::storage::sink::Sink;
use crate::worker::storage::stored_models;

pub use stop::DownloadStop;

/// Minimum time between two progress events.
const PROGRESS_MILLIS: f64 = 100.0;

/// Actions of the user on a running download.
#[derive(Default)]
pub struct DownloadControl {
    is_paused: Cell<bool>,
    request: RefCell<Option<AbortController>>,
}

impl DownloadControl {
    pub fn pause(&self) {
        self.is_paused.set(true);
        if let Some(request) = &*self.request.borrow() {
            request.abort();
        }
    }

    fn new_request(&self) -> AbortController {
        let controller = abort_controller();
        *self.request.borrow_mut() = Some(controller.clone());
        controller
    }
}

/// Receives the events of a download.
pub type PostEvent = Rc<dyn Fn(LibraryEvent)>;

/// State of a download. Dropping it loses the bytes that it holds in memory.
///
/// Files are complete in order: first those in `folder`, then those in memory, if the folder was full or does not exist.
pub struct Download {
    id: String,
    /// Held while the download is paused, too, because another tab must not change the files in `folder`.
    lock: Lock,
    spec: DownloadSpec,
    /// Versions of all files (length, `ETag`, `Last-Modified`).
    versions: Vec<FileVersion>,
    /// Probes of the files whose servers were just asked.
    probes: Rc<Vec<FileProbe>>,
    /// Folder in the storage; `None` for memory.
    folder: Option<Folder>,
    control: Rc<DownloadControl>,
    post: PostEvent,
    notice: Option<DownloadNotice>,
    posted_millis: f64,
    /// Lengths of the complete files.
    completed_bytes: Vec<u64>,
    /// The complete files that are in memory; they are the last ones.
    blobs: Array,
    /// Hash of all bytes so far.
    hash: Sha256,
    /// The file whose transfer was interrupted, if it is in memory.
    interrupted: Option<FileTransfer>,
}

/// The file that is being transferred.
struct FileTransfer {
    i: usize,
    sink: Sink,
    hash: Sha256,
    /// Hash of all files before this one.
    hash_before: Sha256,
    header: HeaderValidator,
    version: FileVersion,
    /// Whether the server ignored a range request.
    ignores_ranges: bool,
}

impl Download {
    /// Starts downloading `spec`, or the part of it that is not stored.
    pub fn new(spec: DownloadSpec, probes: Rc<Vec<FileProbe>>, lock: Lock, control: Rc<DownloadControl>, post: PostEvent) -> Self {
        Self {
            id: stored_models::model_id(&spec),
            lock,
            versions: spec.files.iter().map(|file| version(&probes, &file.address)).collect(),
            spec,
            probes,
            folder: None,
            control,
            post,
            notice: None,
            posted_millis: 0.0,
            completed_bytes: Vec::new(),
            blobs: Array::new(),
            hash: Sha256::new(),
            interrupted: None,
        }
    }

    /// The same download, resumed by another request.
    pub fn resumed(self, control: Rc<DownloadControl>, post: PostEvent) -> Self {
        Self { control, post, ..self }
    }

    pub fn into_lock(self) -> Lock {
        self.lock
    }

    pub fn is_of(&self, id: &str) -> bool {
        self.id == id
    }

    /// Whether the downloaded bytes can be the beginning of `spec`.
    pub fn continues(&self, spec: &DownloadSpec) -> bool {
        Journal::new(self.spec.clone(), &self.versions).continues(spec)
    }

    /// Whether it holds bytes that are not in the storage.
    pub fn is_in_memory(&self) -> bool {
        self.blobs.length() > 0 || self.interrupted.is_some()
    }

    /// Number of bytes downloaded so far.
    pub fn bytes(&self) -> u64 {
        self.completed_bytes.iter().sum::<u64>() + self.interrupted.as_ref().map_or(0, |transfer| transfer.sink.position())
    }

    /// Continues in memory if the storage does not accept the file. Discards a copy of a local file instead, because a copy in memory is
    /// useless.
    fn fall_back_to_memory(&mut self, reason: NoStorage) -> Result<(), DownloadStop> {
        if self.spec.is_local_copy() {
            return Err(DownloadStop::Discarded(LibraryError::NoCopy(reason)));
        }
        self.notice = Some(DownloadNotice::InMemory(reason));
        Ok(())
    }

    /// Writes the description of the download before its first byte is stored.
    async fn write_journal(&mut self) -> Result<(), DownloadStop> {
        let Some(folder) = &self.folder else { return Ok(()) };
        if let Some(journal) = stored_models::read_json::<Journal>(folder, JOURNAL).await {
            // Keep the version of the first stored bytes.
            for (ours, first) in self.spec.files.iter_mut().zip(&journal.spec.files) {
                ours.bytes = first.bytes.or(ours.bytes);
                ours.sha256 = ours.sha256.take().or_else(|| first.sha256.clone());
            }
            self.versions = journal.versions();
            return Ok(());
        }
        let journal = Journal::new(self.spec.clone(), &self.versions);
        let json = serde_json::to_string(&journal).expect("plain data");
        if folder.write(JOURNAL, &json).await.is_err() {
            self.folder = None;
            self.fall_back_to_memory(NoStorage::Full)?;
        }
        Ok(())
    }

    /// Yields, so that messages from the page can arrive.
    async fn yield_to_page(&self) -> Result<(), DownloadStop> {
        sleep(0).await;
        self.check_paused()
    }

    fn check_paused(&self) -> Result<(), DownloadStop> {
        if self.control.is_paused.get() { Err(DownloadStop::Paused) } else { Ok(()) }
    }

    /// Posts the progress, unless it was posted just before. Returns whether it was posted.
    fn post_progress(&mut self, transfer: &FileTransfer, position: u64, stage: DownloadStage) -> bool {
        let now = now_millis();
        let is_last = transfer.version.total == Some(position);
        if now - self.posted_millis < PROGRESS_MILLIS && !is_last {
            return false;
        }
        self.posted_millis = now;
        let others = self.spec.files.iter().enumerate().filter(|(i, _)| *i != transfer.i);
        let total = others.filter_map(|(_, file)| file.bytes).sum::<u64>() + transfer.version.total.unwrap_or(0);
        let bytes = self.completed_bytes.iter().sum::<u64>() + position;
        (self.post)(LibraryEvent::Progress(DownloadProgress { bytes, total, stage, notice: self.notice.clone() }));
        true
    }
}

/// The error for bytes that the storage did not accept.
fn not_stored(error: StorageError) -> DownloadStop {
    DownloadStop::Interrupted(LibraryError::NotStored(error))
}

/// The version of a file, if its server was just probed.
fn version(probes: &[FileProbe], address: &str) -> FileVersion {
    probes.iter().find(|probe| probe.address == address).map(|probe| probe.version.clone()).unwrap_or_default()
}
