//! One download: what is here is read again, the rest is asked for until all is there, then all is verified.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use sha2::{Digest, Sha256};
use web_sys::{AbortController, Blob, Url};

use super::http::{self, Body};
use super::js::{StorageError, now_millis, sleep};
use super::lookup::{Probe, check_length, controller};
use super::opfs::Folder;
use super::shelf;
use super::sink::Sink;
use super::vetting::Vetting;
use crate::library::answer::{Meaning, Version, refused_for_good};
use crate::library::journal::{self, COMPLETE, Complete, JOURNAL, Journal};
use crate::library::messages::{Fetching, Place, Report, Stage, Wanted};
use crate::library::patience::Patience;
use crate::problem::Problem;

/// Read at once when what is here is checked.
const PIECE: usize = 2 << 20;
/// The page is told at most so often.
const TELL_MILLIS: f64 = 100.0;
/// While it waits, a download looks so often whether it was paused.
const LOOK_MILLIS: u32 = 100;

const NO_STORAGE: &str =
    "This browser does not let the page store files (a private window, perhaps): the model is kept in memory until this tab is closed.";
const STORAGE_FULL: &str = "The browser\u{2019}s storage for this site is full: the model is kept in memory until this tab is closed.";
const NO_RANGES: &str = "This server cannot go on where a download stopped: after a break it begins again.";
const REPLACED: &str = "The file on the server was replaced meanwhile, so the download began again.";

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

/// Why a download ended before its end.
pub enum Break {
    Paused,
    /// What is here is kept.
    Kept(Problem),
    /// What is here is of no use and was deleted.
    Useless(Problem),
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

/// The part that is on its way.
struct Current {
    i: usize,
    sink: Sink,
    hash: Sha256,
    vetting: Vetting,
    version: Version,
    /// Whether the server was seen to ignore ranges.
    is_whole_only: bool,
}

/// How one request ended.
enum Ended {
    /// The stream is at its end, or broke off for this reason.
    Stream(Option<String>),
    Later {
        why: String,
        seconds: Option<f64>,
    },
    Replaced,
    Break(Break),
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
            etags: probes.iter().map(|probe| probe.version.etag.clone()).collect(),
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

    async fn begin(&mut self, i: usize) -> Result<Current, Break> {
        let sink = match &self.folder {
            None => Sink::in_memory(None, 0),
            Some(folder) => match Sink::open(folder, i).await {
                Ok(sink) => sink,
                Err(StorageError::InUse) => return Err(Break::Kept(in_use())),
                Err(_) => {
                    self.notice = Some(STORAGE_FULL.into());
                    Sink::in_memory(None, 0)
                }
            },
        };
        let version = Version { total: self.wanted.parts[i].bytes, etag: self.etags.get(i).cloned().flatten() };
        Ok(Current { i, sink, hash: Sha256::new(), vetting: Vetting::new(i == 0), version, is_whole_only: false })
    }

    /// Reads what an earlier download left.
    async fn check_again(&mut self, current: &mut Current) -> Result<(), Break> {
        let here = current.sink.position();
        let mut position = 0;
        while position < here {
            let length = (here - position).min(PIECE as u64) as usize;
            let piece = current.sink.read_at(position, length).map_err(|error| Break::Kept(not_stored(&error)))?;
            if piece.is_empty() {
                return Err(Break::Useless(Problem::new("what was downloaded earlier cannot be read any more", "Download it again")));
            }
            self.take(current, &piece)?;
            position += piece.len() as u64;
            self.say(current, position, Stage::Checking);
            self.listen().await?;
        }
        Ok(())
    }

    /// Lets messages from the page in.
    async fn listen(&self) -> Result<(), Break> {
        sleep(0).await;
        if self.control.paused.get() { Err(Break::Paused) } else { Ok(()) }
    }

    /// Counts bytes that are here into both hashes, and looks at the header.
    fn take(&mut self, current: &mut Current, bytes: &[u8]) -> Result<(), Break> {
        current.hash.update(bytes);
        self.hash.update(bytes);
        current.vetting.see(bytes, current.version.total).map_err(Break::Useless)
    }

