//! Creates model files of realistic size, for benchmarks and slow tests.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;

use crate::command::{build, cache, command, run};
use crate::setup::Tools;

/// A model with random parameters and the tokenizer of Qwen 3, stored in the cache. `shape` and `quant` are names of the example
/// `random_model`.
pub fn make(native: &Tools, shape: &str, quant: &str) -> Result<PathBuf> {
    let model = cache()?.join("models").join(format!("random-{shape}-{}.gguf", quant.to_lowercase()));
    if model.is_file() {
        return Ok(model);
    }
    fs::create_dir_all(cache()?.join("models"))?;
    run(&mut native.command("cargo", &["build", "--locked", "--release", "--example", "random_model"])?)?;
    run(command(build().join("target/release/examples/random_model"), &["--shape", shape, "--quant", quant]).arg(&model))?;
    Ok(model)
}
