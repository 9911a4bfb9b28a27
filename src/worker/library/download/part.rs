//! One part of a model: what is here is read again, the rest is asked for until all is there.

use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::super::http::{self, Body};
use super::super::js::{StorageError, navigator, now_millis, sleep};
use super::super::lookup::check_length;
use super::super::sink::Sink;
use super::super::vetting::Vetting;
use super::Download;
use super::ending::{Break, NO_RANGES, REPLACED, STORAGE_FULL, cannot_go_on, file_gone, in_use, keeps_changing, not_stored, unreadable};
use crate::library::answer::{Meaning, Version, refused_for_good};
use crate::library::journal::{self, JOURNAL};
use crate::library::messages::{Report, Stage};
use crate::library::patience::{Moment, Patience, Wait};
use crate::problem::Problem;

/// Read at once when what is here is checked.
const PIECE: usize = 2 << 20;
/// While it waits, a download looks so often whether it was paused, and whether there is a network.
const LOOK_MILLIS: u32 = 100;

/// The part that is on its way.
pub struct Current {
    pub i: usize,
    pub sink: Sink,
    pub hash: Sha256,
    pub vetting: Vetting,
    pub version: Version,
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
    /// The server has another file than the one that was begun: this one.
    Replaced(Version),
    Break(Break),
}

impl Download {
    /// Part `i`, from where an earlier download left it in the storage.
    pub async fn begin_part(&mut self, i: usize) -> Result<Current, Break> {
        let opened = match &self.folder {
            // What comes after a part in memory is there too: the parts in storage are the first ones.
            Some(folder) if self.blobs.length() == 0 => Sink::open(folder, i).await,
            _ => Ok(Sink::in_memory(None, 0)),
        };
        let sink = match opened {
            Ok(sink) => sink,
            Err(StorageError::InUse) => return Err(Break::Kept(in_use())),
            Err(_) => {
                self.do_without_storage(STORAGE_FULL)?;
                Sink::in_memory(None, 0)
            }
        };
        let version = Version { total: self.wanted.parts[i].bytes, etag: self.etags.get(i).cloned().flatten() };
        let mut current = Current { i, sink, hash: Sha256::new(), vetting: Vetting::new(i == 0), version, is_whole_only: false };
        self.check_again(&mut current).await?;
        Ok(current)
    }

    /// Reads what an earlier download left.
    async fn check_again(&mut self, current: &mut Current) -> Result<(), Break> {
        let here = current.sink.position();
        let mut position = 0;
        while position < here {
            let length = (here - position).min(PIECE as u64) as usize;
            let piece = current.sink.read_at(position, length).map_err(|error| Break::Kept(not_stored(&error)))?;
            if piece.is_empty() {
                return Err(unreadable());
            }
            self.take(current, &piece)?;
            position += piece.len() as u64;
            self.say(current, position, Stage::Checking);
            self.listen().await?;
        }
        Ok(())
    }

    /// Counts bytes that are here into both hashes, and looks at the header.
    fn take(&mut self, current: &mut Current, bytes: &[u8]) -> Result<(), Break> {
        current.hash.update(bytes);
        self.hash.update(bytes);
        current.vetting.see(bytes, current.version.total).map_err(Break::Useless)
    }

