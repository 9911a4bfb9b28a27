//! Model files: GGUF header, configuration, tokenizer, chat template. No module here runs a model.

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
