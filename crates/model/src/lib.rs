//! Model files: GGUF header, configuration, tokenizer, chat template. No module here runs a model.
//!
//! The feature `testing` is for the tests of crates that run models: configurations and random weights.

pub mod arch;
pub mod chat;
pub mod config;
pub mod dequantize;
pub mod gguf;
pub mod quant;
pub mod source;
pub mod stream;
pub mod summary;
pub mod tensors;
pub mod tokenizer;