    /// Asks for what is missing until it is there.
    pub async fn rest(&mut self, current: &mut Current) -> Result<(), Break> {
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
                Ended::Stream(_) | Ended::Later { .. } if self.wanted.is_copy() => return Err(file_gone()),
                Ended::Stream(_) if current.is_whole_only => return Err(cannot_go_on()),
                Ended::Stream(why) => (why.unwrap_or_else(|| "the connection broke off".into()), None),
                Ended::Later { why, seconds } => (why, seconds),
                Ended::Replaced(_) if was_replaced => return Err(Break::Useless(keeps_changing())),
                Ended::Replaced(version) => {
                    was_replaced = true;
                    self.begin_anew(current, REPLACED).await?;
                    self.take_version(current, version).await?;
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
        let mut wait = Wait::new(seconds, asked.is_some(), now_millis());
        loop {
            let (seconds, look_millis) = match wait.look(now_millis(), !navigator().on_line()) {
                Moment::Over => break,
                Moment::Offline => (None, LOOK_MILLIS),
                Moment::Seconds(left) => (Some(left), LOOK_MILLIS.min((1e3 * left) as u32 + 1)),
            };
            self.say(current, current.sink.position(), Stage::Waiting { seconds, why: why.clone() });
            sleep(look_millis).await;
            if self.control.paused.get() {
                return Err(Break::Paused);
            }
        }
        if wait.was_offline() {
            patience.renew();
        }
        Ok(())
    }

    /// One request, from where the part stands.
    async fn request(&mut self, current: &mut Current) -> Ended {
        if let Err(reason) = self.take_probe(current).await {
            return Ended::Break(reason);
        }
        let (address, start) = (self.wanted.parts[current.i].source().to_owned(), current.sink.position());
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
                _ => Ended::Replaced(version),
            };
        }
        current.version.total = current.version.total.or(version.total);
        if is_whole && let Err(reason) = self.start_at_first_byte(current).await {
            return Ended::Break(reason);
        }
        self.stream(current, body).await
    }

    /// The first bytes came when the server was asked what it has.
    async fn take_probe(&mut self, current: &mut Current) -> Result<(), Break> {
        let (address, probes) = (&self.wanted.parts[current.i].address, self.probes.clone());
        let probe = probes.iter().find(|probe| probe.address == *address && probe.resumable && current.version.agrees(&probe.version));
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
    async fn start_at_first_byte(&mut self, current: &mut Current) -> Result<(), Break> {
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
            // A file of this device comes so fast that no message gets in between its pieces.
            if self.say(current, current.sink.position(), Stage::Downloading)
                && let Err(reason) = self.listen().await
            {
                return Ended::Break(reason);
            }
        }
    }

    /// Stores bytes; where the storage is full, goes on in memory.
    async fn put(&mut self, current: &mut Current, bytes: &[u8]) -> Result<(), Break> {
        self.take(current, bytes)?;
        let stored = current.sink.position();
        match current.sink.write(bytes) {
            Ok(()) => return Ok(()),
            Err(StorageError::Full) => {}
            Err(error) => return Err(Break::Kept(not_stored(&error))),
        }
        self.do_without_storage(STORAGE_FULL)?;
        // Its file has to be closed before it can be read.
        current.sink = Sink::in_memory(None, 0);
        let file = match &self.folder {
            Some(folder) => folder.file(&journal::data(current.i)).await,
            None => None,
        };
        current.sink = Sink::in_memory(Some(file.ok_or_else(unreadable)?.into()), stored);
        current.sink.write(bytes).map_err(|error| Break::Kept(not_stored(&error)))
    }

    /// Forgets this part. Those before it stay, so their share of the hash has to be made again: only the first part can do without.
    async fn begin_anew(&mut self, current: &mut Current, notice: &str) -> Result<(), Break> {
        if current.i > 0 {
            return Err(Break::Useless(keeps_changing()));
        }
        self.notice = Some(notice.into());
        current.sink.begin_anew().map_err(|error| Break::Kept(not_stored(&error)))?;
        if let Some(folder) = self.folder.as_ref().filter(|_| current.sink.is_in_memory()) {
            // What was stored before the storage was full would be taken for the beginning of the new file. The mark counts, so it goes first.
            for name in [journal::stored(0), journal::data(0)] {
                folder.delete(&name).await.map_err(|error| Break::Kept(not_stored(&error)))?;
            }
        }
        (current.hash, self.hash, current.vetting) = (Sha256::new(), Sha256::new(), Vetting::new(true));
        Ok(())
    }

    /// From now on it is this version that is downloaded.
    async fn take_version(&mut self, current: &mut Current, version: Version) -> Result<(), Break> {
        (self.wanted.parts[0].bytes, self.etags, self.probes) = (version.total, vec![version.etag.clone()], Rc::default());
        current.version = version;
        if let Some(folder) = &self.folder {
            folder.delete(JOURNAL).await.map_err(|error| Break::Kept(not_stored(&error)))?;
        }
        (self.tell)(Report::Replaced(self.wanted.clone()));
        self.keep_journal().await
    }
}
