//! What the page asks of the library, and what that reports.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A model at one or several addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// What the visitor knows it by.
    pub name: String,
    /// One, or those of a split model in order.
    pub parts: Vec<Part>,
}

/// One file of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Where it is published; of a file of this device a name that stays the same while the file does.
    pub address: String,
    /// Where a file of this device can be read: an address of the browser's own, which ends with the tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// Its length, where that is known.
    pub bytes: Option<u64>,
    /// In lower-case hexadecimal, where that is known.
    pub sha256: Option<String>,
}

/// What the address of a file of this device begins with.
const LOCAL: &str = "file:";

impl Part {
    /// A file of this device; the address tells files of the same name apart.
    pub fn of_device(name: &str, bytes: u64, modified_millis: f64) -> Self {
        Self { address: format!("{LOCAL}{name}?{bytes}&{modified_millis}"), bytes: Some(bytes), ..Self::default() }
    }

    /// Where its bytes come from.
    pub fn source(&self) -> &str {
        self.local.as_deref().unwrap_or(&self.address)
    }
}

impl Wanted {
    /// The model at `address`, of which nothing else is known.
    pub fn at(name: impl Into<String>, addresses: Vec<String>) -> Self {
        let part = |address| Part { address, ..Part::default() };
        Self { name: name.into(), parts: addresses.into_iter().map(part).collect() }
    }

    /// Whether it is a copy of files of this device.
    pub fn is_copy(&self) -> bool {
        self.parts.iter().any(|part| part.address.starts_with(LOCAL))
    }

    /// Length of all parts, where that is known.
    pub fn bytes(&self) -> Option<u64> {
        self.parts.iter().map(|part| part.bytes).sum()
    }
}

/// From the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Errand {
    /// What is kept. Answered by `Shelf`.
    List,
    /// What is at this address, before it is downloaded. Answered by `Offer` or `Failed`.
    LookUp(Wanted),
    /// Download it (or copy it, where it is of this device), from where an earlier download stopped. Answered by `Fetching`.. and
    /// perhaps `Replaced`, then `Arrived`, `Paused` or `Discarded`.
    Fetch(Wanted),
    /// Stop the download and keep what is here.
    Pause,
    /// The visitor does not want this download to go on: what it holds in memory is let go.
    Forget(Wanted),
    /// Delete the models with these ids. Answered by `Shelf`, after `Failed` where one is in use.
    Delete(Vec<String>),
}

/// From the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Report {
    Shelf(Shelf),
    Offer(Box<Offer>),
    Fetching(Fetching),
    /// The file on the server was replaced: it is this version now that is downloaded.
    Replaced(Wanted),
    /// Complete and verified.
    Arrived {
        name: String,
        place: Place,
    },
    /// Stopped; what is here is kept. With a reason where the visitor gave none.
    Paused(Option<Problem>),
    /// The download ended, and what was here of it was of no use and is deleted.
    Discarded(Problem),
    /// What was asked last did not work.
    Failed(Problem),
}

/// Where a complete model is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// In the browser's storage, under this id.
    Kept(String),
    /// In memory, until the page is closed; an address of the browser's own.
    Memory(String),
}

/// What is kept on this device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shelf {
    pub models: Vec<Kept>,
    pub storage: Storage,
}

/// The browser's storage for this site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Storage {
    /// Whether the browser lets anything be stored.
    pub is_open: bool,
    /// Whether the browser may not delete it to make room.
    pub is_persistent: bool,
    /// About what may still be stored, in bytes.
    pub free: Option<u64>,
}

/// One model that is kept, or a part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub id: String,
    pub wanted: Wanted,
    /// Stored so far.
    pub bytes: u64,
    /// Of all of it, as it was verified; `None` of a part.
    pub sha256: Option<String>,
    /// When it was last loaded, in milliseconds since 1970.
    pub used_millis: Option<f64>,
}

impl Kept {
    pub fn is_complete(&self) -> bool {
        self.sha256.is_some()
    }
}

/// What there is to know before a download.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// With the lengths that the server says.
    pub wanted: Wanted,
    /// Whether a download that broke off can go on.
    pub resumable: bool,
    pub facts: Facts,
    pub device: Device,
    /// Of it, stored already.
    pub bytes_here: u64,
}

/// What the beginning of the file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub architecture: String,
    /// As the file calls itself.
    pub name: Option<String>,
    pub license: Option<String>,
    pub parameters: Option<u64>,
    /// The longest text that the model was made for, in tokens.
    pub context_length: u64,
    /// Keys and values of one token, in bytes.
    pub bytes_per_token: u64,
}

/// What this device has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    pub gpu: Option<GpuFacts>,
    /// Main memory, in bytes, as coarse as the browser tells it.
    pub memory: Option<u64>,
    pub storage: Storage,
}

/// The GPU that the browser gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuFacts {
    /// Played by the CPU.
    pub is_software: bool,
    /// The largest buffer, in bytes.
    pub max_buffer: u64,
}

/// How far a download is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fetching {
    pub name: String,
    /// Stored so far, of all parts.
    pub bytes: u64,
    pub total: u64,
    pub stage: Stage,
    /// Said where it is not as usual: kept in memory only, cannot resume.
    pub notice: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Stage {
    /// What is stored already is read again, to be sure of it.
    Checking,
    Downloading,
    /// Something went wrong; it is tried again after so many seconds, or as soon as there is a network again.
    Waiting {
        seconds: Option<f64>,
        why: String,
    },
}
