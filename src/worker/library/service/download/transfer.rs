//! Transfers one file: verifies the stored bytes, and requests the rest until the file is complete.

use std::rc::Rc;

use futures::future::{Either, select};
use sha2::{Digest, Sha256};

use super::super::header_validator::HeaderValidator;
use super::super::probe::{FileProbe, check_length};
use super::{Download, DownloadStop, FileTransfer, not_stored};
use crate::library::errors::{LibraryError, NoStorage, RetryCause, StorageError};
use crate::library::http_response::{FileVersion, ResponseAction};
use crate::library::journal::{self, JOURNAL};
use crate::library::progress::{DownloadNotice, DownloadStage};
use crate::library::retry::{Retries, RetryPolicy, RetryTimer, TimerState};
use crate::worker::http::{self, Body};
use crate::worker::js::{navigator, now_millis, sleep};
use crate::worker::library::protocol::LibraryEvent;
use crate::worker::storage::sink::Sink;

/// Bytes that are read together to verify stored bytes.
const CHUNK_BYTES: usize = 2 << 20;
/// Time without new bytes after which the progress is posted. Longer than the minimum time between two progress events.
const LATE_MILLIS: u32 = 150;
/// Time between checks, while the download waits, for a pause and for the network.
const POLL_MILLIS: u32 = 100;

/// How one request ended.
enum RequestEnd {
    /// At the end of the stream.
    Eof,
    /// In the middle of the stream.
    Broken(RetryCause),
    /// Before the stream. The server may request a delay in seconds.
    Rejected {
        cause: RetryCause,
        seconds: Option<f64>,
    },
    /// The server now has another version of the file: this one.
    Replaced(FileVersion),
    Stop(DownloadStop),
}

impl Download {
    /// Opens file `i` at the position where an earlier download left it.
    pub(super) async fn open_file(&mut self, i: usize) -> Result<FileTransfer, DownloadStop> {
        let opened = match &self.folder {
            // Files after a file in memory are in memory too, because the stored files are the first ones.
            Some(folder) if self.blobs.length() == 0 => Sink::open(folder, i).await,
            _ => Ok(Sink::in_memory(None, 0)),
        };
        let sink = match opened {
            Ok(sink) => sink,
            Err(StorageError::InUse) => return Err(DownloadStop::Interrupted(LibraryError::InUse)),
            Err(_) => {
                self.fall_back_to_memory(NoStorage::Full)?;
                Sink::in_memory(None, 0)
            }
        };
        let version = FileVersion { total: self.spec.files[i].bytes, ..self.versions.get(i).cloned().unwrap_or_default() };
        let (header, hash_before) = (HeaderValidator::new(i == 0), self.hash.clone());
        let mut transfer = FileTransfer { i, sink, hash: Sha256::new(), hash_before, header, version, ignores_ranges: false };
        match self.can_continue(&transfer) {
            true => self.verify_stored(&mut transfer).await?,
            false => self.restart(&mut transfer, DownloadNotice::NoRanges).await?,
        }
        Ok(transfer)
    }

    /// Whether new bytes can be appended to the present ones. Their version must prove, now or when the file is complete, that both belong
    /// to the same file.
    fn can_continue(&self, transfer: &FileTransfer) -> bool {
        transfer.sink.position() == 0 || transfer.version.is_known() || self.is_verified_at_end(transfer)
    }

    /// Whether verification of the complete file would detect a mix of two versions.
    fn is_verified_at_end(&self, transfer: &FileTransfer) -> bool {
        self.spec.files[transfer.i].sha256.is_some() || self.spec.is_local_copy()
    }

    /// Adds the bytes of an earlier download to the hashes.
    async fn verify_stored(&mut self, transfer: &mut FileTransfer) -> Result<(), DownloadStop> {
        let stored = transfer.sink.position();
        let mut position = 0;
        while position < stored {
            let length = (stored - position).min(CHUNK_BYTES as u64) as usize;
            let chunk = transfer.sink.read_at(position, length).map_err(not_stored)?;
            if chunk.is_empty() {
                return Err(DownloadStop::Discarded(LibraryError::StoredFileUnreadable));
            }
            self.digest(transfer, &chunk)?;
            position += chunk.len() as u64;
            self.post_progress(transfer, position, DownloadStage::Checking);
            self.yield_to_page().await?;
        }
        Ok(())
    }

