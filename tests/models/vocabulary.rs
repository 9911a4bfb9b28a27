//! Vocabularies of real models, from `tests/golden/tokenizers`.

use std::path::Path;

use miniz_oxide::inflate::decompress_to_vec_zlib;

/// A GGUF file without tensors: the tokenizer and chat template of `gpt-2`, `llama-2`, `llama-3` or `qwen3`.
pub fn vocabulary(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/tokenizers/{name}.gguf.zlib"));
    let compressed = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    decompress_to_vec_zlib(&compressed).expect("a zlib stream")
}
