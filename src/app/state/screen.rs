//! The part of the page next to the form.

use super::lesson::OpenLesson;
use super::remote::Remote;

/// One of these is on screen at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Screen {
    /// The explanation in [`super::State::explanation`], or only the form if there is none.
    Explanation {
        /// The fragment that opened it, if it is an entry of the gallery.
        gallery: Option<String>,
    },
    /// The question whether to fetch the explanation that a link names from another site.
    Remote(Remote),
    /// A lesson. [`super::State::explanation`] contains the explanation that its step shows, or the result of a run.
    Lesson(Box<OpenLesson>),
}

impl Default for Screen {
    fn default() -> Self {
        Self::Explanation { gallery: None }
    }
}
