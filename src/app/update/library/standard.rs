//! Glasscage Standard: the visitor asks for it once, and the page downloads it if this device can hold it.

use super::first_address;
use crate::app::state::State;
use crate::app::state::download::Download;
use crate::app::state::model_choice::ModelChoice;
use crate::app::state::outbox::Outbox;
use crate::app::state::place::Place;
use crate::app::state::standard::{Standard, StandardOffer};
use crate::app::state::storage_keys;
use crate::library::standard::{NAME, obstacle};
use crate::library::stored_models::StoredModels;
use crate::worker::library::protocol::{LibraryEvent, LibraryRequest};

impl State {
    /// The offer in the form. `None` if Standard is chosen or waits for the visitor, another model is chosen, or another download is
    /// running before Standard is stored. If the address names Standard, another chosen model does not matter.
    pub fn standard_offer(&self) -> Option<StandardOffer> {
        let standard = &self.library.standard;
        let is_standard = |choice: &ModelChoice| choice.name() == NAME;
        let is_wanted = standard.is_in_address || *self.engine.choice == ModelChoice::BuiltIn;
        if !is_wanted || is_standard(&self.engine.choice) || self.library.arrived.as_ref().is_some_and(is_standard) {
            return None;
        }
        if let Some(id) = &*standard.id {
            return Some(StandardOffer::Use(id.clone()));
        }
        match &*self.library.download {
            Some(Download { spec, .. }) if spec.name == NAME => Some(StandardOffer::Arriving),
            Some(other) if !other.is_paused() => None,
            _ => Some(StandardOffer::Download(*standard.obstacle)),
        }
    }

    /// Asks server and device first. The download follows if there is no obstacle.
    pub(super) fn get_standard(&mut self) {
        if self.library.standard.request.is_some() || self.library.is_downloading() {
            return;
        }
        *self.problem = None;
        *self.library.standard.obstacle = None;
        let preview = LibraryRequest::Preview(self.library.standard.spec.clone());
        *self.library.standard.request = Some(self.library.ask(preview, &mut self.outbox));
    }

    pub(super) fn standard_previewed(&mut self, event: LibraryEvent) {
        *self.library.standard.request = None;
        match event {
            LibraryEvent::Preview(preview) => match obstacle(&preview) {
                None => self.library.download(preview.spec, &mut self.outbox),
                obstacle => *self.library.standard.obstacle = obstacle,
            },
            LibraryEvent::Failed(problem) => self.fail_at(Place::Editor, problem),
            _ => {}
        }
    }

    /// Reads the storage again after a failed load, because the browser may have deleted the model.
    pub(in crate::app::update) fn check_standard(&mut self) {
        if self.engine.choice.name() == NAME {
            self.library.ask(LibraryRequest::ListModels, &mut self.outbox);
        }
    }
}

impl Standard {
    /// Looks for the model among the stored ones. Remembers the result for the next visit, because the library's worker starts only when it
    /// is needed.
    pub(super) fn find(&mut self, stored: &StoredModels, outbox: &mut Outbox) {
        let address = first_address(&self.spec);
        let found = stored.models.iter().find(|model| model.is_complete() && first_address(&model.spec) == address);
        let id = found.map(|model| model.id.clone());
        if *self.id != id {
            (*self.id).clone_from(&id);
            outbox.remember_for_visits(storage_keys::STANDARD, id);
        }
    }
}
