//! The explanation as a document: what the page renders, whoever made it.

mod document;
#[cfg(test)]
mod example;
mod export;
mod link;
mod manifest;
mod method;
mod methods;
mod passage;

pub use document::{Document, DocumentError, FORMAT, VERSION};
pub use export::table_csv;
pub use link::{LinkError, SCHEME, from_fragment, to_fragment};
pub use manifest::{Answer, AnswerStop, Manifest, Model, Sampling};
pub use method::{Aggregation, Method};
pub use methods::{METHODS, MethodText};
pub use passage::{Passage, Unit};
