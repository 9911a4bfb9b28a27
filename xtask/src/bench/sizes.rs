//! What a visitor downloads, in bytes, compressed as a good host does it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::command::{command, find};

const BROTLI: &str = "const [zlib, fs] = [require('zlib'), require('fs')];
for (const file of process.argv.slice(1)) console.log(zlib.brotliCompressSync(fs.readFileSync(file)).length)";

/// How the names of the files begin that wasm-split-cli cuts out of the page: what one function needs, and what several need.
const PARTS: [&str; 2] = ["split_", "chunk_"];

/// Page without engine, its parts that are loaded when needed, worker, and the peers: of onnxruntime-web the build without WebGPU.
pub fn measure(dist: &Path, wllama: Option<&Path>, onnx: Option<&Path>) -> Result<Value> {
    let entries = std::fs::read_dir(dist)?.collect::<std::io::Result<Vec<_>>>()?;
    let files = entries.iter().map(|entry| entry.path()).filter(|path| path.is_file());
    // Icons are for those who install the page.
    let is_icon = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "png");
    let files: Vec<PathBuf> = files.filter(|path| !is_icon(path)).collect();
    let begins = |path: &PathBuf, with: &str| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(with));
    let (engine, page): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| begins(path, "engine"));
    let (parts, page): (Vec<_>, Vec<_>) = page.into_iter().partition(|path| PARTS.iter().any(|with| begins(path, with)));
    let compression = if find("node").is_some() { "brotli" } else { "gzip" };
    let peer = |folder: Option<&Path>, files: [&str; 2]| folder.map(|folder| sizes(&files.map(|file| folder.join(file)), compression));
    let onnxruntime = ["ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"];
    Ok(json!({
        "compression": compression,
        "page": sizes(&page, compression)?,
        "parts": sizes(&parts, compression)?,
        "engine": sizes(&engine, compression)?,
        "wllama": peer(wllama, ["esm/index.min.js", "esm/wasm/wllama.wasm"]).transpose()?,
        "onnxruntime": peer(onnx.map(|folder| folder.join("onnxruntime-web/dist")).as_deref(), onnxruntime).transpose()?,
    }))
}

fn sizes(files: &[PathBuf], compression: &str) -> Result<Value> {
    let raw = files.iter().map(|file| Ok(file.metadata()?.len())).sum::<Result<u64>>()?;
    let compressed = if compression == "brotli" { brotli(files) } else { gzip(files) }?;
    Ok(json!({"raw": raw, "compressed": compressed}))
}

fn brotli(files: &[PathBuf]) -> Result<usize> {
    let printed = stdout(command("node", &["-e", BROTLI, "--"]).args(files))?;
    Ok(String::from_utf8(printed)?.lines().map(|line| line.parse::<usize>().unwrap_or(0)).sum())
}

fn gzip(files: &[PathBuf]) -> Result<usize> {
    files.iter().map(|file| Ok(stdout(command("gzip", &["-9", "-c"]).arg(file))?.len())).sum()
}

fn stdout(command: &mut Command) -> Result<Vec<u8>> {
    Ok(command.output().context("cannot compress")?.stdout)
}
