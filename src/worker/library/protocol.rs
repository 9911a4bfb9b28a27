//! What the page asks of the library's worker, and what that answers.
//!
//! Messages travel in an [`Envelope`](crate::worker::envelope::Envelope). Every request is answered under its id by any number of
//! `Progress` and `Replaced`, then by exactly one other event. News that nobody asked for comes under `RequestId::NEWS`.

use serde::{Deserialize, Serialize};

use crate::library::download_spec::DownloadSpec;
use crate::library::preview::ModelPreview;
use crate::library::progress::DownloadProgress;
use crate::library::stored_models::{ModelLocation, StoredModels};
use crate::problem::Problem;
use crate::worker::envelope::RequestId;

/// From the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LibraryRequest {
    /// What is stored? Answered by `StoredModels`.
    ListModels,
    /// What is at this address, before it is downloaded? Answered by `Preview` or `Failed`.
    Preview(DownloadSpec),
    /// Download it (or copy it, where it is local), from where an earlier download stopped. Answered by any number of `Progress` and
    /// `Replaced`, then `Completed`, `Paused`, `Discarded`, or, where another download is running, `Failed`.
    Download(DownloadSpec),
    /// Stop the download that was requested under this id and keep what is here. Answered by `Done`; the download itself ends under
    /// its own id.
    Pause(RequestId),
    /// The visitor gives this download up: free what it holds in memory. Answered by `Done`.
    Release(DownloadSpec),
    /// Delete the models with these ids. Answered by `Done`, or by `Failed` where one is in use; the others are deleted then.
    Delete(Vec<String>),
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LibraryEvent {
    /// What is stored now. News as well: after every download and deletion.
    StoredModels(StoredModels),
    Preview(Box<ModelPreview>),
    Progress(DownloadProgress),
    /// The file on the server was replaced; from now on the new one is downloaded.
    Replaced(DownloadSpec),
    /// Downloaded and verified.
    Completed(ModelLocation),
    /// The download stopped and what is here is kept. With a problem unless the visitor paused it.
    Paused(Option<Problem>),
    /// The download stopped, and what was here of it is deleted, because it was of no use.
    Discarded(Problem),
    /// It is done, and there is nothing to say.
    Done,
    Failed(Problem),
}
