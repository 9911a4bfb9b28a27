//! Benchmark of the built page's engine and of other engines in a real browser. `cargo xtask bench` runs it.
//!
//! Environment variables: `GLASSCAGE_DIST` is the built page, `GLASSCAGE_BENCH_MODEL` a GGUF file, and `GLASSCAGE_BENCH_JSON` the output
//! file. Optional: `GLASSCAGE_BENCH_WLLAMA` is the unpacked npm package, `GLASSCAGE_BENCH_ONNX` a folder with onnxruntime-web, the model as
//! ONNX and `scores.json`, `GLASSCAGE_BENCH_GRAPH` the compiled `graph.rs`, and `GLASSCAGE_BENCH_ENGINES` the engines to measure, such as
//! `wasm-cpu,wllama`.

#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "the page's tests use the rest")]
#[path = "../page/browser/mod.rs"]
mod browser;
#[path = "../page/dist.rs"]
mod dist;
#[allow(dead_code, reason = "the page's tests use the rest")]
#[path = "../page/server.rs"]
mod server;
mod tree;

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use browser::Browser;
use dist::built_page;
use serde_json::{Value, json};
use server::Server;
use tree::{Seen, Watch};

/// Time limit for one engine.
const TIMEOUT: Duration = Duration::from_secs(600);
const PAGE: &[(&str, &str)] = &[
    ("bench.html", include_str!("site/bench.html")),
    ("bench.js", include_str!("site/bench.js")),
    ("bench-worker.js", include_str!("site/bench-worker.js")),
    ("text.js", include_str!("site/text.js")),
    ("wllama.js", include_str!("site/wllama.js")),
    ("onnxruntime.js", include_str!("site/onnxruntime.js")),
];
/// Names for `window.measure`, each with the file of the site that it needs.
const ENGINES: [(&str, &str); 8] = [
    ("wasm-cpu", "model.gguf"),
    ("wasm-cpu-2", "model.gguf"),
    ("webgpu", "model.gguf"),
    ("choice", "model.gguf"),
    ("graph", "graph.wasm"),
    ("wllama", "wllama"),
    ("onnxruntime-wasm", "onnx"),
    ("onnxruntime-webgpu", "onnx"),
];

fn path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Numbers of tokens, sentences and generated sentences of the job, such as `300,15,6`.
fn job() -> Value {
    let text = std::env::var("GLASSCAGE_BENCH_JOB").unwrap_or("300,15,6".into());
    let numbers: Vec<usize> = text.split(',').map(|number| number.parse().expect("GLASSCAGE_BENCH_JOB has three numbers")).collect();
    json!({"tokens": numbers[0], "sentences": numbers[1], "generated": numbers[2]})
}

/// Creates a folder with the built page, the page of the benchmark and the model.
fn site(name: &str, dist: &Path, model: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for entry in std::fs::read_dir(dist).expect("the built page").map(|entry| entry.expect("a file")) {
        symlink(entry.path(), folder.join(entry.file_name())).expect("a link");
    }
    PAGE.iter().for_each(|(name, content)| std::fs::write(folder.join(name), content).expect("a temporary file"));
    symlink(model, folder.join("model.gguf")).expect("a link");
    for (variable, name) in
        [("GLASSCAGE_BENCH_WLLAMA", "wllama"), ("GLASSCAGE_BENCH_ONNX", "onnx"), ("GLASSCAGE_BENCH_GRAPH", "graph.wasm")]
    {
        path(variable).into_iter().for_each(|linked| symlink(linked, folder.join(name)).expect("a link"));
    }
    folder
}

/// Measures one engine in a new browser.
async fn measure(url: &str, name: &str, job: &Value) -> Value {
    let browser = Browser::start(None).await;
    browser.driver.goto(format!("{url}bench.html")).await.expect("the page opens");
    let watch = Watch::start();
    browser.driver.execute("window.measure(...arguments)", vec![json!(name), job.clone()]).await.expect("a script runs");
    let began = Instant::now();
    let result = loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        // An engine that computes in the page's own thread, as onnxruntime-web does, keeps it from answering for a while.
        let result = browser.driver.execute("return window.result", Vec::new()).await;
        if let Some(result) = result.ok().filter(|result| !result.json().is_null()) {
            break result.json().clone();
        }
        if began.elapsed() > TIMEOUT {
            break json!({"error": format!("it took longer than {} s", TIMEOUT.as_secs())});
        }
    };
    // Wait for another sample, because the end of the last section lies between two samples.
    tokio::time::sleep(Duration::from_millis(100)).await;
    browser.close().await;
    priced(result, &watch.finish())
}

