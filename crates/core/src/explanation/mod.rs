//! Explanation documents, which the page renders no matter which program made them.

mod branch;
mod citations;
mod contrast;
mod document;
#[cfg(test)]
mod document_tests;
#[cfg(test)]
pub(crate) mod example;
mod file_names;
mod groups;
mod joint;
mod language;
mod limits;
mod link;
mod manifest;
mod method;
mod methods;
mod passage;
mod speakers;
mod title;
mod tokens;
mod turns;
mod version;

pub use branch::Branch;
pub use citations::{Citation, CitationMark, CitationState, MIN_EFFECT, citation_marks, citations};
pub use contrast::Contrast;
pub use document::{Document, DocumentError, FORMAT, MAX_SENTENCES};
pub use groups::{Group, GroupKind, label_and_number};
pub use joint::JointEffect;
pub use language::Language;
pub use limits::{MAX_GROUPS, TooLarge};
pub(crate) use link::from_fragment_within;
pub use link::{LinkError, from_fragment, is_link, to_fragment};
pub use manifest::{Answer, AnswerStop, AnswerWarning, Manifest, Model, Producer, Sampling, SentenceRule};
pub use method::{Aggregation, Compression, Derivation, Method, Weighting};
pub use methods::{METHODS, MethodId, MethodText, NATS, Replacement, ScoredTexts};
pub use passage::{Passage, Section, SectionKind, Unit};
pub use speakers::{LastAnswer, PlacedUnit};
pub use title::title;
pub use tokens::{Alternative, MAX_ALTERNATIVES, MAX_FORKS, Token, forks, mean_probability, total_log_probability};
pub use turns::{Speaker, Turn};
pub use version::{PLAIN_VERSION, VERSION};