    /// Adds bytes to both hashes, and validates the header.
    fn digest(&mut self, transfer: &mut FileTransfer, bytes: &[u8]) -> Result<(), DownloadStop> {
        transfer.hash.update(bytes);
        self.hash.update(bytes);
        transfer.header.push(bytes, transfer.version.total).map_err(DownloadStop::Discarded)?;
        if let Some(problem) = transfer.header.template_problem.take() {
            self.notice = Some(DownloadNotice::Template(problem));
        }
        Ok(())
    }

    /// Requests the missing bytes until the file is complete.
    pub(super) async fn transfer_rest(&mut self, transfer: &mut FileTransfer) -> Result<(), DownloadStop> {
        let mut retries = Retries::new(RetryPolicy::DOWNLOAD);
        let mut was_replaced = false;
        while transfer.version.total.is_none_or(|total| transfer.sink.position() < total) {
            let before = transfer.sink.position();
            let end = self.request(transfer).await;
            transfer.sink.flush().map_err(not_stored)?;
            self.check_paused()?;
            if transfer.sink.position() > before {
                retries.reset();
            }
            let is_complete = transfer.version.total == Some(transfer.sink.position());
            let (cause, seconds) = match end {
                RequestEnd::Stop(stop) => return Err(stop),
                RequestEnd::Eof if transfer.version.total.is_none() => break,
                RequestEnd::Eof | RequestEnd::Broken(_) if is_complete => break,
                RequestEnd::Replaced(_) if was_replaced => return Err(DownloadStop::Discarded(LibraryError::ReplacedAgain)),
                RequestEnd::Replaced(version) => {
                    was_replaced = true;
                    if transfer.i > 0 {
                        // The files before this one may be of the older version.
                        return Err(DownloadStop::Discarded(LibraryError::ReplacedAgain));
                    }
                    self.restart(transfer, DownloadNotice::Replaced).await?;
                    self.take_version(transfer, version).await?;
                    continue;
                }
                _ if self.spec.is_local_copy() => return Err(DownloadStop::Discarded(LibraryError::LocalFileChanged)),
                RequestEnd::Rejected { cause, seconds } => (cause, seconds),
                _ if transfer.ignores_ranges => return Err(DownloadStop::Interrupted(LibraryError::NotResumable)),
                RequestEnd::Broken(cause) => (cause, None),
                RequestEnd::Eof => (RetryCause::ConnectionLost, None),
            };
            self.wait(transfer, &mut retries, cause, seconds).await?;
        }
        transfer.sink.flush().map_err(not_stored)
    }

    async fn wait(
        &mut self,
        transfer: &FileTransfer,
        retries: &mut Retries,
        cause: RetryCause,
        requested_seconds: Option<f64>,
    ) -> Result<(), DownloadStop> {
        let Some(seconds) = retries.delay_seconds(cause, requested_seconds, js_sys::Math::random()) else {
            return Err(DownloadStop::Interrupted(LibraryError::after_retries(cause)));
        };
        let mut timer = RetryTimer::new(seconds, requested_seconds.is_some(), now_millis());
        loop {
            let (seconds, poll_millis) = match timer.poll(now_millis(), !navigator().on_line()) {
                TimerState::Elapsed => break,
                TimerState::Offline => (None, POLL_MILLIS),
                TimerState::Running(left) => (Some(left), POLL_MILLIS.min((1e3 * left) as u32 + 1)),
            };
            self.post_progress(transfer, transfer.sink.position(), DownloadStage::Waiting { seconds, cause });
            sleep(poll_millis).await;
            self.check_paused()?;
        }
        if timer.was_offline() {
            retries.reset();
        }
        Ok(())
    }

