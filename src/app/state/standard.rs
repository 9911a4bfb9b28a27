//! Glasscage Standard in this browser, and how the form offers it.

use super::model_choice::ModelChoice;
use super::reactive::Reactive;
use crate::library::download_spec::DownloadSpec;
use crate::library::standard::{self, NAME, Obstacle};
use crate::worker::envelope::RequestId;

/// State of Glasscage Standard.
#[derive(Default)]
pub struct Standard {
    /// Its parts on the page's own site.
    pub spec: DownloadSpec,
    /// Its id in the browser's storage. `None` until it is complete.
    pub id: Reactive<Option<String>>,
    /// Whether the address of the page has the parameter `model=standard`.
    pub is_in_address: bool,
    /// Why this device cannot hold it. `None` before the visitor asks for it.
    pub obstacle: Reactive<Option<Obstacle>>,
    /// The request that asks server and device, before the download.
    pub request: Reactive<Option<RequestId>>,
}

/// An offer in the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StandardOffer {
    /// Download the model. Contains the obstacle if this device cannot hold the model.
    Download(Option<Obstacle>),
    /// The download runs or is paused.
    Arriving,
    /// Use the model that is stored under this id.
    Use(String),
}

impl Standard {
    /// `first_part` is an absolute address. `id` is the id that an earlier visit stored.
    pub fn new(first_part: &str, id: Option<String>, is_in_address: bool) -> Self {
        Self { spec: standard::spec(first_part), id: Reactive::new(id), is_in_address, ..Self::default() }
    }

    /// The stored model.
    pub fn choice(&self) -> Option<ModelChoice> {
        self.id.clone().map(|id| ModelChoice::Stored { id, name: NAME.into() })
    }
}
