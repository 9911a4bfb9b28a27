//! Text: its language, its sentences and words, and the tokens of each sentence.

pub mod given;
pub mod languages;
pub mod sentences;
pub mod spans;
pub mod stream;
pub mod words;
