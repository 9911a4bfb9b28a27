//! The models that there are, and the one that is on its way.

use super::download::Download;
use super::model_choice::ModelChoice;
use super::reactive::Reactive;
use super::standard::Standard;
use crate::library::download_spec::DownloadSpec;
use crate::library::preview::ModelPreview;
use crate::library::registry::RegistryEntry;
use crate::library::stored_models::StoredModels;
use crate::problem::Problem;
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::library::protocol::LibraryEvent;
use crate::worker::role::Lost;

/// What the page knows of the library and its worker.
#[derive(Default)]
pub struct Library {
    /// Whether the list of models is on screen.
    pub is_open: Reactive<bool>,
    /// Known small models.
    pub known: Reactive<Vec<RegistryEntry>>,
    /// What is stored here; `None` until the worker has said it.
    pub stored: Reactive<Option<StoredModels>>,
    /// The name of the model that a server is asked about.
    pub asked: Reactive<Option<String>>,
    pub preview: Reactive<Option<ModelPreview>>,
    pub download: Reactive<Option<Download>>,
    /// The copy of a local model that was made on this visit, by its id.
    pub copied: Reactive<Option<String>>,
    /// A model that arrived while the engine was busy.
    pub arrived: Reactive<Option<ModelChoice>>,
    pub problem: Reactive<Option<Problem>>,
    pub standard: Standard,
    pub(in crate::app) preview_request: Option<RequestId>,
    /// That of the download, where the worker has it.
    pub(in crate::app) download_request: Option<RequestId>,
    pub(in crate::app) deletion_request: Option<RequestId>,
    /// A worker runs, and may hold a download in memory.
    pub(in crate::app) has_worker: bool,
}

/// What the visitor does with models, and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub enum LibraryMessage {
    Open,
    Close,
    /// Ask the server of a typed address what it has.
    PreviewAddress(String),
    /// Ask the server what it has, before anything is downloaded.
    Preview(DownloadSpec),
    ClosePreview,
    /// Download Glasscage Standard, if this device can hold it.
    GetStandard,
    /// Download a model, or what is missing of it.
    Download(DownloadSpec),
    Pause,
    Resume,
    /// The visitor does not want the download any more; what is stored stays.
    Dismiss,
    UseBuiltIn,
    UseStored {
        id: String,
        name: String,
    },
    UseArrived,
    Delete(Vec<String>),
    /// Copy the local model that answers into the browser's storage.
    KeepCopy,
    /// Where the files to copy can be read; `None` where the browser refuses.
    ObjectUrlsCreated(Option<Vec<String>>),
    Event(Envelope<LibraryEvent>),
    Lost(Lost),
}

impl From<Result<Envelope<LibraryEvent>, Lost>> for LibraryMessage {
    fn from(message: Result<Envelope<LibraryEvent>, Lost>) -> Self {
        message.map_or_else(Self::Lost, Self::Event)
    }
}

impl Library {
    /// With the unfinished download of the last visit.
    pub fn new(unfinished: Option<&str>, standard: Standard) -> Self {
        let spec = unfinished.and_then(|json| serde_json::from_str(json).ok());
        Self { download: Reactive::new(spec.map(Download::unfinished)), standard, ..Self::default() }
    }

    /// Whether a download goes on.
    pub fn is_downloading(&self) -> bool {
        self.download.as_ref().is_some_and(|download| !download.is_paused())
    }
}
