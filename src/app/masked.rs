//! The masked language model that one of the methods needs: chosen by the visitor, read by the worker.

use leptos::prelude::*;
use web_sys::File;

use super::state::Page;
use crate::worker::client::Request;

/// What is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaskedLm {
    #[default]
    None,
    Reading,
    Ready,
}

impl Page {
    /// Takes the model in these files from now on.
    pub fn choose_masked_lm(&self, files: Vec<File>) {
        self.problem.set(None);
        self.engine.update_value(|engine| engine.masked_lm = files);
        self.send_masked_lm();
    }

    /// Gives the files to the worker, which may be a new one.
    pub(super) fn send_masked_lm(&self) {
        if self.engine.with_value(|engine| !engine.masked_lm.is_empty()) {
            self.masked_lm.set(MaskedLm::Reading);
            self.send(&Request::MaskedLm);
        }
    }

    /// Where the files turned out to be none of a masked language model.
    pub(super) fn forget_masked_lm(&self) {
        if self.masked_lm.get_untracked() == MaskedLm::Reading {
            self.masked_lm.set(MaskedLm::None);
            self.engine.update_value(|engine| engine.masked_lm = Vec::new());
        }
    }
}
