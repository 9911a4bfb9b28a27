//! A lesson: explanations, and steps through them with texts and questions for the reader.

mod document;
mod edit;
mod link;
mod marks;
mod step;

pub use document::{FORMAT, Lesson, LessonError, MAX_EXPLANATIONS, VERSION};
pub use edit::is_same_explanation;
pub use link::{from_fragment, is_link, to_fragment};
pub use marks::MarkScore;
pub use step::{Question, Shown, Step};
