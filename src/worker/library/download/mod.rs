//! One download: what is here is read again, the rest is asked for until all is there, then all is verified.

mod ending;
mod part;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use sha2::{Digest, Sha256};
use wasm_bindgen::JsValue;
use web_sys::{AbortController, Blob, Url};

use super::js::{StorageError, now_millis, sleep};
use super::lock::Lock;
use super::lookup::{Probe, controller};
use super::opfs::Folder;
use super::shelf;
use crate::library::journal::{self, COMPLETE, Complete, JOURNAL, Journal};
use crate::library::messages::{Fetching, Place, Report, Stage, Wanted};

pub use ending::{Break, in_use};
use ending::{NO_STORAGE, STORAGE_FULL, hexadecimal, no_copy, not_stored, unreadable, verify};
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

/// A download, from its beginning to its end. What it holds in memory is lost with it.
///
/// Parts come one after the other: first those in `folder`, then, from where that was full or where there is none, those in memory.
pub struct Download {
    id: String,
    /// Held also while it stands still: another tab must not change the parts that are in `folder`.
    lock: Lock,
    wanted: Wanted,
    etags: Vec<Option<String>>,
    /// Of every part, where the server was asked just now.
    probes: Rc<Vec<Probe>>,
    /// Where it is stored; `None` for memory.
    folder: Option<Folder>,
    control: Rc<Control>,
    tell: Tell,
    notice: Option<String>,
    told_millis: f64,
    /// Lengths of the parts that are whole.
    whole: Vec<u64>,
    /// Those of them that are in memory: the last ones.
    blobs: Array,
    /// Of all parts so far, one after the other.
    hash: Sha256,
    /// The part that was on its way when it broke off, where that is in memory.
    broken_off: Option<Current>,
}

/// Where reports go.
pub type Tell = Rc<dyn Fn(Report)>;

impl Download {
    /// Of `wanted`, or of what is missing of it in the storage.
    pub fn new(wanted: Wanted, probes: Rc<Vec<Probe>>, lock: Lock, control: Rc<Control>, tell: Tell) -> Self {
        Self {
            id: shelf::id(&wanted),
            lock,
            etags: wanted.parts.iter().map(|part| etag(&probes, &part.address)).collect(),
            wanted,
            probes,
            folder: None,
            control,
            tell,
            notice: None,
            told_millis: 0.0,
            whole: Vec::new(),
            blobs: Array::new(),
            hash: Sha256::new(),
            broken_off: None,
        }
    }

    /// The same download, when it is resumed.
    pub fn under(self, control: Rc<Control>) -> Self {
        Self { control, ..self }
    }

    /// Goes on until all is there or something stops it.
    pub async fn run(&mut self) -> Result<Report, Break> {
        let ended = self.all_parts().await;
        if let Err(Break::Useless(_)) = ended {
            self.delete().await;
        }
        ended.map(|place| Report::Arrived { name: self.wanted.name.clone(), place })
    }

    pub fn into_lock(self) -> Lock {
        self.lock
    }

    pub fn is_of(&self, id: &str) -> bool {
        self.id == id
    }

    /// Whether what is here can be the beginning of `wanted`.
    pub fn continues(&self, wanted: &Wanted) -> bool {
        Journal::new(self.wanted.clone(), self.etags.clone()).continues(wanted)
    }

    /// Whether it holds bytes that are nowhere else.
    pub fn is_in_memory(&self) -> bool {
        self.blobs.length() > 0 || self.broken_off.is_some()
    }

    /// Bytes that are here.
    pub fn bytes(&self) -> u64 {
        self.whole.iter().sum::<u64>() + self.broken_off.as_ref().map_or(0, |current| current.sink.position())
    }