    /// Sends one request for the bytes from the current position on.
    async fn request(&mut self, transfer: &mut FileTransfer) -> RequestEnd {
        if !self.can_continue(transfer)
            && let Err(stop) = self.restart(transfer, DownloadNotice::NoRanges).await
        {
            return RequestEnd::Stop(stop);
        }
        if let Err(stop) = self.take_probe(transfer).await {
            return RequestEnd::Stop(stop);
        }
        let (address, start) = (self.spec.files[transfer.i].source().to_owned(), transfer.sink.position());
        let last = transfer.version.total.map(|total| total - 1);
        if last.is_some_and(|last| start > last) {
            return RequestEnd::Eof;
        }
        let (response, body) = match http::get(&address, start, last, self.control.new_request()).await {
            Ok(response) => response,
            Err(cause) => return RequestEnd::Rejected { cause, seconds: None },
        };
        let (version, is_whole) = match response.action(start) {
            ResponseAction::TakeRange(version) => (version, false),
            ResponseAction::TakeWhole(version) => (version, true),
            ResponseAction::Retry { cause, seconds } => return RequestEnd::Rejected { cause, seconds },
            ResponseAction::Fail(error) => return RequestEnd::Stop(DownloadStop::Interrupted(error)),
        };
        match transfer.version.is_same(&version) {
            Some(false) => {
                return match check_length(self.spec.files[transfer.i].bytes, version.total) {
                    Err(error) if start == 0 => RequestEnd::Stop(DownloadStop::Discarded(error)),
                    _ => RequestEnd::Replaced(version),
                };
            }
            // Nothing proves that these bytes belong to the present ones, so request the whole file next.
            None if start > 0 && !is_whole && !self.is_verified_at_end(transfer) => {
                return match self.forget_version(transfer, version).await {
                    Ok(()) => RequestEnd::Rejected { cause: RetryCause::ConnectionLost, seconds: Some(0.0) },
                    Err(stop) => RequestEnd::Stop(stop),
                };
            }
            _ => {}
        }
        transfer.version.learn(&version);
        if start == 0
            && !self.is_verified_at_end(transfer)
            && let Err(stop) = self.remember_version(transfer).await
        {
            return RequestEnd::Stop(stop);
        }
        if is_whole && let Err(stop) = self.restart_without_ranges(transfer).await {
            return RequestEnd::Stop(stop);
        }
        self.stream(transfer, body).await
    }

    /// Uses the first bytes of the probe, if there is a probe of this version.
    async fn take_probe(&mut self, transfer: &mut FileTransfer) -> Result<(), DownloadStop> {
        let (address, probes) = (&self.spec.files[transfer.i].address, self.probes.clone());
        let is_of_file = |probe: &&FileProbe| match transfer.version.is_same(&probe.version) {
            None => self.is_verified_at_end(transfer),
            Some(is_same) => is_same,
        };
        let probe = probes.iter().find(|probe| probe.address == *address && probe.resumable && is_of_file(probe));
        match probe {
            Some(probe) if transfer.sink.position() == 0 => {
                transfer.version.learn(&probe.version);
                self.put(transfer, &probe.first_bytes).await
            }
            _ => Ok(()),
        }
    }

    /// Handles a server that ignores ranges and sends the whole file.
    async fn restart_without_ranges(&mut self, transfer: &mut FileTransfer) -> Result<(), DownloadStop> {
        transfer.ignores_ranges = true;
        match transfer.sink.position() {
            0 => {
                self.notice.get_or_insert(DownloadNotice::NoRanges);
                Ok(())
            }
            _ => self.restart(transfer, DownloadNotice::NoRanges).await,
        }
    }

    async fn stream(&mut self, transfer: &mut FileTransfer, mut body: Body) -> RequestEnd {
        loop {
            match self.next_chunk(transfer, &mut body).await {
                Ok(Some(bytes)) => {
                    if let Err(stop) = self.take_chunk(transfer, &bytes).await {
                        return RequestEnd::Stop(stop);
                    }
                }
                Ok(None) => return RequestEnd::Eof,
                Err(cause) => return RequestEnd::Broken(cause),
            }
        }
    }

    /// The next bytes. If they are late, posts the progress: the bytes before them may have come too soon after the last event to be
    /// posted.
    async fn next_chunk(&mut self, transfer: &FileTransfer, body: &mut Body) -> Result<Option<Vec<u8>>, RetryCause> {
        match select(Box::pin(body.next()), Box::pin(sleep(LATE_MILLIS))).await {
            Either::Left((chunk, _)) => chunk,
            Either::Right(((), next)) => {
                self.post_progress(transfer, transfer.sink.position(), DownloadStage::Downloading);
                next.await
            }
        }
    }

