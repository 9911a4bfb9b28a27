//! Engines, methods, tokenizers and the command line against independent oracles. One program, so that the libraries are linked once.

#![cfg(not(target_arch = "wasm32"))]

mod architectures;
mod batches;
#[path = "../models/blocks.rs"]
mod block_models;
mod chat;
mod cli;
mod damaged;
#[path = "../fuzz/src/documents.rs"]
mod documents;
mod evaluate;
mod export;
mod families;
mod fuzz_corpus;
#[path = "../fuzz/src/models.rs"]
mod fuzz_models;
#[path = "../fuzz/src/gguf.rs"]
mod gguf;
mod gpu;
mod gradients;
#[path = "../fuzz/src/hostile.rs"]
mod hostile;
mod infill;
mod interpreter;
mod kernels;
#[path = "../fuzz/src/library.rs"]
mod library;
mod masked;
#[path = "../models/masked.rs"]
mod masked_model;
mod methods;
#[path = "../models/mod.rs"]
mod models;
mod pace;
mod parallel;
mod readouts;
mod registry;
mod sentences;
mod split;
#[path = "../models/split.rs"]
mod split_model;
mod stories;
#[path = "../fuzz/src/texts.rs"]
mod texts;
mod thinking;
mod tokenizer;
mod translations;
#[path = "../models/vocabulary.rs"]
mod vocabulary;
mod words;