    async fn open(&mut self) -> Result<(), Break> {
        match Self::folder(&self.id, &self.wanted).await {
            Ok(folder) => {
                self.folder = Some(folder);
                self.keep_journal().await
            }
            Err(StorageError::InUse) => Err(Break::Kept(in_use())),
            Err(StorageError::Full) => self.do_without_storage(STORAGE_FULL),
            Err(StorageError::Closed(_)) => self.do_without_storage(NO_STORAGE),
        }
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
        if !self.is_in_memory() {
            self.open().await?;
        }
        while self.whole.len() < self.wanted.parts.len() {
            let mut current = match self.broken_off.take() {
                Some(current) => current,
                None => self.begin_part(self.whole.len()).await?,
            };
            if let Err(reason) = self.rest(&mut current).await {
                self.broken_off = Some(current).filter(|current| current.sink.is_in_memory());
                return Err(reason);
            }
            self.part_is_there(current)?;
        }
        match &self.folder {
            Some(folder) if self.blobs.length() == 0 => {
                let complete = Complete { bytes: self.whole.clone(), sha256: hexadecimal(self.hash.clone()) };
                let json = serde_json::to_string(&complete).expect("plain data");
                folder.write(COMPLETE, &json).await.map_err(|error| Break::Kept(not_stored(&error)))?;
                Ok(Place::Kept(self.id.clone()))
            }
            _ => self.as_one_blob().await,
        }
    }

    fn part_is_there(&mut self, current: Current) -> Result<(), Break> {
        let bytes = current.sink.position();
        current.vetting.finish(bytes).map_err(Break::Useless)?;
        verify(self.wanted.parts[current.i].sha256.as_deref(), current.hash)?;
        self.whole.push(bytes);
        self.blobs.extend(current.sink.into_blob());
        Ok(())
    }

    /// Parts of which some are in storage and some in memory, as a file of this tab.
    async fn as_one_blob(&self) -> Result<Place, Break> {
        let all = Array::new();
        for i in 0..self.whole.len() - self.blobs.length() as usize {
            let file = match &self.folder {
                Some(folder) => folder.file(&journal::data(i)).await,
                None => None,
            };
            let whole = file.filter(|file| file.size() == self.whole[i] as f64);
            let whole: JsValue = whole.ok_or_else(unreadable)?.into();
            all.push(&whole);
        }
        let all = all.concat(&self.blobs);
        let address = Blob::new_with_blob_sequence(&all).and_then(|blob| Url::create_object_url_with_blob(&blob));
        address.map(Place::Memory).map_err(|error| Break::Kept(not_stored(&error.into())))
    }

    /// From now on in memory, because the storage does not take it.
    fn do_without_storage(&mut self, why: &str) -> Result<(), Break> {
        if self.wanted.is_copy() {
            return Err(no_copy(why));
        }
        self.notice = Some(format!("The model is kept in memory until this tab is closed: {why}."));
        Ok(())
    }

    /// Says what will be here before its first byte is.
    async fn keep_journal(&mut self) -> Result<(), Break> {
        let Some(folder) = &self.folder else { return Ok(()) };
        if let Some(journal) = shelf::json::<Journal>(folder, JOURNAL).await {
            // The version that the first bytes were of counts.
            for (ours, first) in self.wanted.parts.iter_mut().zip(&journal.wanted.parts) {
                ours.bytes = first.bytes.or(ours.bytes);
                ours.sha256 = ours.sha256.take().or_else(|| first.sha256.clone());
            }
            self.etags = journal.etags;
            return Ok(());
        }
        let journal = Journal::new(self.wanted.clone(), self.etags.clone());
        let json = serde_json::to_string(&journal).expect("plain data");
        if folder.write(JOURNAL, &json).await.is_err() {
            self.folder = None;
            self.do_without_storage(STORAGE_FULL)?;
        }
        Ok(())
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

    /// Tells the page how far it is, unless it was told just now; whether it was.
    fn say(&mut self, current: &Current, position: u64, stage: Stage) -> bool {
        let now = now_millis();
        let is_last = current.version.total == Some(position);
        if now - self.told_millis < TELL_MILLIS && !is_last {
            return false;
        }
        self.told_millis = now;
        let others: u64 = self.wanted.parts.iter().enumerate().filter(|(i, _)| *i != current.i).filter_map(|(_, part)| part.bytes).sum();
        let total = others + current.version.total.unwrap_or(0);
        let bytes = self.whole.iter().sum::<u64>() + position;
        (self.tell)(Report::Fetching(Fetching { name: self.wanted.name.clone(), bytes, total, stage, notice: self.notice.clone() }));
        true
    }
}

/// The version of a file, where its server was asked just now.
fn etag(probes: &[Probe], address: &str) -> Option<String> {
    probes.iter().find(|probe| probe.address == address)?.version.etag.clone()
}
