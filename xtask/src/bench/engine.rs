//! Measures one engine, natively or in a browser.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::command::{command, run, with_runtime_dir};

/// Runs one engine natively. Returns its measurements, or an error message instead.
pub fn native(target: &Path, model: &Path, backend: &str, job: [usize; 3]) -> Result<Value> {
    let out = target.join(format!("bench-{backend}.json"));
    let [tokens, sentences, generated] = job.map(|size| size.to_string());
    let arguments = ["bench", "--backend", backend, "--tokens", &tokens, "--sentences", &sentences, "--generated", &generated];
    let mut bench = command(target.join("release/glasscage"), &arguments);
    with_runtime_dir(&mut bench);
    match run(bench.arg("--model").arg(model).arg("--json").arg(&out)) {
        Ok(()) => read(&out),
        Err(error) => Ok(json!({"error": format!("{error:#}")})),
    }
}

/// Runs the engines in a browser. `test` is complete except for the output file.
pub fn browser(test: &mut Command, target: &Path) -> Result<Value> {
    let out = target.join("bench-browser.json");
    match run(test.env("GLASSCAGE_BENCH_JSON", &out)) {
        Ok(()) => read(&out),
        Err(error) => Ok(json!({"error": format!("{error:#}")})),
    }
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("{} was not written", file.display()))?;
    Ok(serde_json::from_str(&text)?)
}
