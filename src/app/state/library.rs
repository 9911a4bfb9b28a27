//! State of the library: known and stored models, and the current download.

use super::download::Download;
use super::model_choice::ModelChoice;
use super::reactive::Reactive;
use super::shown_document::ShownDocument;
use super::standard::Standard;
use crate::library::download_spec::DownloadSpec;
use crate::library::preview::ModelPreview;
use crate::library::registry::RegistryEntry;
use crate::library::stored_models::StoredModels;
use crate::problem::Problem;
use crate::worker::envelope::RequestId;
use crate::worker::role::Lost;

/// State of the library and its worker.
#[derive(Default)]
pub struct Library {
    /// Whether the list of models is on screen.
    pub is_open: Reactive<bool>,
    /// Known small models.
    pub known: Reactive<Vec<RegistryEntry>>,
    /// Models stored in this browser. `None` until the worker reports them.
    pub stored: Reactive<Option<StoredModels>>,
    /// Name of the model whose preview is pending.
    pub asked: Reactive<Option<String>>,
    pub preview: Reactive<Option<ModelPreview>>,
    pub download: Reactive<Option<Download>>,
    /// Id of the copy of a local model that was made in this session.
    pub copied: Reactive<Option<String>>,
    /// A model whose download ended while the engine was busy.
    pub arrived: Reactive<Option<ModelChoice>>,
    pub problem: Reactive<Option<Problem>>,
    /// Whether a worker runs. It may hold a download in memory.
    pub has_worker: Reactive<bool>,
    pub standard: Standard,
    /// What the visitor wants to do as soon as the list of known models is here, and the explanation that was on screen then.
    pub(in crate::app) list_awaited: Option<(ListAwaited, ShownDocument)>,
    pub(in crate::app) preview_request: Option<RequestId>,
    /// The request of the download, while the worker handles it.
    pub(in crate::app) download_request: Option<RequestId>,
    pub(in crate::app) deletion_request: Option<RequestId>,
}

/// An action that may need another model than the chosen one, so it needs the list of known models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListAwaited {
    Recompute,
    /// A follow-up question about the explanation on screen.
    FollowUp,
}

/// Actions of the visitor on models, and their results.
#[derive(Clone, Debug, PartialEq)]
pub enum LibraryMessage {
    Open,
    Close,
    /// Preview the model at a typed address, or show what is wrong with the address.
    PreviewTyped(Result<DownloadSpec, Problem>),
    /// Preview a model before anything is downloaded.
    Preview(DownloadSpec),
    ClosePreview,
    /// Download Glasscage Standard, if this device can hold it.
    GetStandard,
    /// Download a model, or the missing rest of it.
    Download(DownloadSpec),
    Pause,
    Resume,
    /// Give up the download. Stored bytes are kept.
    Dismiss,
    UseBuiltIn,
    UseStored {
        id: String,
        name: String,
    },
    UseArrived,
    Delete(Vec<String>),
    /// Copy the local model in use into the browser's storage.
    KeepCopy,
    /// Object URLs of the files to copy. `None` if the browser refuses.
    ObjectUrlsCreated(Option<Vec<String>>),
    Lost(Lost),
}

impl Library {
    /// State with the unfinished download of the last visit.
    pub fn new(unfinished: Option<&str>, standard: Standard) -> Self {
        let spec = unfinished.and_then(|json| serde_json::from_str(json).ok());
        Self { download: Reactive::new(spec.map(Download::unfinished)), standard, ..Self::default() }
    }

    /// Whether a download is in progress.
    pub fn is_downloading(&self) -> bool {
        self.download.as_ref().is_some_and(|download| !download.is_paused())
    }
}
