//! The effects that a message has outside the state.

use super::local_file::FileId;
use super::message::Effect;
use crate::worker::engine::protocol::EngineRequest;
use crate::worker::envelope::{Envelope, RequestId};
use crate::worker::library::protocol::LibraryRequest;

/// Collects the effects of the message that is being handled, and numbers the requests among them.
#[derive(Default)]
pub struct Outbox {
    effects: Vec<Effect>,
    last_request: RequestId,
}

impl Outbox {
    /// Adds an effect, which is carried out after the message is handled.
    pub fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The id of a new request.
    pub fn next_id(&mut self) -> RequestId {
        self.last_request = self.last_request.next();
        self.last_request
    }

    /// Sends a new request with these files to the engine, and returns its id.
    pub fn ask_engine(&mut self, body: EngineRequest, files: Vec<FileId>) -> RequestId {
        let id = self.next_id();
        self.emit(Effect::SendToEngine(Envelope { id, body }, files));
        id
    }

    /// Sends a new request to the library, and returns its id.
    pub fn ask_library(&mut self, body: LibraryRequest) -> RequestId {
        let id = self.next_id();
        self.emit(Effect::SendToLibrary(Envelope { id, body }));
        id
    }

    /// Stores a text for a reload of this tab.
    pub fn remember_in_tab(&mut self, key: &'static str, text: String) {
        self.emit(Effect::RememberInTab { key, text });
    }

    /// Stores a text for later visits, or removes it.
    pub fn remember_for_visits(&mut self, key: &'static str, text: Option<String>) {
        self.emit(Effect::RememberForVisits { key, text });
    }
}
