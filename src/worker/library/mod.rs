//! The library in the worker: looks models up, downloads them into the browser's storage, lists and deletes them.
//!
//! What to do is decided in [`crate::library`]; here it is done. Every write to a model's folder is made by whoever holds its lock.

mod download;
mod http;
mod js;
mod lock;
mod lookup;
mod opfs;
pub mod shelf;
mod sink;
mod vetting;

use std::cell::RefCell;
use std::rc::Rc;

use crate::gpu::device;
use crate::library::messages::{Device, Errand, Facts, GpuFacts, Offer, Report, Wanted};
use crate::model::glance::Glance;
use crate::problem::Problem;

use download::{Break, Control, Download, Tell, in_use};
use lock::Lock;
use lookup::Probe;
use vetting::unsupported;

/// Does errands, several at a time.
#[derive(Default)]
pub struct Librarian {
    /// The download that goes on.
    running: RefCell<Option<Rc<Control>>>,
    /// What the server said when it was asked last.
    probes: RefCell<Rc<Vec<Probe>>>,
    /// A download that stopped and holds in memory what it could not store: it can go on while this tab is open.
    stopped: RefCell<Option<Download>>,
}

impl Librarian {
    /// Does `errand` and tells what comes of it.
    pub async fn serve(&self, errand: Errand, tell: Tell) {
        match errand {
            Errand::List => tell(Report::Shelf(shelf::list().await)),
            Errand::LookUp(wanted) => tell(match self.look_up(wanted).await {
                Ok(offer) => Report::Offer(Box::new(offer)),
                Err(problem) => Report::Failed(problem),
            }),
            Errand::Fetch(wanted) => {
                tell(self.fetch(wanted, tell.clone()).await);
                tell(Report::Shelf(shelf::list().await));
            }
            Errand::Forget(wanted) => drop(self.stopped.borrow_mut().take_if(|stopped| stopped.continues(&wanted))),
            Errand::Pause => self.running.borrow().iter().for_each(|control| control.pause()),
            Errand::Delete(ids) => {
                for id in ids {
                    if let Err(error) = shelf::delete(&id, self.lock(&id).await).await {
                        tell(Report::Failed(Problem::new(
                            format!("a model was not deleted: {error}"),
                            "Close other tabs of this page, then try again",
                        )));
                    }
                }
                tell(Report::Shelf(shelf::list().await));
            }
        }
    }

    async fn look_up(&self, mut wanted: Wanted) -> Result<Offer, Problem> {
        let probes = lookup::probes(&wanted).await?;
        let facts = Glance::of(&probes[0].first_bytes).map_err(|error| unsupported(&error))?;
        for (part, probe) in wanted.parts.iter_mut().zip(&probes) {
            part.bytes = part.bytes.or(probe.version.total);
        }
        let resumable = probes.iter().all(|probe| probe.resumable);
        *self.probes.borrow_mut() = Rc::new(probes);
        let id = shelf::id(&wanted);
        let stored = shelf::list().await.models.into_iter().find(|kept| kept.id == id).map_or(0, |kept| kept.bytes);
        let bytes_here = self.stopped.borrow().as_ref().filter(|stopped| stopped.is_of(&id)).map_or(stored, Download::bytes);
        Ok(Offer { wanted, resumable, facts: facts.into(), device: this_device().await, bytes_here })
    }

    /// A download that begins must know which version of the file it is of: the server is asked, unless it was just now.
    async fn with_its_version(&self, wanted: Wanted) -> Result<Wanted, Problem> {
        let address = wanted.parts.first().map(|part| part.address.clone());
        let was_asked = self.probes.borrow().first().is_some_and(|probe| Some(&probe.address) == address.as_ref());
        // A file of this device has no other version.
        match wanted.is_copy() || was_asked || shelf::has_journal(&shelf::id(&wanted)).await {
            true => Ok(wanted),
            false => self.look_up(wanted).await.map(|offer| offer.wanted),
        }
    }

    async fn fetch(&self, wanted: Wanted, tell: Tell) -> Report {
        let control = Rc::<Control>::default();
        if self.running.borrow().is_some() {
            return Report::Failed(Problem::new("another model is being downloaded", "Wait or pause that one first"));
        }
        *self.running.borrow_mut() = Some(control.clone());
        let ended = self.download(wanted, control, tell).await;
        self.running.take();
        match ended {
            Ok(report) => report,
            Err(Break::Paused) => Report::Paused(None),
            Err(Break::Kept(problem)) => Report::Paused(Some(problem)),
            Err(Break::Useless(problem)) => Report::Discarded(problem),
        }
    }

    /// The lock of a model. A download that stopped holds it, and is given up.
    async fn lock(&self, id: &str) -> Option<Lock> {
        let stopped = self.stopped.borrow_mut().take_if(|stopped| stopped.is_of(id));
        match stopped {
            Some(stopped) => Some(stopped.into_lock()),
            None => Lock::of(id).await,
        }
    }

    /// Goes on with the download that stopped, where it is of the same model; that of another one stays until this one stops too.
    async fn download(&self, wanted: Wanted, control: Rc<Control>, tell: Tell) -> Result<Report, Break> {
        let stopped = self.stopped.borrow_mut().take_if(|stopped| stopped.continues(&wanted));
        let mut download = match stopped {
            Some(stopped) => stopped.under(control),
            None => {
                let lock = self.lock(&shelf::id(&wanted)).await.ok_or_else(|| Break::Kept(in_use()))?;
                let wanted = self.with_its_version(wanted).await.map_err(Break::Kept)?;
                let probes = self.probes.borrow().clone();
                Download::new(wanted, probes, lock, control, tell)
            }
        };
        let ended = download.run().await;
        if download.is_in_memory() && matches!(ended, Err(Break::Paused | Break::Kept(_))) {
            *self.stopped.borrow_mut() = Some(download);
        }
        ended
    }
}

async fn this_device() -> Device {
    let gpu = device::glance().await.map(|(is_software, max_buffer)| GpuFacts { is_software, max_buffer });
    Device { gpu, memory: shelf::device_memory(), storage: shelf::storage().await }
}

impl From<Glance> for Facts {
    fn from(glance: Glance) -> Self {
        let Glance { architecture, name, license, parameters, context_length, bytes_per_token } = glance;
        Self { architecture: architecture.into(), name, license, parameters, context_length, bytes_per_token }
    }
}