    async fn take_chunk(&mut self, transfer: &mut FileTransfer, bytes: &[u8]) -> Result<(), DownloadStop> {
        self.check_paused()?;
        let position = transfer.sink.position() + bytes.len() as u64;
        if transfer.version.total.is_some_and(|total| position > total) {
            return Err(DownloadStop::Discarded(LibraryError::TooLong));
        }
        self.put(transfer, bytes).await?;
        // A local file arrives so fast that no message would be handled between its chunks.
        match self.post_progress(transfer, position, DownloadStage::Downloading) {
            true => self.yield_to_page().await,
            false => Ok(()),
        }
    }

    /// Writes bytes. Continues in memory if the storage is full.
    async fn put(&mut self, transfer: &mut FileTransfer, bytes: &[u8]) -> Result<(), DownloadStop> {
        self.digest(transfer, bytes)?;
        let stored = transfer.sink.position();
        match transfer.sink.write(bytes) {
            Ok(()) => return Ok(()),
            Err(StorageError::Full) => {}
            Err(error) => return Err(not_stored(error)),
        }
        self.fall_back_to_memory(NoStorage::Full)?;
        // Close the file, because only a closed file can be read.
        transfer.sink = Sink::in_memory(None, 0);
        let file = match &self.folder {
            Some(folder) => folder.file(&journal::data_file(transfer.i)).await,
            None => None,
        };
        let file = file.ok_or(DownloadStop::Discarded(LibraryError::StoredFileUnreadable))?;
        transfer.sink = Sink::in_memory(Some(file.into()), stored);
        transfer.sink.write(bytes).map_err(not_stored)
    }

    /// Discards this file. Keeps the files before it.
    async fn restart(&mut self, transfer: &mut FileTransfer, notice: DownloadNotice) -> Result<(), DownloadStop> {
        self.notice = Some(notice);
        transfer.sink.restart().map_err(not_stored)?;
        if let Some(folder) = self.folder.as_ref().filter(|_| transfer.sink.is_in_memory()) {
            // Delete the old bytes, or a later download would resume from them. Delete the checkpoint first, because it decides what is
            // resumed.
            for name in [journal::checkpoint_file(transfer.i), journal::data_file(transfer.i)] {
                folder.delete(&name).await.map_err(not_stored)?;
            }
        }
        (transfer.hash, self.hash) = (Sha256::new(), transfer.hash_before.clone());
        transfer.header = HeaderValidator::new(transfer.i == 0);
        Ok(())
    }

    /// Restarts the file and forgets its version, except the length.
    async fn forget_version(&mut self, transfer: &mut FileTransfer, version: FileVersion) -> Result<(), DownloadStop> {
        let total = transfer.version.total.or(version.total);
        transfer.version = FileVersion { total, ..FileVersion::default() };
        self.probes = Rc::default();
        self.restart(transfer, DownloadNotice::NoRanges).await
    }

    /// Records the version of the first bytes, if it was unknown before.
    async fn remember_version(&mut self, transfer: &FileTransfer) -> Result<(), DownloadStop> {
        let known = self.versions.get(transfer.i);
        if known.is_none_or(|known| (&known.etag, &known.last_modified) == (&transfer.version.etag, &transfer.version.last_modified)) {
            return Ok(());
        }
        self.versions[transfer.i].clone_from(&transfer.version);
        self.rewrite_journal().await
    }

    async fn rewrite_journal(&mut self) -> Result<(), DownloadStop> {
        if let Some(folder) = &self.folder {
            folder.delete(JOURNAL).await.map_err(not_stored)?;
        }
        self.write_journal().await
    }

    /// Continues with this version of the file.
    async fn take_version(&mut self, transfer: &mut FileTransfer, version: FileVersion) -> Result<(), DownloadStop> {
        (self.spec.files[0].bytes, self.probes) = (version.total, Rc::default());
        if let Some(first) = self.versions.first_mut() {
            first.clone_from(&version);
        }
        transfer.version = version;
        (self.post)(LibraryEvent::Replaced(self.spec.clone()));
        self.rewrite_journal().await
    }
}
