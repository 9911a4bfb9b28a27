//! Performance targets, and whether the measurements meet them.

use std::fmt;

use serde_json::Value;

use super::gpu::{self, Reached};
use super::table::shown;
use crate::gpu_budgets::prediction::work::Job;

const MIB: f64 = 1_048_576.0;

/// Measurements of a report. Missing ones give rows without a value.
struct Numbers<'a>(&'a Value);

/// A measured value, with its target if it has one.
struct Row {
    name: &'static str,
    value: Option<f64>,
    target: Option<Target>,
}

struct Target {
    /// Number of the requirement.
    item: u8,
    limit: Limit,
}

#[derive(Clone, Copy)]
enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Limit {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(limit) => write!(f, ">= {limit}"),
            Self::AtMost(limit) => write!(f, "<= {limit}"),
        }
    }
}

impl Row {
    fn at_least(item: u8, name: &'static str, limit: f64, value: Option<f64>) -> Self {
        Self { name, value, target: Some(Target { item, limit: Limit::AtLeast(limit) }) }
    }

    fn at_most(item: u8, name: &'static str, limit: f64, value: Option<f64>) -> Self {
        Self { name, value, target: Some(Target { item, limit: Limit::AtMost(limit) }) }
    }

    /// A value without a target.
    fn figure(name: &'static str, value: Option<f64>) -> Self {
        Self { name, value, target: None }
    }

