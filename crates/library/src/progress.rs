//! Progress of a download.

use serde::{Deserialize, Serialize};

use super::errors::{NoStorage, RetryCause};
use glasscage_message::Message;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DownloadProgress {
    /// Bytes of all files downloaded so far.
    pub bytes: u64,
    /// Size of all files in bytes; 0 if unknown.
    pub total: u64,
    pub stage: DownloadStage,
    pub notice: Option<DownloadNotice>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DownloadStage {
    /// Reads the stored bytes again to verify them.
    Checking,
    Downloading,
    /// Waits for the next attempt: `seconds` from now, or until the device is online again.
    Waiting {
        seconds: Option<f64>,
        cause: RetryCause,
    },
}

/// Unusual events of a download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DownloadNotice {
    /// The model is kept in memory until you choose another one or close this tab.
    InMemory(NoStorage),
    /// The server does not support resuming: an interrupted download starts over.
    NoRanges,
    /// The file on the server was replaced during the download, so the download started over.
    Replaced,
    /// The chat template cannot be used, for this reason. The model answers without it.
    Template(Message),
}
