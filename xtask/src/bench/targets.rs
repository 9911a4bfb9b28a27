//! Performance targets, and whether the measurements meet them.

use std::ops::Range;

use serde_json::Value;

use super::gpu::{self, Reached};
use super::table::shown;

const MIB: f64 = 1_048_576.0;

/// Measurements of a report. Missing ones give rows without a value.
struct Numbers<'a>(&'a Value);

/// Target, measured value, and the condition that meets the target.
type Row = (&'static str, Option<f64>, fn(f64) -> bool);

pub fn table(report: &Value) -> String {
    let mut text = "| target | measured | |\n| --- | --- | --- |\n".to_owned();
    for (promise, value, holds) in rows(&Numbers(report)) {
        let verdict = match value {
            None => "not measured",
            // Only rows that begin with a number are targets.
            Some(_) if !promise.starts_with(|c: char| c.is_ascii_digit()) => "",
            Some(value) if holds(value) => "holds",
            Some(_) => "missed",
        };
        let value = value.map_or(String::new(), shown);
        text += &format!("| {promise} | {value} | {verdict} |\n");
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
    vec![
        ("1. forward tokens off the shared-prefix formula by 0", off("forward_tokens", expected.map(|work| work[0])), |off| off == 0.0),
        ("1. LM-head positions off the formula by 0", off("head_positions", expected.map(|work| work[1])), |off| off == 0.0),
        (
            "1. naive : shared in forward tokens >= 7",
            numbers.ratio("/native_cpu/job/naive/forward_tokens", "/native_cpu/job/shared_prefix/forward_tokens"),
            |times| times >= 7.0,
        ),
    ]
}

fn schedules(numbers: &Numbers<'_>) -> Vec<Row> {
    let job = |engine: &str, ratio: &str| numbers.at(&format!("/native_{engine}/job/{ratio}"));
    vec![
        ("2. naive : shared on the CPU >= 6", job("cpu", "naive_to_shared"), |times| times >= 6.0),
        ("2. pass per source : shared on the CPU >= 1.4", job("cpu", "pass_per_source_to_shared"), |times| times >= 1.4),
        ("2. naive : shared on WebGPU >= 6", job("gpu", "naive_to_shared"), |times| times >= 6.0),
        ("2. pass per source : shared on WebGPU >= 1.4", job("gpu", "pass_per_source_to_shared"), |times| times >= 1.4),
    ]
}

fn wllama(numbers: &Numbers<'_>) -> Vec<Row> {
    let [wasm, gpu, peer] = ["wasm-cpu", "webgpu", "wllama"].map(|engine| format!("/browser/{engine}/cost"));
    // The page uses WebGPU if its backend says so, else WASM.
    let choice = numbers.0.pointer("/browser/choice/facts/backend").and_then(Value::as_str);
    let taken = choice.map(|name| if name.starts_with("webgpu") { &gpu } else { &wasm });
    let times = |what: &str, above: &str, below: &str| numbers.ratio(&format!("{above}/{what}"), &format!("{below}/{what}"));
    vec![
        ("3. wllama : page's choice, job in CPU time >= 12", taken.and_then(|taken| times("job/cpu_seconds", &peer, taken)), |times| {
            times >= 12.0
        }),
        ("wllama : WASM on the CPU, the same", times("job/cpu_seconds", &peer, &wasm), |_| true),
        ("wllama : WebGPU, the same", times("job/cpu_seconds", &peer, &gpu), |_| true),
        ("4. WASM on the CPU : wllama, prefill >= 3", times("prefill/per_cpu_second", &wasm, &peer), |times| times >= 3.0),
        ("4. WASM on the CPU : wllama, decode >= 1.3", times("decode/per_cpu_second", &wasm, &peer), |times| times >= 1.3),
        ("4. two workers : one, job in seconds <= 0.6", times("job/wall_seconds", "/browser/wasm-cpu-2/cost", &wasm), |times| times <= 0.6),
        ("WebGPU : wllama, prefill", times("prefill/per_cpu_second", &gpu, &peer), |times| times >= 1.0),
        ("WebGPU : wllama, decode", times("decode/per_cpu_second", &gpu, &peer), |times| times >= 1.0),
    ]
}

fn onnxruntime(numbers: &Numbers<'_>) -> Vec<Row> {
    let times = |what: &str, above: &str, below: &str| {
        numbers.ratio(&format!("/browser/{above}/cost/{what}"), &format!("/browser/{below}/cost/{what}"))
    };
    let [prefill, decode] = ["prefill/per_cpu_second", "decode/per_cpu_second"];
    vec![
        ("4. WebGPU : onnxruntime-web on WebGPU, prefill >= 5", times(prefill, "webgpu", "onnxruntime-webgpu"), |times| times >= 5.0),
        ("4. WebGPU : onnxruntime-web on WebGPU, decode >= 20", times(decode, "webgpu", "onnxruntime-webgpu"), |times| times >= 20.0),
        (
            "3. onnxruntime-web in WASM : WASM on the CPU, job in CPU time >= 3",
            times("job/cpu_seconds", "onnxruntime-wasm", "wasm-cpu"),
            |times| times >= 3.0,
        ),
        ("4. WASM on the CPU : onnxruntime-web in WASM, prefill >= 2", times(prefill, "wasm-cpu", "onnxruntime-wasm"), |times| {
            times >= 2.0
        }),
        ("4. WASM on the CPU : onnxruntime-web in WASM, decode >= 1.3", times(decode, "wasm-cpu", "onnxruntime-wasm"), |times| {
            times >= 1.3
        }),
    ]
}

fn footprint(numbers: &Numbers<'_>) -> Vec<Row> {
    let kilobytes = |what: &str| numbers.at(&format!("/sizes/{what}/compressed")).map(|bytes| bytes / 1e3);
    let gpu = |what: &str| numbers.ratio(&format!("/native_gpu/peak_gpu_bytes/{what}"), "/native_gpu/model/bytes");
    let heap = numbers.at("/browser/webgpu/facts/heap_bytes").zip(numbers.at("/native_gpu/model/header_bytes"));
    let pipelines = |when: &str| numbers.at(&format!("/native_gpu/pipelines/{when}"));
    let late = pipelines("after_generation").zip(pipelines("at_first_token")).map(|(after, first)| after - first);
    vec![
        (
            "cold page to the first explanation by the built-in model, s (30 at most here)",
            numbers.at("/browser/cold_page/wall_seconds"),
            |_| true,
        ),
        ("6. page, compressed kB <= 400", kilobytes("page"), |kilobytes| kilobytes <= 400.0),
        ("6. worker, compressed kB <= 1200", kilobytes("engine"), |kilobytes| kilobytes <= 1200.0),
        ("wllama, compressed kB", kilobytes("wllama"), |_| true),
        ("onnxruntime-web without WebGPU, compressed kB", kilobytes("onnxruntime"), |_| true),
        ("7. GPU memory : file while decoding <= 1.3", gpu("decode"), |times| times <= 1.3),
        ("7. GPU memory : file in the job <= 1.6", gpu("job"), |times| times <= 1.6),
        ("7. WASM memory beyond the header with WebGPU, MiB <= 64", heap.map(|(heap, header)| (heap - header) / MIB), |mib| mib <= 64.0),
        ("8. pipelines at the first token <= 15", pipelines("at_first_token"), |count| count <= 15.0),
        ("8. pipelines compiled while generating: 0", late, |count| count == 0.0),
    ]
}

/// The worst results of all models on a real GPU.
fn real_gpu(models: &[Reached<'_>]) -> Vec<Row> {
    let least = |share: fn(&Reached<'_>) -> f64, shape: &str| {
        models.iter().filter(|model| model.shape.starts_with(shape)).map(share).reduce(f64::min)
    };
    let most = |times: fn(&Reached<'_>) -> f64| models.iter().map(times).reduce(f64::max);
    vec![
        ("9. real GPU: mat-mat of what its arithmetic allows >= 0.25", least(|model| model.arithmetic, ""), |share| share >= 0.25),
        ("9. real GPU: decode of what its memory allows, 1b >= 0.6", least(|model| model.bandwidth, "1b"), |share| share >= 0.6),
        ("9. real GPU: the same, 0.6b >= 0.45", least(|model| model.bandwidth, "0.6b"), |share| share >= 0.45),
        ("9. real GPU: job : ideal <= 4", most(|model| model.to_ideal), |times| times <= 4.0),
        ("9. real GPU: job : generating its answer <= 1", most(|model| model.to_answer), |times| times <= 1.0),
    ]
}

fn graph(numbers: &Numbers<'_>) -> Vec<Row> {
    let millis = |of: &str| numbers.at(&format!("/browser/graph/facts/{of}"));
    vec![
        ("10. influence over 4,096 tokens in WASM, ms <= 1000", millis("of_tokens"), |millis| millis <= 1000.0),
        ("10. influence over 20 sentences in WASM, ms <= 1", millis("of_sentences"), |millis| millis <= 1.0),
    ]
}

/// Forward tokens and LM-head positions of the shared-prefix schedule, computed from the job's sizes alone.
fn expected_work(numbers: &Numbers<'_>) -> Option<[f64; 2]> {
    let size = |key: &str| numbers.at(&format!("/native_cpu/job/{key}")).map(|size| size as usize);
    let (tokens, n, generated) = (size("tokens")?, size("sentences")?, size("generated")?);
    let sentences: Vec<Range<usize>> = (0..n).map(|i| i * tokens / n..(i + 1) * tokens / n).collect();
    let first_target = sentences.get(n - generated)?.start;
    // A pass starts at its source and ends before the last token, which predicts no token.
    let forward: usize = sentences[..n - 1].iter().map(|source| tokens - 1 - source.start).sum();
    // The first prediction that changes is that of the token after the pass's first token.
    let heads: usize = sentences[..n - 1].iter().map(|source| tokens - first_target.max(source.start + 1)).sum();
    Some([(tokens - 1 + forward) as f64, (tokens - first_target + heads) as f64])
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
    fn missing_measurements_are_shown() {
        assert!(table(&json!({})).contains("| 8. pipelines compiled while generating: 0 |  | not measured |"));
    }
}
