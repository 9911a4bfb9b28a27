//! Compares engines, methods, tokenizers and the command line with independent oracles. One program, so that libraries are linked once.

#![cfg(not(target_arch = "wasm32"))]

mod architectures;
mod batches;
#[path = "../models/blocks.rs"]
mod block_models;
mod branches;
mod chat;
mod cli;
mod contrast;
mod conversations;
mod damaged;
mod evaluate;
mod export;
mod families;
mod gpu;
mod gradients;
mod hosts;
mod infill;
mod interpreter;
mod interrupted;
mod kernels;
mod masked;
#[path = "../models/masked.rs"]
mod masked_model;
mod methods;
#[path = "../models/mod.rs"]
mod models;
mod pace;
mod parallel;
mod passages;
mod quantize;
mod readouts;
#[path = "../models/real.rs"]
mod real;
mod real_model;
#[path = "../hosts/mod.rs"]
mod recipes;
mod registry;
mod sentences;
mod sessions;
mod split;
#[path = "../models/split.rs"]
mod split_model;
mod stories;
mod thinking;
mod tokenizer;
mod tokenizer_notices;
mod translations;
mod units;
mod usable_parts;
#[path = "../models/vocabulary.rs"]
mod vocabulary;
mod words;

/// Whether `cargo xtask test --all` runs the test. Then it tries more cases.
fn is_thorough() -> bool {
    std::env::var_os("GLASSCAGE_THOROUGH").is_some()
}
