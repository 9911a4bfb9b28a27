//! A loaded model and its operations. The worker and the command line are thin wrappers around this crate.
//!
//! ```text
//! question ─► answer: frame the prompt, generate   ─► text: tokens, sentences ─► document: nothing measured yet
//!             branch: from an alternative of a token
//!          ─► explain: a column of the table for each source;  deletion_curves, words, contrast: of the same answer
//! ```

mod answer;
mod answer_check;
mod answer_features;
mod branch;
mod contrast;
mod device;
mod document;
mod explain;
mod generated;
mod given;
#[cfg(all(test, target_arch = "wasm32"))]
mod in_a_worker;
mod infills;
mod loaded;
mod other_answers;
mod passages;
mod problems;
mod prompt;
mod results;
mod text;
mod tokens;
mod warning;
mod words;

pub use explain::enter_pairs;
pub use given::with_given_texts;
pub use loaded::Session;
pub use results::{AnswerResult, AnsweredQuestion, ExplainResult};
