//! Counts the tokens of the prompt with the loaded model while the visitor types.

use crate::app::state::State;
use crate::app::state::message::{Effect, Message};
use crate::worker::engine::protocol::{EngineEvent, EngineRequest};

/// Pause in typing after which the tokens are counted, in ms.
const PAUSE_MILLIS: u32 = 300;

impl State {
    /// Drops the token count, because the prompt, the model or the use of the template has changed, and schedules a new count.
    pub(super) fn recount_tokens(&mut self) {
        *self.editor.tokens = None;
        self.editor.token_count = None;
        self.editor.token_changes += 1;
        if self.engine.loaded().is_some() && !self.editor.prompt.trim().is_empty() {
            let message = Box::new(Message::CountTokens(self.editor.token_changes));
            self.emit(Effect::After { millis: PAUSE_MILLIS, message });
        }
    }

    /// Asks the model, unless the prompt has changed again. The count waits for a run, because the worker handles one request at a time.
    pub(super) fn count_tokens(&mut self, changes: u32) {
        if changes == self.editor.token_changes && self.engine.loaded().is_some() {
            let id = self.next_id();
            self.editor.token_count = Some(id);
            let (prompt, use_template) = (self.editor.prompt.clone(), self.editor.settings.use_template);
            self.send_to_engine(id, EngineRequest::CountTokens { prompt, use_template }, Vec::new());
        }
    }

    pub(super) fn tokens_counted(&mut self, event: EngineEvent) {
        if let EngineEvent::TokensCounted(tokens) = event {
            *self.editor.tokens = tokens;
        }
        self.editor.token_count = None;
    }
}