/// Time from an empty cache to the first explanation by the built-in model on the page as it ships, with one click.
async fn cold_page(url: &str) -> Value {
    let examples: Value = serde_json::from_str(include_str!("../../public/models/demo-examples.json")).expect("examples are JSON");
    let browser = Browser::open(url).await;
    browser.fill("prompt-input", examples["examples"][0]["prompt"].as_str().expect("a prompt")).await;
    browser.click("explain-button").await;
    browser.explained().await;
    let since_navigation = browser.driver.execute("return performance.now()", Vec::new()).await.expect("a script runs");
    let millis = since_navigation.json().as_f64().expect("a number");
    browser.close().await;
    json!({"wall_seconds": millis / 1e3})
}

/// Adds the cost of the sections in seconds, summed by name, and rates if there are tokens.
fn priced(mut result: Value, seen: &Seen) -> Value {
    let mut costs: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    for section in result["sections"].as_array().into_iter().flatten() {
        let [begin, end] = ["begin", "end"].map(|key| section[key].as_f64().expect("a time"));
        let [scale, tokens] = [("scale", 1.0), ("tokens", 0.0)].map(|(key, none)| section[key].as_f64().unwrap_or(none));
        let sum = costs.entry(section["name"].as_str().expect("a name").to_owned()).or_default();
        let more = [scale * (end - begin) / 1e3, scale * seen.cpu_seconds(begin, end), tokens];
        sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }
    let priced = costs.into_iter().map(|(name, [wall, cpu, tokens])| {
        let time = json!({"wall_seconds": wall, "cpu_seconds": cpu});
        let [per_second, per_cpu_second] = [tokens / wall, tokens / cpu];
        let rate = json!({
            "wall_seconds": wall, "cpu_seconds": cpu, "tokens": tokens, "per_second": per_second, "per_cpu_second": per_cpu_second,
        });
        (name, if tokens > 0.0 { rate } else { time })
    });
    result["cost"] = Value::Object(priced.collect());
    result.as_object_mut().expect("an object").remove("sections");
    let [renderer, gpu] = seen.peak_bytes();
    result["peak_renderer_bytes"] = json!(renderer);
    result["peak_gpu_process_bytes"] = json!(gpu);
    result
}

/// Checks that the benchmark still speaks the current protocol, because it rarely runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_job_is_measured() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/models/demo.gguf");
    let server = Server::start(&site("bench-trial-site", built_page(), &model)).await;
    let seen = measure(&server.url, "wasm-cpu", &json!({"tokens": 48, "sentences": 6, "generated": 2})).await;
    assert!(seen["error"].is_null(), "{seen}");
    assert_eq!((&seen["facts"]["sentences"], &seen["facts"]["backend"]), (&json!(6), &json!("candle-cpu")));
    assert!(["load", "prefill", "decode", "job"].iter().all(|section| seen["cost"][section].is_object()), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "cargo xtask bench"]
async fn engines_in_a_browser() {
    let [dist, model] = ["GLASSCAGE_DIST", "GLASSCAGE_BENCH_MODEL"]
        .map(|variable| path(variable).unwrap_or_else(|| panic!("{variable} is not set: cargo xtask bench sets it")));
    let server = Server::start(&site("bench-site", &dist, &model)).await;
    let mut report = json!({"job": job()});
    let chosen = std::env::var("GLASSCAGE_BENCH_ENGINES").ok();
    if chosen.is_none() {
        report["cold_page"] = cold_page(&server.url).await;
        println!("cold page: {}", report["cold_page"]);
    }
    for name in chosen.iter().flat_map(|names| names.split(',')) {
        assert!(ENGINES.iter().any(|(known, _)| *known == name), "there is no engine {name}");
    }
    let is_chosen = |name: &str| chosen.as_ref().is_none_or(|names| names.split(',').any(|chosen| chosen == name));
    for (name, _) in ENGINES.iter().filter(|(name, needed)| is_chosen(name) && server.dist().join(needed).exists()) {
        println!("{name} ..");
        report[*name] = measure(&server.url, name, &report["job"]).await;
        println!("{name}: {}", report[*name]);
    }
    let text = serde_json::to_string_pretty(&report).expect("numbers become JSON");
    if let Some(file) = path("GLASSCAGE_BENCH_JSON") {
        std::fs::write(file, text).expect("the JSON can be written");
    }
}
