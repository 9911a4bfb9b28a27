//! The model of the engine: which one is chosen, remembered and loaded.

use crate::app::analysis::speed::Speed;
use crate::app::state::engine::{Engine, MaskedLmState, ModelState};
use crate::app::state::message::Effect;
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::outbox::Outbox;
use crate::app::state::purpose::Purpose;
use crate::app::state::run_status::RunStatus;
use crate::app::state::storage_keys;
use crate::request::{LoadProgress, LoadedModel, WorkStats};
use crate::worker::engine::protocol::EngineRequest;

impl Engine {
    /// Sets the chosen model and remembers it for the next visit. Frees the previous model if it was only in memory.
    pub(super) fn choose(&mut self, choice: ModelChoice, outbox: &mut Outbox) {
        remember_model(&choice, outbox);
        *self.last_files = None;
        if let before @ ModelChoice::Memory { .. } = std::mem::replace(&mut *self.choice, choice)
            && before != *self.choice
        {
            release(before, outbox);
        }
    }

    /// Loads the chosen model.
    pub(super) fn load(&mut self, outbox: &mut Outbox) {
        *self.model = ModelState::Loading(LoadProgress::default());
        let source = self.choice.source(&self.built_in_model);
        let files = self.files.iter().map(|file| file.id).collect();
        let (options, has_spare_core) = (self.load_options.clone(), self.has_spare_core);
        if *self.choice != ModelChoice::BuiltIn {
            // A browser that runs out of memory ends the tab without notice. This text then stays and names the model.
            outbox.remember_in_tab(storage_keys::LOADING, self.choice.name().to_owned());
        }
        self.load = Some(outbox.ask_engine(EngineRequest::Load { source, options, has_spare_core }, files));
        self.load_masked_lm(outbox);
    }

    /// Ends the load of the model.
    pub(super) fn end_load(&mut self, outbox: &mut Outbox) {
        if self.load.take().is_some() {
            outbox.remember_in_tab(storage_keys::LOADING, String::new());
        }
    }

    /// Marks the chosen model as one that does not load.
    pub(super) fn did_not_load(&mut self, outbox: &mut Outbox) {
        *self.model = ModelState::Failed;
        // Otherwise the next visit would offer a file that has never worked.
        if matches!(*self.choice, ModelChoice::Files(_)) {
            remember_model(&ModelChoice::BuiltIn, outbox);
        }
    }

    /// Stores what the loaded model says about itself.
    pub(super) fn is_ready(&mut self, loaded: LoadedModel, outbox: &mut Outbox) {
        if loaded.kernel_shapes.is_some() && loaded.kernel_shapes != self.load_options.kernel_shapes {
            self.load_options.kernel_shapes.clone_from(&loaded.kernel_shapes);
            outbox.remember_for_visits(storage_keys::KERNEL_SHAPES, loaded.kernel_shapes.clone());
        }
        *self.model = ModelState::Ready(Box::new(loaded));
    }

    /// Sends the files of the masked language model to the worker, which may be a new one.
    pub(super) fn load_masked_lm(&mut self, outbox: &mut Outbox) {
        if !self.masked_lm_files.is_empty() {
            *self.masked_lm = MaskedLmState::Loading;
            let files = self.masked_lm_files.iter().map(|file| file.id).collect();
            self.masked_lm_load = Some(outbox.ask_engine(EngineRequest::LoadMaskedLm, files));
        }
    }

    /// Drops the files of the masked language model.
    pub(super) fn forget_masked_lm(&mut self) {
        *self.masked_lm = MaskedLmState::NotChosen;
        self.masked_lm_files.clear();
    }

    /// Stores the work of the run, and the speed of an explanation, which predicts the time of later ones.
    pub(super) fn learn_speed(&mut self, work: WorkStats, now_millis: f64, outbox: &mut Outbox) {
        *self.work = Some(work);
        let Some(job) = &self.job else { return };
        // A token takes longer to write than to read.
        let only_writes =
            matches!(job.purpose, Purpose::AnswerVariant(_) | Purpose::MeasureDevice) || matches!(*self.run, RunStatus::Answering { .. });
        if only_writes {
            return;
        }
        let seconds = (now_millis - job.began_millis) / 1e3;
        let speed = self.loaded().and_then(|loaded| Speed::of(loaded.model.parameters, &work, seconds));
        if let Some(speed) = speed {
            *self.speed = Some(speed);
            outbox.remember_for_visits(storage_keys::SPEED, Some(speed.to_string()));
        }
    }
}

/// Frees the browser's memory of a model that can no longer be chosen.
pub(super) fn release(choice: ModelChoice, outbox: &mut Outbox) {
    if let ModelChoice::Memory { address, .. } = choice {
        outbox.emit(Effect::RevokeObjectUrl(address));
    }
}

/// Remembers the model for the next visit, and for a reload of this tab independently of other tabs.
pub(super) fn remember_model(choice: &ModelChoice, outbox: &mut Outbox) {
    let json = choice.to_json();
    outbox.remember_for_visits(storage_keys::MODEL, json.clone());
    outbox.remember_in_tab(storage_keys::MODEL, json.unwrap_or_else(|| ModelChoice::NONE.into()));
}
