//! Text: its language, its sentences and words, and which tokens belong to which.

pub mod given;
pub mod languages;
pub mod sentences;
pub mod spans;
pub mod stream;
pub mod words;
