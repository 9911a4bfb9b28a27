//! Report of a benchmark: as JSON, and as a few lines.

use glasscage_engine::gpu::peak_throughput::PeakThroughput;
use glasscage_engine::gpu::shapes::ShapeTime;
use serde::Serialize;

use super::arguments::Arguments;
use super::cost::Cost;
use super::schedules::{GpuWork, Schedule};

/// Everything measured on one engine.
#[derive(Serialize)]
pub struct BenchReport {
    pub backend: String,
    pub adapter: Option<AdapterInfo>,
    /// Peak throughput of the GPU.
    pub ceilings: Option<PeakThroughput>,
    /// Parts of that peak throughput that the engine reaches.
    pub reached: Option<Reached>,
    pub model: ModelSizes,
    pub load: Cost,
    pub prefill: Rate,
    pub decode: Rate,
    /// The work of the GPU to generate the tokens of `decode`.
    pub decode_work: GpuWork,
    /// Throughput of dense matrices in a prefill, in 1e9 floating-point operations per second.
    pub gflops: f64,
    /// Weights read while decoding, in 1e9 bytes per second.
    pub gigabytes_per_second: f64,
    pub job: JobReport,
    /// Seconds from a Stop in the middle of the job until the GPU is free; `None` on the CPU.
    pub stop_seconds: Option<f64>,
    pub peak_resident_bytes: Option<u64>,
    pub peak_gpu_bytes: PeakGpuBytes,
    pub pipelines: Pipelines,
}

#[derive(Serialize)]
pub struct AdapterInfo {
    pub name: String,
    pub is_software: bool,
    /// The fastest shapes of hot kernels on this GPU; `None` if there is no choice.
    pub kernel_shapes: Option<String>,
    /// Times of all shapes that were measured while the model was loaded, also of those that were not chosen.
    pub shape_times: Vec<ShapeTime>,
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

/// Throughput of the engine, relative to the peak throughput of the GPU.
#[derive(Debug, PartialEq, Serialize)]
pub struct Reached {
    /// Share of the peak arithmetic that the matrices of a prefill reach, in [0, 1].
    pub arithmetic: f64,
    /// Share of the peak memory bandwidth that reading weights during decoding reaches, in [0, 1].
    pub bandwidth: f64,
    /// Time of the job, divided by the time of its matrices at peak arithmetic.
    pub job_to_ideal: f64,
    /// Time of the job, divided by the time to generate its answer.
    pub job_to_answer: f64,
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

impl Reached {
    pub fn of(report: &BenchReport) -> Option<Self> {
        let peak = report.ceilings.as_ref()?;
        let (job, model) = (&report.job, &report.model);
        let shared = &job.shared_prefix;
        let in_layers = model.layer_parameters as f64 * shared.forward_tokens as f64;
        let in_head = model.head_parameters as f64 * shared.head_positions as f64;
        let answer_tokens = (job.tokens * job.generated) as f64 / job.sentences as f64;
        Some(Self {
            arithmetic: report.gflops / peak.gflops,
            bandwidth: report.gigabytes_per_second / peak.gigabytes_per_second,
            job_to_ideal: shared.cost.wall_seconds / (2e-9 * (in_layers + in_head) / peak.gflops),
            job_to_answer: shared.cost.wall_seconds * report.decode.per_second / answer_tokens,
        })
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
    if let Some(Reached { arithmetic, bandwidth, job_to_ideal, job_to_answer }) = &report.reached {
        let [arithmetic, bandwidth] = [arithmetic, bandwidth].map(|share| 100.0 * share);
        lines.push(format!("of which the prefill reaches {arithmetic:.1} %, and decoding {bandwidth:.1} %"));
        lines.push(format!("the job takes {job_to_ideal:.1} times its ideal, and {job_to_answer:.2} times its answer"));
    }
    if let Some(seconds) = report.stop_seconds {
        lines.push(format!("Stop takes effect after {seconds:.3} s"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_ratios_match_manual_calculation() {
        let cost = Cost { wall_seconds: 12.0, cpu_seconds: 12.0 };
        let gpu_work = GpuWork { dispatches: 0, submissions: 0, readbacks: 0, bytes_read_back: 0 };
        let schedule = || Schedule { cost, passes: 20, measured_passes: 20, forward_tokens: 5000, head_positions: 5000, gpu_work };
        let [naive, pass_per_source, shared_prefix] = [(); 3].map(|()| schedule());
        let (sentences, generated, ratio) = (20, 8, 1.0);
        let report = BenchReport {
            backend: "webgpu".into(),
            adapter: None,
            ceilings: Some(PeakThroughput { gflops: 1000.0, gigabytes_per_second: 100.0 }),
            reached: None,
            model: ModelSizes {
                file: "1b.gguf".into(),
                bytes: 0,
                header_bytes: 0,
                parameters: 0,
                layer_parameters: 400_000_000,
                head_parameters: 100_000_000,
            },
            load: cost,
            prefill: Rate::new(12, cost),
            decode: Rate::new(600, cost),
            decode_work: gpu_work,
            gflops: 300.0,
            gigabytes_per_second: 60.0,
            job: JobReport {
                tokens: 400,
                sentences,
                generated,
                naive,
                pass_per_source,
                shared_prefix,
                naive_to_shared: ratio,
                pass_per_source_to_shared: ratio,
            },
            stop_seconds: Some(0.25),
            peak_resident_bytes: None,
            peak_gpu_bytes: PeakGpuBytes { decode: 0, job: 0 },
            pipelines: Pipelines { at_first_token: 0, after_generation: 0, after_job: 0 },
        };
        // 5e12 operations take 5 s at the peak; 160 tokens take 3.2 s.
        let reached = Reached::of(&report).expect("the peak is known");
        assert_eq!((reached.arithmetic, reached.bandwidth, reached.job_to_answer), (0.3, 0.6, 3.75));
        assert!((reached.job_to_ideal - 2.4).abs() < 1e-9, "{reached:?}");
        assert_eq!(Reached::of(&BenchReport { ceilings: None, ..report }), None);
    }
}
