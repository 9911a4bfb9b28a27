//! Handles a model that does not load, or that crashes the engine. The problem names the model. The model stays chosen, and the visitor
//! decides which model answers.

use crate::app::i18n::sentence_text;
use crate::app::state::State;
use crate::app::state::engine::ModelState;
use crate::app::state::model_choice::ModelChoice;
use crate::problem::Problem;
use crate::worker::role::Lost;
use glasscage_message::message;

impl State {
    /// Handles the loss of the worker and of the model in it.
    pub(super) fn engine_lost(&mut self, lost: Lost) {
        let problem = self.lost_problem(lost);
        self.engine.end_load(&mut self.outbox);
        // The masked language model may have crashed the worker, so do not reload it automatically.
        if self.engine.masked_lm_load.take().is_some() {
            self.engine.forget_masked_lm();
        }
        match (lost, &*self.engine.model) {
            (Lost::Stopped, ModelState::Loading(_)) => self.engine.did_not_load(&mut self.outbox),
            (Lost::Stopped, ModelState::Ready(_)) => *self.engine.model = ModelState::Failed,
            _ => *self.engine.model = ModelState::NotLoaded,
        }
        self.fail(problem);
    }

    /// Shows why the engine cannot load the model.
    pub(super) fn load_failed(&mut self, problem: Problem) {
        self.engine.did_not_load(&mut self.outbox);
        self.check_standard();
        self.fail(match &*self.engine.choice {
            ModelChoice::BuiltIn => problem,
            other => {
                let (name, reason) = (other.name(), sentence_text(&problem.what));
                Problem { what: message!("\u{201c}{name}\u{201d} was not loaded: {reason}"), ..problem }
            }
        });
    }

    fn lost_problem(&self, lost: Lost) -> Problem {
        let name = self.engine.choice.name();
        let again = message!("Start the explanation again to reload the model, or choose another model");
        match (lost, &*self.engine.model) {
            (Lost::NotStarted, _) => Problem::new(
                message!("The engine could not be started"),
                message!("Reload the page, or use a browser with web workers and WebAssembly"),
            ),
            (Lost::NotArrived, _) => Problem::new(
                message!("The engine could not be downloaded"),
                message!("Check the connection, then start the explanation again"),
            ),
            (Lost::Incompatible, _) => Problem::new(
                message!("The engine and this page have different versions"),
                message!("Reload the page to get both in the same version"),
            ),
            (Lost::Stopped, ModelState::Loading(_)) => {
                Problem::new(message!("The engine stopped while \u{201c}{name}\u{201d} was loading", name), again)
            }
            (Lost::Stopped, ModelState::Ready(_)) => {
                Problem::new(message!("The engine stopped while \u{201c}{name}\u{201d} was in use", name), again)
            }
            (Lost::Stopped, _) => {
                Problem::new(message!("The engine stopped unexpectedly"), message!("Start the explanation again to restart the engine"))
            }
        }
    }
}
