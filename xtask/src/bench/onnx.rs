//! Inputs to measure onnxruntime-web: its package, the model's weights as ONNX, and our engine's scores of a text.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::npm;
use crate::command::{cache, command, find, output, root, run};
use crate::python::environment_in;

/// The measured version of onnxruntime-web.
pub const ONNXRUNTIME: &str = "1.30.0";

/// Creates a folder with all inputs in `target`, which also contains our program. The text has `tokens` ids.
pub fn prepare(target: &Path, model: &Path, tokens: usize) -> Result<PathBuf> {
    let package = npm::package("onnxruntime-web", ONNXRUNTIME)?;
    let python = python()?;
    let folder = target.join("onnx");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder)?;
    symlink(package, folder.join("onnxruntime-web"))?;
    run(command(python, &["tests/bench/onnx/convert.py"]).arg(model).arg(&folder))?;
    score(target, model, tokens, &folder)?;
    Ok(folder)
}

/// A Python interpreter with the packages that the script needs.
fn python() -> Result<PathBuf> {
    let wanted = root().join("tests/bench/onnx/requirements.txt");
    find("python3").context("there is no Python on this machine to write the model's weights as ONNX with")?;
    let packages = ["--requirement", wanted.to_str().context("the path of the checkout is not UTF-8")?];
    environment_in(&cache()?.join("onnx-venv"), &wanted, &packages)
}

/// Writes `scores.json`: ids that every vocabulary has, and our engine's scores of them.
fn score(target: &Path, model: &Path, tokens: usize, folder: &Path) -> Result<()> {
    let (asked, scores) = (folder.join("ids.json"), folder.join("scores.json"));
    let ids: Vec<usize> = (0..tokens).map(|i| i * i % 251).collect();
    fs::write(&asked, json!({"ids": ids}).to_string())?;
    let mut score = command(target.join("release/glasscage"), &["score", "--model"]);
    fs::write(scores, output(score.arg(model).stdin(File::open(asked)?))?)?;
    Ok(())
}
