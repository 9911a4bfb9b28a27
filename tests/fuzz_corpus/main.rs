//! Runs the fuzz targets on their corpus: the first part of `cargo xtask fuzz`, without its search for new inputs.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::missing_assert_message, reason = "the fuzzer shows the input that breaks a promise")]

#[path = "../fuzz/src/documents.rs"]
mod documents;
#[path = "../fuzz/src/gguf.rs"]
mod gguf;
#[path = "../fuzz/src/hostile.rs"]
mod hostile;
#[path = "../fuzz/src/library.rs"]
mod library;
#[path = "../fuzz/src/models.rs"]
mod models;
#[path = "../fuzz/src/targets.rs"]
mod targets;
#[path = "../fuzz/src/texts.rs"]
mod texts;

use std::path::Path;

use targets::TARGETS;

/// Each input of the corpus, whole and cut after one third and two thirds of its length.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let whole = entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("an input"));
    whole.flat_map(|bytes| [bytes[..bytes.len() / 3].to_vec(), bytes[..2 * bytes.len() / 3].to_vec(), bytes]).collect()
}

#[test]
fn targets_take_their_corpus() {
    let mut n_inputs = 0;
    for (name, target) in TARGETS {
        // Initialize the target first, as the fuzzer does.
        target(&[]);
        for input in inputs(name) {
            target(&input);
            n_inputs += 1;
        }
    }
    assert!(n_inputs >= 90, "the corpus has {n_inputs} inputs");
}
