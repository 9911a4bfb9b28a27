//! The explanation as a document: what the page renders, whoever made it.

mod document;
mod export;
mod link;
mod methods;

pub use document::{Aggregation, Answer, Document, DocumentError, FORMAT, Manifest, Method, Model, Passage, Sampling, Stop, Unit, VERSION};
pub use export::table_csv;
pub use link::{LinkError, SCHEME, from_fragment, to_fragment};
pub use methods::{METHODS, MethodText, method_text, method_words};
