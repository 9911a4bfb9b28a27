//! Text: its language, its sentences and other units, and the tokens of each unit.

pub mod brackets;
pub mod fences;
pub mod given;
pub mod languages;
pub mod lines;
pub mod passages;
pub mod sections;
pub mod sentences;
pub mod spans;
pub mod stream;
pub mod words;
