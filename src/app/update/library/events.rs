//! Handles events from the library's worker.

use super::super::engine::release;
use super::remember_unfinished;
use crate::app::state::State;
use crate::app::state::library::Library;
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::place::Place;
use crate::library::stored_models::ModelLocation;
use crate::worker::envelope::Envelope;
use crate::worker::library::protocol::LibraryEvent;

impl Library {
    fn preview_event(&mut self, event: LibraryEvent) {
        match event {
            LibraryEvent::Preview(preview) => *self.preview = Some(*preview),
            LibraryEvent::Failed(problem) => *self.problem = Some(problem),
            _ => return,
        }
        self.preview_request = None;
        *self.asked = None;
    }
}

impl State {
    pub(in crate::app::update) fn library_event(&mut self, Envelope { id, body }: Envelope<LibraryEvent>) {
        if let LibraryEvent::StoredModels(stored) = body {
            self.library.standard.find(&stored, &mut self.outbox);
            *self.library.stored = Some(stored);
        } else if self.library.download_request == Some(id) {
            self.download_event(body);
        } else if self.library.preview_request == Some(id) {
            self.library.preview_event(body);
        } else if *self.library.standard.request == Some(id) {
            self.standard_previewed(body);
        } else if self.library.deletion_request == Some(id)
            && let LibraryEvent::Failed(problem) = body
        {
            *self.library.problem = Some(problem);
        }
    }

    fn download_event(&mut self, event: LibraryEvent) {
        let now_millis = self.now_millis;
        let Some(download) = &mut *self.library.download else { return };
        match event {
            LibraryEvent::Progress(progress) => download.advanced(progress, now_millis),
            LibraryEvent::Replaced(spec) => {
                download.spec = spec.clone();
                remember_unfinished(&spec, &mut self.outbox);
            }
            LibraryEvent::Paused(problem) => self.library.download_paused(problem),
            LibraryEvent::Failed(problem) => self.library.download_paused(Some(problem)),
            LibraryEvent::Completed(location) => self.download_completed(location),
            LibraryEvent::Discarded(problem) => {
                self.library.end_download(&mut self.outbox);
                self.fail_at(Place::Page, problem);
            }
            LibraryEvent::StoredModels(_) | LibraryEvent::Preview(_) | LibraryEvent::Done => {}
        }
    }

    /// Loads the downloaded model. If the engine is busy, the model waits for the visitor.
    fn download_completed(&mut self, location: ModelLocation) {
        let Some(spec) = self.library.end_download(&mut self.outbox) else { return };
        if spec.is_local_copy() {
            return self.copy_arrived(&spec, location);
        }
        let name = spec.name;
        let choice = match location {
            ModelLocation::Stored(id) => ModelChoice::Stored { id, name },
            ModelLocation::Memory(address) => ModelChoice::Memory { address, name },
        };
        match self.engine.is_busy() {
            true => {
                let before = self.library.arrived.replace(choice);
                before.into_iter().for_each(|before| release(before, &mut self.outbox));
            }
            false => self.choose_model(choice, Vec::new()),
        }
    }
}
