//! State of the engine: model, run, and pending requests.

use super::local_file::LocalFile;
use super::model_choice::ModelChoice;
use super::purpose::Purpose;
use super::reactive::Reactive;
use super::run_status::RunStatus;
use super::unfinished_answer::UnfinishedAnswer;
use crate::app::analysis::speed::Speed;
use crate::request::{LoadOptions, LoadProgress, LoadedModel, ThinkingSupport, WorkStats};
use crate::worker::engine::protocol::EngineRequest;
use crate::worker::envelope::RequestId;

/// The engine's worker and the requests to it.
#[derive(Default)]
pub struct Engine {
    pub model: Reactive<ModelState>,
    /// The chosen model, which answers the prompts.
    pub choice: Reactive<ModelChoice>,
    /// Name of the local files that were the model on the last visit, until another model is chosen.
    pub last_files: Reactive<Option<String>>,
    pub masked_lm: Reactive<MaskedLmState>,
    pub run: Reactive<RunStatus>,
    /// The partial answer of the last run, if the run ended too early.
    pub unfinished: Reactive<Option<UnfinishedAnswer>>,
    /// The work of the last run.
    pub work: Reactive<Option<WorkStats>>,
    /// The speed of the last run in this browser.
    pub speed: Reactive<Option<Speed>>,
    /// What the engine measured on this device: a [`DeviceReport`](crate::device::DeviceReport) as JSON.
    pub device: Reactive<Option<String>>,
    /// The local files of the model. Empty if it was not opened from files.
    pub(in crate::app) files: Vec<LocalFile>,
    pub(in crate::app) masked_lm_files: Vec<LocalFile>,
    pub(in crate::app) masked_lm_load: Option<RequestId>,
    pub(in crate::app) load: Option<RequestId>,
    pub(in crate::app) job: Option<Job>,
    pub(in crate::app) load_options: LoadOptions,
    pub(in crate::app) has_spare_core: bool,
    pub(in crate::app) built_in_model: String,
}

/// The current job of the engine, or the job that starts when the model is loaded.
pub(in crate::app) struct Job {
    pub(in crate::app) id: RequestId,
    pub(in crate::app) purpose: Purpose,
    /// The request, while it is not sent yet.
    pub(in crate::app) waiting: Option<EngineRequest>,
    pub(in crate::app) began_millis: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelState {
    #[default]
    NotLoaded,
    Loading(LoadProgress),
    Ready(Box<LoadedModel>),
    /// The chosen model did not load, or the engine crashed with it. The model is reloaded only when the visitor asks. No other model
    /// answers in its place.
    Failed,
}

impl Engine {
    pub fn new(load_options: LoadOptions, has_spare_core: bool, built_in_model: String, choice: Option<&str>, speed: Option<&str>) -> Self {
        Self {
            choice: Reactive::new(choice.map(ModelChoice::from_json).unwrap_or_default()),
            last_files: Reactive::new(choice.and_then(ModelChoice::files_from_json)),
            speed: Reactive::new(speed.and_then(Speed::parse)),
            load_options,
            has_spare_core,
            built_in_model,
            ..Self::default()
        }
    }

    /// Whether a run is in progress or waits for the model.
    pub fn is_busy(&self) -> bool {
        self.run.is_active()
    }

    pub fn loaded(&self) -> Option<&LoadedModel> {
        if let ModelState::Ready(loaded) = &*self.model { Some(loaded) } else { None }
    }

    /// Whether the loaded model thinks. `Never` without one.
    pub fn thinking(&self) -> ThinkingSupport {
        self.loaded().map_or(ThinkingSupport::Never, |loaded| loaded.thinking)
    }

    /// Loading progress of the model, while it is loading.
    pub fn load_progress(&self) -> Option<LoadProgress> {
        if let ModelState::Loading(progress) = *self.model { Some(progress) } else { None }
    }

    pub(in crate::app) fn is_loading(&self) -> bool {
        matches!(*self.model, ModelState::Loading(_))
    }

    /// Whether the chosen model failed and the built-in one can replace it.
    pub fn can_fall_back(&self) -> bool {
        *self.model == ModelState::Failed && *self.choice != ModelChoice::BuiltIn
    }

    pub(in crate::app) fn is_waiting_for_model(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.waiting.is_some())
    }
}

/// Loading state of the masked language model, which one of the methods needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaskedLmState {
    #[default]
    NotChosen,
    Loading,
    Ready,
}
