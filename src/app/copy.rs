//! A local model is read in place. Where the visitor asks for it, a copy is kept for later visits, on the way that downloads take.

use leptos::prelude::*;
use web_sys::File;

use super::browser;
use super::choice::Choice;
use super::state::{ModelState, Page};
use crate::library::download_spec::{DownloadSpec, FileSpec};
use crate::library::stored_models::ModelLocation;
use crate::problem::Problem;

impl Page {
    /// Whether the model that answers can be copied now. Tracked.
    pub fn can_keep_copy(&self) -> bool {
        let is_local = self.choice.with(|choice| matches!(choice, Choice::Files(_)));
        let is_ready = self.model.with(|model| matches!(model, ModelState::Ready(_)));
        is_local && is_ready && !self.is_downloading()
    }

    /// Copies the local model that answers into the browser's storage.
    pub fn keep_copy(&self) {
        let Choice::Files(name) = self.choice.get_untracked() else { return };
        let files = self.engine.with_value(|engine| engine.files.clone());
        let readable = |file: &File| Some(FileSpec { object_url: Some(browser::create_object_url(file)?), ..file_spec(file) });
        match files.iter().map(readable).collect() {
            Some(files) => self.fetch(DownloadSpec { name, files }),
            None => {
                self.problem.set(Some(Problem::new("The browser did not let the file be copied", "Open the file again, then try again")))
            }
        }
    }

    /// Where it is still the model that answers, that comes from the storage from now on.
    pub(super) fn copy_arrived(&self, copy: &DownloadSpec, place: ModelLocation) {
        let addresses = copy.files.iter().map(|part| part.address.clone());
        let is_same = self.engine.with_value(|engine| engine.files.iter().map(|file| file_spec(file).address).eq(addresses));
        let Choice::Files(name) = self.choice.get_untracked() else { return };
        if let ModelLocation::Stored(id) = place
            && is_same
        {
            self.library.copied.set(Some(id.clone()));
            let choice = Choice::Kept { id, name };
            choice.remember();
            self.choice.set(choice);
            self.keep_for_offline();
        }
    }

    /// Where the copy is deleted, the file itself answers again.
    pub(super) fn forget_copy(&self, deleted: &[String]) {
        let copied = self.library.copied.get_untracked().filter(|copied| deleted.contains(copied));
        let Some(copied) = copied else { return };
        self.library.copied.set(None);
        let has_file = self.engine.with_value(|engine| !engine.files.is_empty());
        match self.choice.get_untracked() {
            Choice::Kept { id, name } if id == copied && has_file => self.choice.set(Choice::Files(name)),
            _ => {}
        }
    }

    /// Whether the model that answers was copied on this visit. Tracked.
    pub fn is_copied(&self) -> bool {
        let copied = self.library.copied.get();
        self.choice.with(|choice| matches!(choice, Choice::Kept { id, .. } if copied.as_ref() == Some(id)))
    }
}

fn file_spec(file: &File) -> FileSpec {
    FileSpec::local(&file.name(), file.size() as u64, file.last_modified())
}
