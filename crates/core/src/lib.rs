//! The core of Glasscage: what is computed from an attribution table, without a model, a browser or a GPU.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`table`] | the shape of the table **T**: a score for each generated sentence and everything before it |
//! | [`graph`] | T -> A -> Y: edge weights, attributions, pruning and arcs, as pure functions |
//! | [`metrics`] | how good an attribution is: coverage, deletion curves, agreement |
//! | [`explanation`] | the document that carries text, sentences and table, as JSON and as a link |
//! | [`figure`] | an explanation as a picture that carries it |
//! | [`shares`] | the influence of each sentence on the explained ones |
//! | [`tables`] | T, A, Y and the shares as CSV, Markdown and LaTeX |
//! | [`html`] | a page with a viewer and a document in it |
//! | [`lesson`] | steps through explanations, with questions to the reader, as JSON and as a link |
//! | [`open`] | any of these files, known by what is in it |
//!
//! ```
//! use glasscage_core::graph::{Normalization, context_attribution, normalize};
//! use glasscage_core::table::Table;
//!
//! // Two prompt sentences; the first generated sentence rests on the first of them, the second on the other and on the first step.
//! let scores = [[Some(2.0), Some(0.0), None, None], [Some(-0.1), Some(1.5), Some(1.5), None]];
//! let table = Table::try_from(scores.map(Vec::from).to_vec())?;
//! let adjacency = normalize(&table, Normalization::Full);
//! assert_eq!(context_attribution(&adjacency, &[1]), [0.5, 0.5]);
//! # Ok::<(), glasscage_core::table::ShapeError>(())
//! ```

pub mod explanation;
pub mod figure;
pub mod graph;
pub mod html;
pub mod lesson;
mod mailed;
pub mod metrics;
pub mod open;
pub mod order;
mod packed;
pub mod shares;
pub mod table;
pub mod tables;
