//! How far a download is.

use serde::{Deserialize, Serialize};

use super::errors::{NoStorage, RetryCause};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DownloadProgress {
    /// Downloaded so far, of all files.
    pub bytes: u64,
    /// Of all files; 0 where that is not known.
    pub total: u64,
    pub stage: DownloadStage,
    pub notice: Option<DownloadNotice>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DownloadStage {
    /// What is stored already is read again, to verify it.
    Checking,
    Downloading,
    /// The next attempt is in so many seconds, or as soon as the device is online again.
    Waiting {
        seconds: Option<f64>,
        cause: RetryCause,
    },
}

/// What is unusual about a download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DownloadNotice {
    /// The model is kept in memory until you choose another one or close this tab.
    InMemory(NoStorage),
    /// The server does not support resuming: an interrupted download starts over.
    NoRanges,
    /// The file on the server was replaced in the meantime, so the download started over.
    Replaced,
    /// The chat template cannot be used, for this reason. The model answers without it.
    Template(String),
}