    /// Asks for what is missing until it is there.
    async fn rest(&mut self, current: &mut Current) -> Result<(), Break> {
        let mut patience = Patience::default();
        let mut was_replaced = false;
        while current.version.total.is_none_or(|total| current.sink.position() < total) {
            let before = current.sink.position();
            let ended = self.request(current).await;
            current.sink.store().map_err(|error| Break::Kept(not_stored(&error)))?;
            if self.control.paused.get() {
                return Err(Break::Paused);
            }
            if current.sink.position() > before {
                patience.renew();
            }
            let (why, seconds) = match ended {
                Ended::Break(reason) => return Err(reason),
                Ended::Stream(None) if current.version.total.is_none() => break,
                Ended::Stream(_) if current.version.total == Some(current.sink.position()) => break,
                Ended::Stream(_) if current.is_whole_only => return Err(cannot_go_on()),
                Ended::Stream(why) => (why.unwrap_or_else(|| "the connection broke off".into()), None),
                Ended::Later { why, seconds } => (why, seconds),
                Ended::Replaced if was_replaced => return Err(Break::Useless(keeps_changing())),
                Ended::Replaced => {
                    was_replaced = true;
                    self.begin_anew(current, REPLACED).await?;
                    continue;
                }
            };
            self.wait(current, &mut patience, why, seconds).await?;
        }
        current.sink.store().map_err(|error| Break::Kept(not_stored(&error)))
    }

    async fn wait(&mut self, current: &Current, patience: &mut Patience, why: String, asked: Option<f64>) -> Result<(), Break> {
        let Some(seconds) = patience.wait(asked, why.contains("refused"), js_sys::Math::random()) else {
            return Err(Break::Kept(refused_for_good(&why)));
        };
        let until = now_millis() + 1e3 * seconds;
        while now_millis() < until {
            let left = ((until - now_millis()) / 1e3).max(0.0);
            self.say(current, current.sink.position(), Stage::Waiting { seconds: left, why: why.clone() });
            sleep(LOOK_MILLIS.min((1e3 * left) as u32 + 1)).await;
            if self.control.paused.get() {
                return Err(Break::Paused);
            }
        }
        Ok(())
    }

    /// One request, from where the part stands.
    async fn request(&mut self, current: &mut Current) -> Ended {
        if let Err(reason) = self.take_probe(current).await {
            return Ended::Break(reason);
        }
        let (address, start) = (self.wanted.parts[current.i].address.clone(), current.sink.position());
        let last = current.version.total.map(|total| total - 1);
        if last.is_some_and(|last| start > last) {
            return Ended::Stream(None);
        }
        let answered = match self.control.new_request() {
            Ok(controller) => http::get(&address, start, last, controller).await,
            Err(why) => Err(why),
        };
        let (answer, body) = match answered {
            Ok(answered) => answered,
            Err(why) => return Ended::Later { why, seconds: None },
        };
        let (version, is_whole) = match answer.meaning(start) {
            Meaning::Part(version) => (version, false),
            Meaning::Whole(version) => (version, true),
            Meaning::Later { why, seconds } => return Ended::Later { why, seconds },
            Meaning::Refused(problem) => return Ended::Break(Break::Kept(problem)),
        };
        if !current.version.agrees(&version) {
            return match check_length(self.wanted.parts[current.i].bytes, version.total) {
                Err(problem) if start == 0 => Ended::Break(Break::Useless(problem)),
                _ => Ended::Replaced,
            };
        }
        current.version.total = current.version.total.or(version.total);
        if is_whole && let Err(reason) = self.from_the_first_byte(current).await {
            return Ended::Break(reason);
        }
        self.stream(current, body).await
    }

    /// The first bytes came when the server was asked what it has.
    async fn take_probe(&mut self, current: &mut Current) -> Result<(), Break> {
        let address = &self.wanted.parts[current.i].address;
        let probe = self.probes.iter().find(|probe| probe.address == *address && probe.resumable && current.version.agrees(&probe.version));
        match probe {
            Some(probe) if current.sink.position() == 0 => {
                current.version.total = current.version.total.or(probe.version.total);
                let bytes = probe.first_bytes.clone();
                self.put(current, &bytes).await
            }
            _ => Ok(()),
        }
    }

