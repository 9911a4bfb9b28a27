//! Text: sentences, and which tokens belong to which.

pub mod sentences;
pub mod spans;
