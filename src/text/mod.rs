//! Text: sentences, words, and which tokens belong to which.

pub mod sentences;
pub mod spans;
pub mod stream;
pub mod words;