    /// The server sends everything again.
    async fn from_the_first_byte(&mut self, current: &mut Current) -> Result<(), Break> {
        current.is_whole_only = true;
        match current.sink.position() {
            0 => {
                self.notice.get_or_insert_with(|| NO_RANGES.into());
                Ok(())
            }
            _ => self.begin_anew(current, NO_RANGES).await,
        }
    }

    async fn stream(&mut self, current: &mut Current, mut body: Body) -> Ended {
        loop {
            let bytes = match body.next().await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ended::Stream(None),
                Err(why) => return Ended::Stream(Some(why)),
            };
            if self.control.paused.get() {
                return Ended::Break(Break::Paused);
            }
            let reached = current.sink.position() + bytes.len() as u64;
            if current.version.total.is_some_and(|total| reached > total) {
                return Ended::Break(Break::Useless(Problem::new(
                    "the server sent more than the file is long",
                    "Download it again; if that happens again, choose another address",
                )));
            }
            if let Err(reason) = self.put(current, &bytes).await {
                return Ended::Break(reason);
            }
            self.say(current, current.sink.position(), Stage::Downloading);
        }
    }

    /// Stores bytes; where the storage is full, goes on in memory.
    async fn put(&mut self, current: &mut Current, bytes: &[u8]) -> Result<(), Break> {
        self.take(current, bytes)?;
        match current.sink.write(bytes) {
            Ok(()) => return Ok(()),
            Err(StorageError::Full) => {}
            Err(error) => return Err(Break::Kept(not_stored(&error))),
        }
        let stored = current.sink.position();
        // Its file has to be closed before it can be read.
        current.sink = Sink::in_memory(None, 0);
        let file = match &self.folder {
            Some(folder) => folder.file(&journal::data(current.i)).await,
            None => None,
        };
        self.notice = Some(STORAGE_FULL.into());
        current.sink = Sink::in_memory(file.map(Into::into), stored);
        current.sink.write(bytes).map_err(|error| Break::Kept(not_stored(&error)))
    }

    /// Forgets this part. Those before it stay, so their share of the hash has to be made again: only the first part can do without.
    async fn begin_anew(&mut self, current: &mut Current, notice: &str) -> Result<(), Break> {
        if current.i > 0 {
            return Err(Break::Useless(keeps_changing()));
        }
        self.notice = Some(notice.into());
        current.sink.begin_anew().map_err(|error| Break::Kept(not_stored(&error)))?;
        (current.hash, self.hash, current.vetting) = (Sha256::new(), Sha256::new(), Vetting::new(true));
        if notice == REPLACED {
            current.version = Version::default();
            self.wanted.parts[0].bytes = None;
            self.etags = Vec::new();
            self.probes = &[];
            if let Some(folder) = &self.folder {
                folder.delete(JOURNAL).await.map_err(|error| Break::Kept(not_stored(&error)))?;
            }
            self.keep_journal().await;
        }
        Ok(())
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

fn verify(expected: Option<&str>, hash: Sha256) -> Result<(), Break> {
    let found = hexadecimal(hash);
    match expected {
        Some(expected) if expected != found => Err(Break::Useless(Problem::new(
            format!("the file that arrived is not the one that was expected (its SHA-256 is {found}); it was deleted"),
            "Download it again; if that happens again, the file on the server is another one",
        ))),
        _ => Ok(()),
    }
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn in_use() -> Problem {
    Problem::new("another tab of this page is downloading or using this model", "Wait for it there, or close that tab, then try again")
}

fn not_stored(error: &StorageError) -> Problem {
    Problem::new(format!("the download could not be stored: {error}"), "Make room under Models or on the device, then press Resume")
}

fn cannot_go_on() -> Break {
    Break::Kept(Problem::new(
        "the connection broke off, and this server cannot go on where a download stopped",
        "Press Resume to begin it again",
    ))
}

fn keeps_changing() -> Problem {
    Problem::new("the file on the server was replaced while it was downloaded", "Download it again later")
}