    fn label(&self) -> String {
        match &self.target {
            Some(Target { item, limit }) => format!("{item}. {} {limit}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.value, &self.target) {
            (None, _) => "not measured",
            (Some(_), None) => "",
            (Some(value), Some(target)) if target.limit.is_met(value) => "met",
            (Some(_), Some(_)) => "missed",
        }
    }
}

pub fn table(report: &Value) -> String {
    let mut text = "| target | measured | |\n| --- | --- | --- |\n".to_owned();
    for row in rows(&Numbers(report)) {
        text += &format!("| {} | {} | {} |\n", row.label(), row.value.map_or(String::new(), shown), row.verdict());
    }
    text
}

fn rows(numbers: &Numbers<'_>) -> Vec<Row> {
    let mut rows = work(numbers);
    rows.extend(schedules(numbers));
    rows.extend(wllama(numbers));
    rows.extend(onnxruntime(numbers));
    rows.extend(footprint(numbers));
    rows.extend(real_gpu(&gpu::reached(numbers.0)));
    rows.extend(graph(numbers));
    rows
}

fn work(numbers: &Numbers<'_>) -> Vec<Row> {
    let shared = |key: &str| numbers.at(&format!("/native_cpu/job/shared_prefix/{key}"));
    let expected = expected_work(numbers);
    let off = |key: &str, expected: Option<f64>| Some((shared(key)? - expected?).abs());
    let naive = numbers.ratio("/native_cpu/job/naive/forward_tokens", "/native_cpu/job/shared_prefix/forward_tokens");
    vec![
        Row::at_most(1, "forward tokens off the shared-prefix formula", 0.0, off("forward_tokens", expected.map(|work| work[0]))),
        Row::at_most(1, "LM-head positions off the formula", 0.0, off("head_positions", expected.map(|work| work[1]))),
        Row::at_least(1, "naive : shared in forward tokens", 7.0, naive),
    ]
}

fn schedules(numbers: &Numbers<'_>) -> Vec<Row> {
    let job = |engine: &str, ratio: &str| numbers.at(&format!("/native_{engine}/job/{ratio}"));
    vec![
        Row::at_least(2, "naive : shared on the CPU", 6.0, job("cpu", "naive_to_shared")),
        Row::at_least(2, "pass per source : shared on the CPU", 1.4, job("cpu", "pass_per_source_to_shared")),
        Row::at_least(2, "naive : shared on WebGPU", 6.0, job("gpu", "naive_to_shared")),
        Row::at_least(2, "pass per source : shared on WebGPU", 1.4, job("gpu", "pass_per_source_to_shared")),
    ]
}

fn wllama(numbers: &Numbers<'_>) -> Vec<Row> {
    let [wasm, gpu, peer] = ["wasm-cpu", "webgpu", "wllama"].map(|engine| format!("/browser/{engine}/cost"));
    // The page uses WebGPU if its backend says so, else WASM.
    let choice = numbers.0.pointer("/browser/choice/facts/backend").and_then(Value::as_str);
    let taken = choice.map(|name| if name.starts_with("webgpu") { &gpu } else { &wasm });
    let times = |what: &str, above: &str, below: &str| numbers.ratio(&format!("{above}/{what}"), &format!("{below}/{what}"));
    let [job, prefill, decode] = ["job/cpu_seconds", "prefill/per_cpu_second", "decode/per_cpu_second"];
    vec![
        Row::at_least(3, "wllama : page's choice, job in CPU time", 12.0, taken.and_then(|taken| times(job, &peer, taken))),
        Row::figure("wllama : WASM on the CPU, the same", times(job, &peer, &wasm)),
        Row::figure("wllama : WebGPU, the same", times(job, &peer, &gpu)),
        Row::at_least(4, "WASM on the CPU : wllama, prefill", 3.0, times(prefill, &wasm, &peer)),
        Row::at_least(4, "WASM on the CPU : wllama, decode", 1.3, times(decode, &wasm, &peer)),
        Row::at_most(4, "two workers : one, job in seconds", 0.6, times("job/wall_seconds", "/browser/wasm-cpu-2/cost", &wasm)),
        Row::figure("WebGPU : wllama, prefill", times(prefill, &gpu, &peer)),
        Row::figure("WebGPU : wllama, decode", times(decode, &gpu, &peer)),
    ]
}

fn onnxruntime(numbers: &Numbers<'_>) -> Vec<Row> {
    let times = |what: &str, above: &str, below: &str| {
        numbers.ratio(&format!("/browser/{above}/cost/{what}"), &format!("/browser/{below}/cost/{what}"))
    };
    let [prefill, decode] = ["prefill/per_cpu_second", "decode/per_cpu_second"];
    let job = times("job/cpu_seconds", "onnxruntime-wasm", "wasm-cpu");
    vec![
        Row::at_least(4, "WebGPU : onnxruntime-web on WebGPU, prefill", 5.0, times(prefill, "webgpu", "onnxruntime-webgpu")),
        Row::at_least(4, "WebGPU : onnxruntime-web on WebGPU, decode", 20.0, times(decode, "webgpu", "onnxruntime-webgpu")),
        Row::at_least(3, "onnxruntime-web in WASM : WASM on the CPU, job in CPU time", 3.0, job),
        Row::at_least(4, "WASM on the CPU : onnxruntime-web in WASM, prefill", 2.0, times(prefill, "wasm-cpu", "onnxruntime-wasm")),
        Row::at_least(4, "WASM on the CPU : onnxruntime-web in WASM, decode", 1.3, times(decode, "wasm-cpu", "onnxruntime-wasm")),
    ]
}

fn footprint(numbers: &Numbers<'_>) -> Vec<Row> {
    let kilobytes = |what: &str| numbers.at(&format!("/sizes/{what}/compressed")).map(|bytes| bytes / 1e3);
    let gpu = |what: &str| numbers.ratio(&format!("/native_gpu/peak_gpu_bytes/{what}"), "/native_gpu/model/bytes");
    let heap = numbers.at("/browser/webgpu/facts/heap_bytes").zip(numbers.at("/native_gpu/model/header_bytes"));
    let pipelines = |when: &str| numbers.at(&format!("/native_gpu/pipelines/{when}"));
    let late = pipelines("after_generation").zip(pipelines("at_first_token")).map(|(after, first)| after - first);
    let cold = numbers.at("/browser/cold_page/wall_seconds");
    let beyond_header = heap.map(|(heap, header)| (heap - header) / MIB);
    vec![
        Row::figure("cold page to the first explanation by the built-in model, s (30 at most here)", cold),
        Row::at_most(6, "page, compressed kB", 400.0, kilobytes("page")),
        Row::at_most(6, "worker, compressed kB", 1200.0, kilobytes("engine")),
        Row::figure("wllama, compressed kB", kilobytes("wllama")),
        Row::figure("onnxruntime-web without WebGPU, compressed kB", kilobytes("onnxruntime")),
        Row::at_most(7, "GPU memory : file while decoding", 1.3, gpu("decode")),
        Row::at_most(7, "GPU memory : file in the job", 1.6, gpu("job")),
        Row::at_most(7, "WASM memory beyond the header with WebGPU, MiB", 64.0, beyond_header),
        Row::at_most(8, "pipelines at the first token", 15.0, pipelines("at_first_token")),
        Row::at_most(8, "pipelines compiled while generating", 0.0, late),
    ]
}

/// The worst results of all models on a real GPU.
fn real_gpu(models: &[Reached<'_>]) -> Vec<Row> {
    let least = |share: fn(&Reached<'_>) -> f64, shape: &str| {
        models.iter().filter(|model| model.shape.starts_with(shape)).map(share).reduce(f64::min)
    };
    let most = |times: fn(&Reached<'_>) -> f64| models.iter().map(times).reduce(f64::max);
    vec![
        Row::at_least(9, "real GPU: mat-mat of what its arithmetic allows", 0.25, least(|model| model.arithmetic, "")),
        Row::at_least(9, "real GPU: decode of what its memory allows, 1b", 0.6, least(|model| model.bandwidth, "1b")),
        Row::at_least(9, "real GPU: the same, 0.6b", 0.45, least(|model| model.bandwidth, "0.6b")),
        Row::at_most(9, "real GPU: job : ideal", 4.0, most(|model| model.to_ideal)),
        Row::at_most(9, "real GPU: job : generating its answer", 1.0, most(|model| model.to_answer)),
    ]
}

fn graph(numbers: &Numbers<'_>) -> Vec<Row> {
    let millis = |of: &str| numbers.at(&format!("/browser/graph/facts/{of}"));
    vec![
        Row::at_most(10, "influence over 4,096 tokens in WASM, ms", 1000.0, millis("of_tokens")),
        Row::at_most(10, "influence over 20 sentences in WASM, ms", 1.0, millis("of_sentences")),
    ]
}

/// Forward tokens and LM-head positions of the shared-prefix schedule, computed from the job's sizes alone.
fn expected_work(numbers: &Numbers<'_>) -> Option<[f64; 2]> {
    let size = |key: &str| numbers.at(&format!("/native_cpu/job/{key}")).map(|size| size as usize);
    let job = Job { tokens: size("tokens")?, sentences: size("sentences")?, generated: size("generated")? };
    Some([job.forward_tokens() as f64, job.head_positions() as f64])
}

impl Numbers<'_> {
    fn at(&self, path: &str) -> Option<f64> {
        self.0.pointer(path)?.as_f64()
    }

    fn ratio(&self, above: &str, below: &str) -> Option<f64> {
        Some(self.at(above)? / self.at(below)?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formula_matches_manual_count() {
        let report = json!({"native_cpu": {"job": {"tokens": 6, "sentences": 3, "generated": 1}}});
        // The base text has 5 rows; passes from 0 and 2 have 5 + 3. Targets 4 and 5 occur in the base text and in both passes.
        assert_eq!(expected_work(&Numbers(&report)), Some([13.0, 6.0]));
    }

    #[test]
    fn rows_say_whether_targets_are_met() {
        assert!(table(&json!({})).contains("| 8. pipelines compiled while generating <= 0 |  | not measured |"));
        let text = table(&json!({"sizes": {"page": {"compressed": 399_000}, "engine": {"compressed": 1_201_000}}}));
        assert!(text.contains("| 6. page, compressed kB <= 400 | 399 | met |"), "{text}");
        assert!(text.contains("| 6. worker, compressed kB <= 1200 | 1201 | missed |"), "{text}");
    }
}
