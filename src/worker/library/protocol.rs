//! Requests from the page to the library's worker, and the events that answer them.
//!
//! Messages are sent in an [`Envelope`](crate::worker::envelope::Envelope). Each request is answered under its id by any number of
//! `Progress` and `Replaced`, then by exactly one other event. Unsolicited events have the id `RequestId::UNSOLICITED`.

use serde::{Deserialize, Serialize};

use crate::library::download_spec::DownloadSpec;
use crate::library::preview::ModelPreview;
use crate::library::progress::DownloadProgress;
use crate::library::stored_models::{ModelLocation, StoredModels};
use crate::problem::Problem;
use crate::worker::envelope::RequestId;

/// Requests from the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LibraryRequest {
    /// List the stored models. Answered by `StoredModels`.
    ListModels,
    /// Describe the model at this address before it is downloaded. Answered by `Preview` or `Failed`.
    Preview(DownloadSpec),
    /// Download the model (or copy it, if it is local), resuming an earlier download. Answered by any number of `Progress` and
    /// `Replaced`, then `Completed`, `Paused` or `Discarded`, or by `Failed` if another download is running.
    Download(DownloadSpec),
    /// Stop the download that was requested under this id and keep its bytes. Answered by `Done`. The download itself ends under its own
    /// id.
    Pause(RequestId),
    /// The user gave up this download: free its memory. Answered by `Done`.
    Release(DownloadSpec),
    /// Delete the models with these ids. Answered by `Done`, or by `Failed` if one is in use; the others are still deleted.
    Delete(Vec<String>),
}

/// Events from the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LibraryEvent {
    /// The stored models. Also sent unsolicited after every download and deletion.
    StoredModels(StoredModels),
    Preview(Box<ModelPreview>),
    Progress(DownloadProgress),
    /// The file on the server was replaced. The download continues with the new file.
    Replaced(DownloadSpec),
    /// Downloaded and verified.
    Completed(ModelLocation),
    /// The download stopped, and its bytes are kept. Contains a problem unless the user paused it.
    Paused(Option<Problem>),
    /// The download stopped, and its bytes were deleted because they are of no use.
    Discarded(Problem),
    /// The request is done, and there is no result.
    Done,
    Failed(Problem),
}
