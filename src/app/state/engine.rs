//! The engine as far as the page knows it: model, run, and what is waited for.

use super::local_file::LocalFile;
use super::model_choice::ModelChoice;
use super::purpose::Purpose;
use super::reactive::Reactive;
use super::run_status::RunStatus;
use super::unfinished_answer::UnfinishedAnswer;
use crate::app::analysis::speed::Speed;
use crate::request::{LoadOptions, LoadProgress, LoadedModel, WorkStats};
use crate::worker::engine::protocol::EngineRequest;
use crate::worker::envelope::RequestId;

/// The engine's worker, and what is asked of it.
#[derive(Default)]
pub struct Engine {
    pub model: Reactive<ModelState>,
    /// The model that answers.
    pub choice: Reactive<ModelChoice>,
    /// The local files that answered on the last visit, by their name, until another model is chosen.
    pub last_files: Reactive<Option<String>>,
    pub masked_lm: Reactive<MaskedLmState>,
    pub run: Reactive<RunStatus>,
    /// What the model had written when the last run ended too early.
    pub unfinished: Reactive<Option<UnfinishedAnswer>>,
    /// The work of the last run.
    pub work: Reactive<Option<WorkStats>>,
    /// The speed of the last run in this browser.
    pub speed: Option<Speed>,
    /// The local files of the model, where it has any.
    pub(in crate::app) files: Vec<LocalFile>,
    pub(in crate::app) masked_lm_files: Vec<LocalFile>,
    pub(in crate::app) masked_lm_load: Option<RequestId>,
    pub(in crate::app) load: Option<RequestId>,
    pub(in crate::app) job: Option<Job>,
    pub(in crate::app) load_options: LoadOptions,
    pub(in crate::app) has_spare_core: bool,
    pub(in crate::app) built_in_model: String,
}

/// What the engine works on, or will when the model is loaded.
pub(in crate::app) struct Job {
    pub(in crate::app) id: RequestId,
    pub(in crate::app) purpose: Purpose,
    /// Not sent yet.
    pub(in crate::app) waiting: Option<EngineRequest>,
    pub(in crate::app) began_millis: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum ModelState {
    #[default]
    NotLoaded,
    Loading(LoadProgress),
    Ready(Box<LoadedModel>),
    /// The chosen model did not load, or the engine broke off with it. It is loaded again only when the visitor asks, and no other one
    /// answers in its place.
    Failed,
}

impl Engine {
    pub fn new(load_options: LoadOptions, has_spare_core: bool, built_in_model: String, choice: Option<&str>, speed: Option<&str>) -> Self {
        Self {
            choice: Reactive::new(choice.map(ModelChoice::from_json).unwrap_or_default()),
            last_files: Reactive::new(choice.and_then(ModelChoice::files_from_json)),
            speed: speed.and_then(Speed::parse),
            load_options,
            has_spare_core,
            built_in_model,
            ..Self::default()
        }
    }

    /// Whether a run goes on, or waits for the model.
    pub fn is_busy(&self) -> bool {
        self.run.is_active()
    }

    pub fn loaded(&self) -> Option<&LoadedModel> {
        if let ModelState::Ready(loaded) = &*self.model { Some(loaded) } else { None }
    }

    /// How much of the model is loaded, while it is.
    pub fn load_progress(&self) -> Option<LoadProgress> {
        if let ModelState::Loading(progress) = *self.model { Some(progress) } else { None }
    }

    pub(in crate::app) fn is_loading(&self) -> bool {
        matches!(*self.model, ModelState::Loading(_))
    }

    /// Whether the chosen model failed, and there is another one that comes with the page.
    pub fn can_fall_back(&self) -> bool {
        *self.model == ModelState::Failed && *self.choice != ModelChoice::BuiltIn
    }

    pub(in crate::app) fn is_waiting_for_model(&self) -> bool {
        self.job.as_ref().is_some_and(|job| job.waiting.is_some())
    }
}

/// How far the masked language model is that one of the methods needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaskedLmState {
    #[default]
    NotChosen,
    Loading,
    Ready,
}
