//! A local model is read in place. Where the visitor asks for it, a copy is kept for later visits, on the way that downloads take.

use leptos::prelude::*;

use super::browser;
use super::choice::Choice;
use super::download::Download;
use super::state::{ModelState, Page};
use crate::library::messages::{Part, Place, Wanted};
use crate::problem::Problem;

impl Page {
    /// Whether the model that answers can be copied now. Tracked.
    pub fn can_keep_copy(&self) -> bool {
        let is_local = self.choice.with(|choice| matches!(choice, Choice::Files(_)));
        let is_ready = self.model.with(|model| matches!(model, ModelState::Ready(_)));
        let is_going_on = self.library.download.with(|download| download.as_ref().is_some_and(|download| !download.is_paused()));
        is_local && is_ready && !is_going_on
    }

    /// Copies the local model that answers into the browser's storage.
    pub fn keep_copy(&self) {
        let Choice::Files(name) = self.choice.get_untracked() else { return };
        let files = self.engine.with_value(|engine| engine.files.clone());
        let part = |file| Some(Part::of_device(&web_sys::File::name(file), file.size() as u64, file.last_modified(), browser::lend(file)?));
        match files.iter().map(part).collect() {
            Some(parts) => self.fetch(Wanted { name, parts }),
            None => {
                self.problem.set(Some(Problem::new("The browser did not let the file be copied", "Open the file again, then try again")))
            }
        }
    }

    /// The model that answers is the same; from now on it comes from the storage.
    pub(super) fn copy_arrived(&self, copy: Download, place: Place) {
        let name = copy.wanted.name;
        if let Place::Kept(id) = place
            && self.choice.get_untracked() == Choice::Files(name.clone())
        {
            self.library.copied.set(Some(id.clone()));
            let choice = Choice::Kept { id, name };
            choice.remember();
            self.choice.set(choice);
            self.keep_for_offline();
        }
    }

    /// Whether the model that answers was copied on this visit. Tracked.
    pub fn is_copied(&self) -> bool {
        let copied = self.library.copied.get();
        self.choice.with(|choice| matches!(choice, Choice::Kept { id, .. } if copied.as_ref() == Some(id)))
    }
}
