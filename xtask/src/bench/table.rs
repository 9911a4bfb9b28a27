//! Markdown tables of the engines' measurements.

use serde_json::Value;

/// Path of an engine's measurements in the report, and its displayed name.
const ENGINES: [(&str, &str); 8] = [
    ("/native_cpu", "native, CPU"),
    ("/native_gpu", "native, WebGPU"),
    ("/browser/wasm-cpu", "browser, WASM on the CPU"),
    ("/browser/wasm-cpu-2", "browser, WASM on the CPU, two workers"),
    ("/browser/webgpu", "browser, WebGPU"),
    ("/browser/wllama", "browser, wllama (WASM, one thread)"),
    ("/browser/onnxruntime-wasm", "browser, onnxruntime-web (WASM, one thread)"),
    ("/browser/onnxruntime-webgpu", "browser, onnxruntime-web (WebGPU)"),
];

/// The machine, and a row per engine.
pub fn engines(report: &Value) -> String {
    let [machine, job] = [&report["machine"], job(report)];
    let mut text = format!(
        "Measured on {} with {} cores, {}; {}.\nModel {}; job of {} tokens in {} sentences, {} of them generated.\n\n",
        machine["processor"].as_str().unwrap_or_default(),
        machine["cores"],
        machine["browser"].as_str().unwrap_or_default(),
        adapter(report),
        report["model"].as_str().unwrap_or_default(),
        job["tokens"],
        job["sentences"],
        job["generated"],
    );
    text += "| engine | load, CPU-s | prefill, tokens per CPU-s | decode, tokens per CPU-s | job, CPU-s | job, s \
             | pass per source, CPU-s | naive, CPU-s | memory of process or page, MB |\n";
    text += "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    ENGINES.iter().for_each(|(at, name)| text += &row(report, at, name));
    text += &row(report, "/browser", "browser");
    text + &scaled(report) + &hardware(report)
}

/// Lists measurements that were extrapolated.
fn scaled(report: &Value) -> String {
    let passes =
        |at: &str| report.pointer(at).and_then(|part| Some(format!("{} of {}", part.get("measured_passes")?, part.get("passes")?)));
    let parts = [
        ("CPU naive", "/native_cpu/job/naive"),
        ("CPU pass per source", "/native_cpu/job/pass_per_source"),
        ("WebGPU naive", "/native_gpu/job/naive"),
        ("WebGPU pass per source", "/native_gpu/job/pass_per_source"),
        ("wllama's job", "/browser/wllama/facts"),
    ];
    let said: Vec<String> = parts.iter().filter_map(|(name, at)| Some(format!("{name} {}", passes(at)?))).collect();
    format!("\nPasses measured, the rest scaled up by tokens: {}.\n", said.join(", "))
}

/// How close WebGPU comes to the peak of the hardware.
fn hardware(report: &Value) -> String {
    let number = |key: &str| report.pointer(&format!("/native_gpu/{key}")).and_then(Value::as_f64);
    let Some((gflops, bandwidth)) = number("gflops").zip(number("gigabytes_per_second")) else { return String::new() };
    format!("\nNative WebGPU: {} GFLOP/s in a prefill's layers, {} GB/s of weights while decoding.\n", shown(gflops), shown(bandwidth))
}

fn row(report: &Value, at: &str, name: &str) -> String {
    let number = |path: &str| report.pointer(&format!("{at}{path}")).and_then(Value::as_f64);
    // Native measurements are at the top level, browser measurements are under `cost`.
    let of = |part: &str, key: &str| number(&format!("/{part}/{key}")).or(number(&format!("/cost/{part}/{key}")));
    if let Some(error) = report.pointer(&format!("{at}/error")).and_then(Value::as_str) {
        return format!("| {name} | {error} |\n");
    }
    let job = |key: &str| number(&format!("/job/shared_prefix/{key}")).or(number(&format!("/cost/job/{key}")));
    let memory = number("/peak_resident_bytes").or(number("/peak_renderer_bytes")).map(|bytes| bytes / 1e6);
    let cells = [
        of("load", "cpu_seconds"),
        of("prefill", "per_cpu_second"),
        of("decode", "per_cpu_second"),
        job("cpu_seconds"),
        job("wall_seconds"),
        number("/job/pass_per_source/cpu_seconds"),
        number("/job/naive/cpu_seconds"),
        memory,
    ];
    let cells: Vec<String> = cells.iter().map(|cell| cell.map_or(String::new(), shown)).collect();
    if cells.iter().all(String::is_empty) { String::new() } else { format!("| {name} | {} |\n", cells.join(" | ")) }
}

/// Formats a number: whole from 100 on, with one decimal from 10 on, else with two.
pub fn shown(number: f64) -> String {
    match number {
        _ if number >= 100.0 => format!("{number:.0}"),
        _ if number >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

fn job(report: &Value) -> &Value {
    report.pointer("/native_cpu/job").unwrap_or(&report["browser"]["job"])
}

/// Describes the GPU, or the software that emulates it.
fn adapter(report: &Value) -> String {
    let name = report.pointer("/native_gpu/adapter/name").and_then(Value::as_str).unwrap_or("no adapter");
    let backend = report.pointer("/browser/webgpu/facts/backend").and_then(Value::as_str).unwrap_or("none");
    format!("WebGPU natively on {name}, in the browser as {backend}")
}
