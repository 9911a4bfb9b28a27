//! # Glasscage: why did the model answer that?
//!
//! (architecture page: written out below as the house grows)
pub mod explanation;
pub mod graph;
pub mod problem;
pub mod table;
pub mod worker;
