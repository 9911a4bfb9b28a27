//! One download: what is here is read again, the rest is asked for until all is there, then all is verified.

mod ending;
mod part;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use sha2::{Digest, Sha256};
use web_sys::{AbortController, Blob, Url};

use super::js::{StorageError, now_millis, sleep};
use super::lookup::{Probe, controller};
use super::opfs::Folder;
use super::shelf;
use crate::library::journal::{self, COMPLETE, Complete, JOURNAL, Journal};
use crate::library::messages::{Fetching, Place, Report, Stage, Wanted};

pub use ending::{Break, in_use};
use ending::{NO_STORAGE, STORAGE_FULL, hexadecimal, not_stored, verify};
use part::Current;

/// The page is told at most so often.
const TELL_MILLIS: f64 = 100.0;

/// What a visitor can do to a download that goes on.
#[derive(Default)]
pub struct Control {
    paused: Cell<bool>,
    request: RefCell<Option<AbortController>>,
}

impl Control {
    pub fn pause(&self) {
        self.paused.set(true);
        if let Some(request) = &*self.request.borrow() {
            request.abort();
        }
    }

    fn new_request(&self) -> Result<AbortController, String> {
        let controller = controller()?;
        *self.request.borrow_mut() = Some(controller.clone());
        Ok(controller)
    }
}

/// A download that goes on.
pub struct Download<'a> {
    id: String,
    wanted: Wanted,
    etags: Vec<Option<String>>,
    probes: &'a [Probe],
    /// Where it is stored; `None` for memory.
    folder: Option<Folder>,
    control: Rc<Control>,
    tell: &'a dyn Fn(Report),
    notice: Option<String>,
    /// Of all parts before the one that is on its way.
    before: u64,
    told_millis: f64,
    /// Of all parts one after the other.
    hash: Sha256,
}

impl<'a> Download<'a> {
    /// Downloads `wanted`, or what is missing of it. `probes`: of every part, where the server was asked just now.
    pub async fn run(wanted: Wanted, probes: &'a [Probe], control: Rc<Control>, tell: &'a dyn Fn(Report)) -> Result<Report, Break> {
        let id = shelf::id(&wanted);
        let name = wanted.name.clone();
        let (folder, notice) = match Self::folder(&id, &wanted).await {
            Ok(folder) => (Some(folder), None),
            Err(StorageError::InUse) => return Err(Break::Kept(in_use())),
            Err(StorageError::Full) => (None, Some(STORAGE_FULL.to_owned())),
            Err(StorageError::Closed(_)) => (None, Some(NO_STORAGE.to_owned())),
        };
        let mut download = Self {
            etags: wanted.parts.iter().map(|part| etag(probes, &part.address)).collect(),
            id,
            wanted,
            probes,
            folder,
            control,
            tell,
            notice,
            before: 0,
            told_millis: 0.0,
            hash: Sha256::new(),
        };
        let place = match download.all_parts().await {
            Err(Break::Useless(problem)) => {
                download.delete().await;
                return Err(Break::Useless(problem));
            }
            other => other?,
        };
        Ok(Report::Arrived { name, place })
    }

    /// The model's folder, emptied where it holds another version.
    async fn folder(id: &str, wanted: &Wanted) -> Result<Folder, StorageError> {
        let models = Folder::of_models().await?;
        let folder = models.made(id).await?;
        let journal: Option<Journal> = shelf::json(&folder, JOURNAL).await;
        if journal.is_some_and(|journal| journal.continues(wanted)) {
            return Ok(folder);
        }
        drop(folder);
        models.delete(id).await?;
        models.made(id).await
    }

    async fn all_parts(&mut self) -> Result<Place, Break> {
        self.keep_journal().await;
        let (mut bytes, mut blobs) = (Vec::new(), Array::new());
        for i in 0..self.wanted.parts.len() {
            let mut current = self.begin(i).await?;
            self.check_again(&mut current).await?;
            self.rest(&mut current).await?;
            current.vetting.finish(current.sink.position()).map_err(Break::Useless)?;
            verify(self.wanted.parts[i].sha256.as_deref(), current.hash)?;
            bytes.push(current.sink.position());
            self.before += current.sink.position();
            blobs.extend(current.sink.into_blob());
        }
        match (&self.folder, blobs.length() as usize) {
            (Some(folder), 0) => {
                let complete = Complete { bytes, sha256: hexadecimal(std::mem::take(&mut self.hash)) };
                let json = serde_json::to_string(&complete).expect("plain data");
                folder.write(COMPLETE, &json).await.map_err(|error| Break::Kept(not_stored(&error)))?;
                Ok(Place::Kept(self.id.clone()))
            }
            _ => self.as_one_blob(&blobs, &bytes).await,
        }
    }

    /// Parts of which some are in storage and some in memory, as a file of this tab.
    async fn as_one_blob(&self, blobs: &Array, bytes: &[u64]) -> Result<Place, Break> {
        let all = Array::new();
        for i in 0..bytes.len() - blobs.length() as usize {
            let file = match &self.folder {
                Some(folder) => folder.file(&journal::data(i)).await,
                None => None,
            };
            let file = file.ok_or_else(|| Break::Kept(not_stored(&StorageError::Full)))?;
            all.push(&file);
        }
        let all = all.concat(blobs);
        let address = Blob::new_with_blob_sequence(&all).and_then(|blob| Url::create_object_url_with_blob(&blob));
        address.map(Place::Memory).map_err(|error| Break::Kept(not_stored(&error.into())))
    }

    /// Says what will be here before its first byte is.
    async fn keep_journal(&mut self) {
        let Some(folder) = &self.folder else { return };
        if let Some(journal) = shelf::json::<Journal>(folder, JOURNAL).await {
            // The version that the first bytes were of counts.
            for (ours, first) in self.wanted.parts.iter_mut().zip(&journal.wanted.parts) {
                ours.bytes = first.bytes.or(ours.bytes);
                ours.sha256 = ours.sha256.take().or_else(|| first.sha256.clone());
            }
            self.etags = journal.etags;
            return;
        }
        let journal = Journal { wanted: self.wanted.clone(), etags: self.etags.clone() };
        let json = serde_json::to_string(&journal).expect("plain data");
        if folder.write(JOURNAL, &json).await.is_err() {
            (self.folder, self.notice) = (None, Some(STORAGE_FULL.into()));
        }
    }

    /// Lets messages from the page in.
    async fn listen(&self) -> Result<(), Break> {
        sleep(0).await;
        if self.control.paused.get() { Err(Break::Paused) } else { Ok(()) }
    }

    async fn delete(&self) {
        if let Ok(models) = Folder::of_models().await {
            // What cannot be deleted now is shown under Models and can be deleted there.
            models.delete(&self.id).await.ok();
        }
    }

    fn say(&mut self, current: &Current, position: u64, stage: Stage) {
        let now = now_millis();
        let is_last = current.version.total == Some(position);
        if now - self.told_millis < TELL_MILLIS && !is_last {
            return;
        }
        self.told_millis = now;
        let others: u64 = self.wanted.parts.iter().enumerate().filter(|(i, _)| *i != current.i).filter_map(|(_, part)| part.bytes).sum();
        let total = others + current.version.total.unwrap_or(0);
        let bytes = self.before + position;
        (self.tell)(Report::Fetching(Fetching { name: self.wanted.name.clone(), bytes, total, stage, notice: self.notice.clone() }));
    }
}

/// The version of a file, where its server was asked just now.
fn etag(probes: &[Probe], address: &str) -> Option<String> {
    probes.iter().find(|probe| probe.address == address)?.version.etag.clone()
}
