//! `cargo xtask bench`: measures this engine natively and in a browser. In the same browser, measures wllama with the same file and
//! onnxruntime-web with the same weights.
//!
//! Compare only ratios within one run, because the machine may be busy with other work. For the same reason, times are CPU times.

mod engine;
mod gpu;
mod machine;
mod npm;
mod onnx;
mod table;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use self::onnx::ONNXRUNTIME;
use crate::browsers::Browser;
use crate::command::{build as build_folder, run};
use crate::setup::WASM;
use crate::sizes::{self, Sizes};
use crate::{build, random_model, setup};

/// The measured version of wllama.
const WLLAMA: &str = "3.13.0";

#[derive(Args)]
pub struct Options {
    /// Model to measure instead of one with 42 million random parameters
    #[arg(long, value_name = "FILE", value_parser = absolute)]
    model: Option<PathBuf>,
    /// Write all measurements to this file
    #[arg(long, value_name = "FILE", value_parser = absolute)]
    json: Option<PathBuf>,
    /// Numbers of tokens, sentences, and generated sentences
    #[arg(long, value_name = "TOKENS,SENTENCES,GENERATED", default_value = "300,15,6", value_parser = sizes_of_job)]
    job: [usize; 3],
    /// Measure only these engines, in the browser: of wasm-cpu, wasm-cpu-2, webgpu, choice, graph, wllama, onnxruntime-wasm and
    /// onnxruntime-webgpu
    #[arg(long, value_name = "ENGINES", value_delimiter = ',')]
    engines: Vec<String>,
}

/// Commands run in the checkout, so make paths absolute first.
fn absolute(path: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(path)
}

fn sizes_of_job(text: &str) -> Result<[usize; 3]> {
    let sizes: Vec<usize> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
    sizes.try_into().ok().context("--job has three numbers, such as 300,15,6")
}

/// The random model that is measured by default.
const MODEL: (&str, &str) = ("42m", "Q8_0");

pub fn bench(options: Options) -> Result<()> {
    println!("{}", announcement(options.model.as_deref(), options.job, &options.engines));
    setup::browser(Browser::Chromium)?;
    let (native, web) = (setup::native(), setup::web()?);
    let dist = build_folder().join("dist");
    build::page(&web, &dist)?;
    // Build everything before the first measurement. Building the tests also builds the program.
    run(&mut native.command("cargo", &["test", "--release", "--test", "bench", "--no-run"])?)?;
    run(&mut web.command("cargo", &["build", "--profile", "engine", "--target", WASM, "--no-default-features", "--example", "graph"])?)?;
    let target = build_folder().join("target");
    let model = match options.model {
        Some(model) => model,
        None => random_model::make(&native, MODEL.0, MODEL.1)?,
    };
    let is_wanted = |engine: &str| options.engines.is_empty() || options.engines.iter().any(|wanted| wanted.starts_with(engine));
    let without = |engine: &str, error: &anyhow::Error| println!("without {engine}: {error:#}");
    let wllama = is_wanted("wllama").then(|| npm::package("@wllama/wllama", WLLAMA).inspect_err(|error| without("wllama", error)).ok());
    let onnx = is_wanted("onnxruntime")
        .then(|| onnx::prepare(&target, &model, options.job[0]).inspect_err(|error| without("onnxruntime-web", error)).ok());
    let (wllama, onnx) = (wllama.flatten(), onnx.flatten());
    let mut test = native.command("cargo", &["test", "--release", "--test", "bench", "--", "--ignored", "--nocapture"])?;
    test.env("GLASSCAGE_DIST", &dist).env("GLASSCAGE_BENCH_MODEL", &model);
    test.env("GLASSCAGE_BENCH_GRAPH", target.join(WASM).join("engine/examples/graph.wasm"));
    test.env("GLASSCAGE_BENCH_JOB", options.job.map(|size| size.to_string()).join(","));
    test.envs(wllama.as_ref().map(|wllama| ("GLASSCAGE_BENCH_WLLAMA", wllama)));
    test.envs(onnx.as_ref().map(|onnx| ("GLASSCAGE_BENCH_ONNX", onnx)));
    let mut report = json!({
        "machine": machine::describe(),
        "model": model.file_name().unwrap_or_default().to_string_lossy(),
        "sizes": sizes(&dist, wllama.as_deref(), onnx.as_deref())?,
    });
    if options.engines.is_empty() {
        report["native_cpu"] = engine::native(&target, &model, "cpu", options.job)?;
        report["native_gpu"] = engine::native(&target, &model, "gpu", options.job)?;
        report["gpu"] = gpu::measure(&native, &target, &report["native_gpu"])?;
    } else {
        test.env("GLASSCAGE_BENCH_ENGINES", options.engines.join(","));
    }
    report["browser"] = engine::browser(&mut test, &target)?;
    println!("\n{}\n{}", table::engines(&report) + &gpu::table(&report), targets::table(&report));
    let file = options.json.unwrap_or(target.join("bench.json"));
    fs::write(&file, serde_json::to_string_pretty(&report)? + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    println!("All numbers are in {}.", file.display());
    match report.pointer("/browser/error").and_then(Value::as_str) {
        Some(error) => bail!("nothing was measured in the browser: {error}"),
        None => Ok(()),
    }
}

/// Sizes of page and engine, and of what the other engines download. For onnxruntime-web, the build without WebGPU.
fn sizes(dist: &Path, wllama: Option<&Path>, onnx: Option<&Path>) -> Result<Value> {
    let version = build::version();
    let of = |folder: &Path, files: [&str; 2]| sizes::size(files.map(|file| folder.join(file)), &version);
    let mut sizes = Sizes::of(dist, &version)?.to_json();
    if let Some(wllama) = wllama {
        sizes["wllama"] = of(wllama, ["esm/index.min.js", "esm/wasm/wllama.wasm"])?.to_json();
    }
    if let Some(onnx) = onnx {
        let files = ["ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"];
        sizes["onnxruntime"] = of(&onnx.join("onnxruntime-web/dist"), files)?.to_json();
    }
    Ok(sizes)
}

/// Describes the measurement before it starts.
fn announcement(model: Option<&Path>, [tokens, sentences, generated]: [usize; 3], engines: &[String]) -> String {
    let model = match model {
        Some(model) => model.display().to_string(),
        None => format!("a Qwen 3 of {} random parameters, {}, made here,", MODEL.0.to_uppercase(), MODEL.1),
    };
    let how = match engines {
        [] => format!("natively and in the browser, on CPU and WebGPU, compared with wllama {WLLAMA} and onnxruntime-web {ONNXRUNTIME}"),
        engines => format!("{} in the browser", engines.join(", ")),
    };
    format!("Measuring {model} in a job of {tokens} tokens in {sentences} sentences, {generated} of them generated: {how}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcement_describes_measurement() {
        let said = announcement(None, [300, 15, 6], &[]);
        let expected =
            "Measuring a Qwen 3 of 42M random parameters, Q8_0, made here, in a job of 300 tokens in 15 sentences, 6 of them generated: ";
        assert!(said.starts_with(expected), "{said}");
        let said = announcement(Some(Path::new("/models/mine.gguf")), [100, 5, 2], &["wasm-cpu".to_owned(), "wllama".to_owned()]);
        let expected =
            "Measuring /models/mine.gguf in a job of 100 tokens in 5 sentences, 2 of them generated: wasm-cpu, wllama in the browser.";
        assert_eq!(said, expected);
    }
}
