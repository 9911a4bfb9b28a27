//! Report of a benchmark: as JSON, and as a few lines.

use glasscage_engine::gpu::peak_throughput::PeakThroughput;
use serde::Serialize;

use super::arguments::Arguments;
use super::cost::Cost;
use super::schedules::Schedule;

/// Everything measured on one engine.
#[derive(Serialize)]
pub struct BenchReport {
    pub backend: String,
    pub adapter: Option<AdapterInfo>,
    /// Peak throughput of the GPU.
    pub ceilings: Option<PeakThroughput>,
    pub model: ModelSizes,
    pub load: Cost,
    pub prefill: Rate,
    pub decode: Rate,
    /// Throughput of dense matrices in a prefill, in 1e9 floating-point operations per second.
    pub gflops: f64,
    /// Weights read while decoding, in 1e9 bytes per second.
    pub gigabytes_per_second: f64,
    pub job: JobReport,
    pub peak_resident_bytes: Option<u64>,
    pub peak_gpu_bytes: PeakGpuBytes,
    pub pipelines: Pipelines,
}

#[derive(Serialize)]
pub struct AdapterInfo {
    pub name: String,
    pub is_software: bool,
    /// The fastest tile shape of matrix products on this GPU; `None` if there is no choice.
    pub tile_shape: Option<String>,
}

#[derive(Serialize)]
pub struct ModelSizes {
    pub file: String,
    pub bytes: u64,
    /// Bytes before the first tensor.
    pub header_bytes: u64,
    pub parameters: u64,
    /// Parameters of the layers alone.
    pub layer_parameters: u64,
    /// Parameters of the LM head, which may also be the embedding.
    pub head_parameters: u64,
}

/// Tokens per second, by elapsed time and by CPU time of this process.
#[derive(Serialize)]
pub struct Rate {
    pub tokens: usize,
    #[serde(flatten)]
    pub cost: Cost,
    pub per_second: f64,
    pub per_cpu_second: f64,
}

/// The attribution job in three schedules, and the cost of the other two relative to the shared one.
#[derive(Serialize)]
pub struct JobReport {
    pub tokens: usize,
    pub sentences: usize,
    pub generated: usize,
    pub naive: Schedule,
    pub pass_per_source: Schedule,
    pub shared_prefix: Schedule,
    pub naive_to_shared: f64,
    pub pass_per_source_to_shared: f64,
}

/// Maximum GPU memory up to the end of each task.
#[derive(Serialize)]
pub struct PeakGpuBytes {
    pub decode: u64,
    pub job: u64,
}

/// Number of kernels compiled by the end of each task.
#[derive(Serialize)]
pub struct Pipelines {
    pub at_first_token: usize,
    pub after_generation: usize,
    pub after_job: usize,
}

impl JobReport {
    pub fn new(arguments: &Arguments, naive: Schedule, pass_per_source: Schedule, shared_prefix: Schedule) -> Self {
        Self {
            tokens: arguments.tokens,
            sentences: arguments.sentences,
            generated: arguments.generated,
            naive_to_shared: naive.cost.cpu_seconds / shared_prefix.cost.cpu_seconds,
            pass_per_source_to_shared: pass_per_source.cost.cpu_seconds / shared_prefix.cost.cpu_seconds,
            naive,
            pass_per_source,
            shared_prefix,
        }
    }
}

impl Rate {
    pub fn new(tokens: usize, cost: Cost) -> Self {
        Self { tokens, cost, per_second: tokens as f64 / cost.wall_seconds, per_cpu_second: tokens as f64 / cost.cpu_seconds }
    }
}

/// The report in a few lines.
pub fn summary(report: &BenchReport) -> String {
    let adapter = report.adapter.as_ref().map_or(String::new(), |adapter| format!(" on {}", adapter.name));
    let mut lines = vec![format!("{}{adapter}, {}: loaded in {}", report.backend, report.model.file, report.load)];
    for (name, rate) in [("prefill", &report.prefill), ("decode", &report.decode)] {
        lines.push(format!("{name}: {:.1} tokens/s, {:.1} per CPU-second", rate.per_second, rate.per_cpu_second));
    }
    if let Some(PeakThroughput { gflops, gigabytes_per_second }) = &report.ceilings {
        lines.push(format!("the GPU can do {gflops:.0} GFLOP/s at most, and read {gigabytes_per_second:.0} GB/s"));
    }
    let (gflops, gigabytes_per_second) = (report.gflops, report.gigabytes_per_second);
    lines.push(format!("{gflops:.1} GFLOP/s in the prefill's layers, {gigabytes_per_second:.2} GB/s of weights while decoding"));
    let job = &report.job;
    lines.push(format!("job of {} tokens in {} sentences, {} generated:", job.tokens, job.sentences, job.generated));
    for (name, schedule) in [("naive", &job.naive), ("pass per source", &job.pass_per_source), ("shared prefix", &job.shared_prefix)] {
        lines.push(format!("  {name}: {schedule}"));
    }
    let (naive, pass_per_source) = (job.naive_to_shared, job.pass_per_source_to_shared);
    lines.push(format!("  naive : shared {naive:.1}, pass per source : shared {pass_per_source:.2}\n"));
    lines.join("\n")
}
