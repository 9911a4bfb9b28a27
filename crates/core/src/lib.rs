//! The core of Glasscage: everything computed from an attribution table, without a model, a browser or a GPU.
//!
//! | module | contents |
//! | --- | --- |
//! | [`table`] | the shape of the table **T**: a score for each generated sentence and everything before it |
//! | [`graph`] | T -> A -> Y: edge weights, attributions, pruning and arcs, as pure functions |
//! | [`metrics`] | quality of an attribution: coverage, deletion curves, agreement |
//! | [`explanation`] | explanation documents with text, sentences and table, as JSON and as a link |
//! | [`conversation`] | conversations that people paste, as turns and as text |
//! | [`figure`] | pictures of an explanation with the explanation embedded |
//! | [`shares`] | the influence of each sentence on the explained ones, as page, pictures and tables show it |
//! | [`number`] | shares and numbers as text, in any language |
//! | [`tables`] | T, A, Y and the shares as CSV, Markdown and LaTeX |
//! | [`html`] | standalone HTML files with a viewer and a document |
//! | [`lesson`] | steps through explanations, with questions to the reader, as JSON and as a link |
//! | [`open`] | opens any of these files by its content |
//! | [`rng`] | random numbers that are the same on every platform |
//!
//! ```
//! use glasscage_core::graph::{Normalization, context_attribution, normalize};
//! use glasscage_core::table::Table;
//!
//! // Two prompt sentences. G1 depends on the first one. G2 depends equally on the second one and on G1.
//! let scores = [[Some(2.0), Some(0.0), None, None], [Some(-0.1), Some(1.5), Some(1.5), None]];
//! let table = Table::try_from(scores.map(Vec::from).to_vec())?;
//! let adjacency = normalize(&table, Normalization::Full);
//! assert_eq!(context_attribution(&adjacency, &[1]), [0.5, 0.5]);
//! # Ok::<(), glasscage_core::table::ShapeError>(())
//! ```

pub mod conversation;
pub mod explanation;
pub mod figure;
pub mod graph;
pub mod html;
pub mod lesson;
mod link_repair;
pub mod metrics;
pub mod number;
pub mod open;
pub mod order;
mod packed;
pub mod rng;
pub mod shares;
pub mod table;
pub mod tables;
