//! The masked language model, which one of the methods needs. The visitor chooses it, and the engine's worker reads it.

use crate::app::state::State;
use crate::app::state::engine::MaskedLmState;
use crate::app::state::local_file::LocalFile;
use crate::app::state::place::Place;
use crate::problem::Problem;
use crate::worker::engine::protocol::EngineEvent;

impl State {
    /// Uses the model in these files from now on.
    pub(super) fn choose_masked_lm(&mut self, files: Vec<LocalFile>) {
        *self.problem = None;
        self.engine.masked_lm_files = files;
        self.engine.load_masked_lm(&mut self.outbox);
    }

    /// Handles the worker's answer to the load request.
    pub(super) fn masked_lm_event(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::MaskedLmLoaded => *self.engine.masked_lm = MaskedLmState::Ready,
            EngineEvent::Failed(problem) => self.masked_lm_failed(problem),
            _ => return,
        }
        self.engine.masked_lm_load = None;
    }

    /// Drops the files, because they do not contain a masked language model.
    fn masked_lm_failed(&mut self, problem: Problem) {
        self.engine.forget_masked_lm();
        match self.engine.is_waiting_for_model() {
            true => self.fail(problem),
            false => self.fail_at(Place::Editor, problem),
        }
    }
}
