//! `glasscage bench`: how fast one engine is on this machine, as JSON and as a few lines.

mod cost;
mod schedules;

use std::path::PathBuf;

use clap::Args;
use glasscage::engine::Engine;
use glasscage::gpu::ceilings::Ceilings;
use glasscage::lm::sample::Sampler;
use glasscage::lm::{Counters, LanguageModel, LmError};
use glasscage::model::gguf::Gguf;
use serde::Serialize;

use super::{BackendArgument, load, open, output};
use cost::{Cost, Stopwatch, peak_resident_bytes};
use schedules::{AttributionJob, Schedule};

/// How long the repetitions of a prefill take together, at least, in seconds.
const PREFILL_SECONDS: f64 = 1.0;
/// How long tokens are generated, in seconds, and how many at most and at least.
const DECODE_SECONDS: f64 = 2.0;
const DECODE_TOKENS: std::ops::RangeInclusive<usize> = 4..=128;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long)]
    model: PathBuf,
    #[arg(long, value_enum, default_value = "cpu")]
    backend: BackendArgument,
    /// Of prompt and answer together
    #[arg(long, default_value_t = 300)]
    tokens: usize,
    /// Of prompt and answer together, all of the same length
    #[arg(long, default_value_t = 15)]
    sentences: usize,
    /// How many of the sentences are the answer
    #[arg(long, default_value_t = 6)]
    generated: usize,
    /// What the slower schedules may take, each; where they need more, a part is measured and scaled up
    #[arg(long, default_value_t = 8.0)]
    seconds: f64,
    /// Where the numbers go
    #[arg(long, value_name = "OUT")]
    json: PathBuf,
}

/// Everything measured on one engine.
#[derive(Serialize)]
struct BenchReport {
    backend: String,
    adapter: Option<AdapterInfo>,
    /// What a GPU can do at most.
    ceilings: Option<Ceilings>,
    model: ModelSizes,
    load: Cost,
    prefill: Rate,
    decode: Rate,
    /// Of dense matrices in a prefill, in 1e9 per second.
    gflops: f64,
    /// Weights read while decoding, in 1e9 bytes per second.
    gigabytes_per_second: f64,
    job: JobReport,
    peak_resident_bytes: Option<u64>,
    peak_gpu_bytes: PeakGpuBytes,
    pipelines: Pipelines,
}

#[derive(Serialize)]
struct AdapterInfo {
    name: String,
    is_software: bool,
}

#[derive(Serialize)]
struct ModelSizes {
    file: String,
    bytes: u64,
    /// Before the first tensor.
    header_bytes: u64,
    parameters: u64,
    /// Of the layers alone.
    layer_parameters: u64,
    /// Of the LM head, which may be the embedding too.
    head_parameters: u64,
}

/// Tokens a second, by the clock and by the CPU time of this process.
#[derive(Serialize)]
struct Rate {
    tokens: usize,
    #[serde(flatten)]
    cost: Cost,
    per_second: f64,
    per_cpu_second: f64,
}

/// The attribution job in three schedules, and what it costs to avoid the shared one.
#[derive(Serialize)]
struct JobReport {
    tokens: usize,
    sentences: usize,
    generated: usize,
    naive: Schedule,
    pass_per_source: Schedule,
    shared_prefix: Schedule,
    naive_to_shared: f64,
    pass_per_source_to_shared: f64,
}

/// GPU memory at most, by what was done until then.
#[derive(Serialize)]
struct PeakGpuBytes {
    decode: u64,
    job: u64,
}

/// Kernels compiled until then.
#[derive(Serialize)]
struct Pipelines {
    at_first_token: usize,
    after_generation: usize,
    after_job: usize,
}

pub fn bench(arguments: &Arguments) -> Result<(), String> {
    let job = AttributionJob::new(arguments.tokens, arguments.sentences, arguments.generated)?;
    let report = pollster::block_on(measure(arguments, &job))?;
    output::print(&summary(&report))?;
    let json = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    std::fs::write(&arguments.json, json + "\n").map_err(|error| format!("cannot write {}: {error}", arguments.json.display()))
}

async fn measure(arguments: &Arguments, job: &AttributionJob) -> Result<BenchReport, String> {
    let failed = |error: LmError| error.to_string();
    let gguf = Gguf::read(&open(&arguments.model)?).await.map_err(|error| error.to_string())?;
    let watch = Stopwatch::start();
    let mut lm = load(&arguments.model, arguments.backend)?.lm;
    let load = watch.cost();
    let (tokens, end_token) = job.text(lm.config().vocab_size);

    lm.reset(tokens.len() + DECODE_TOKENS.end() + 1);
    // The first token compiles; what counts is the others.
    lm.next_token(&tokens[..8.min(tokens.len())], &mut Sampler::greedy()).await.map_err(failed)?;
    let at_first_token = lm.counters().pipelines;
    let prefill = prefill(&mut lm, &tokens).await.map_err(failed)?;
    let decode = decode(&mut lm).await.map_err(failed)?;
    let generated: Counters = lm.counters();

    let shared_prefix = job.shared_prefix(&mut lm, &tokens, end_token).await.map_err(failed)?;
    let scored = lm.counters();
    let pass_per_source = job.pass_per_source(&mut lm, &tokens, end_token, arguments.seconds).await.map_err(failed)?;
    let naive = job.naive(&mut lm, &tokens, end_token, arguments.seconds).await.map_err(failed)?;
    let model = describe(arguments, &gguf);
    Ok(BenchReport {
        backend: lm.backend().name,
        adapter: adapter(&lm),
        ceilings: ceilings(&lm).await.map_err(failed)?,
        gflops: 2e-9 * model.layer_parameters as f64 * prefill.per_second,
        gigabytes_per_second: 1e-9 * bytes_per_token(&gguf) as f64 * decode.per_second,
        model,
        load,
        prefill,
        decode,
        job: JobReport::new(arguments, naive, pass_per_source, shared_prefix),
        peak_resident_bytes: peak_resident_bytes(),
        peak_gpu_bytes: PeakGpuBytes { decode: generated.peak_gpu_bytes, job: scored.peak_gpu_bytes },
        pipelines: Pipelines { at_first_token, after_generation: generated.pipelines, after_job: scored.pipelines },
    })
}

impl JobReport {
    fn new(arguments: &Arguments, naive: Schedule, pass_per_source: Schedule, shared_prefix: Schedule) -> Self {
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

/// The text through the model, again and again; the last time it stays.
async fn prefill(lm: &mut Engine, tokens: &[u32]) -> Result<Rate, LmError> {
    let (watch, mut done) = (Stopwatch::start(), 0);
    while done == 0 || watch.cost().wall_seconds < PREFILL_SECONDS {
        lm.reset(tokens.len() + DECODE_TOKENS.end() + 1);
        lm.next_token(tokens, &mut Sampler::greedy()).await?;
        done += tokens.len();
    }
    Ok(Rate::new(done, watch.cost()))
}

/// Tokens after the text so far; which ones does not matter.
async fn decode(lm: &mut Engine) -> Result<Rate, LmError> {
    let mut next = lm.next_token(&[1], &mut Sampler::greedy()).await?;
    let (watch, mut done) = (Stopwatch::start(), 0);
    while done < *DECODE_TOKENS.start() || (done < DECODE_TOKENS.end() - 1 && watch.cost().wall_seconds < DECODE_SECONDS) {
        next = lm.next_token(&[next], &mut Sampler::greedy()).await?;
        done += 1;
    }
    Ok(Rate::new(done, watch.cost()))
}

impl Rate {
    fn new(tokens: usize, cost: Cost) -> Self {
        Self { tokens, cost, per_second: tokens as f64 / cost.wall_seconds, per_cpu_second: tokens as f64 / cost.cpu_seconds }
    }
}

fn adapter(lm: &Engine) -> Option<AdapterInfo> {
    match lm {
        Engine::Cpu(_) => None,
        Engine::Gpu(model) => {
            let adapter = &model.gpu().adapter;
            Some(AdapterInfo { name: adapter.name.clone(), is_software: adapter.is_software })
        }
    }
}

async fn ceilings(lm: &Engine) -> Result<Option<Ceilings>, LmError> {
    match lm {
        Engine::Cpu(_) => Ok(None),
        Engine::Gpu(model) => model.gpu().ceilings().await.map(Some),
    }
}

fn describe(arguments: &Arguments, gguf: &Gguf) -> ModelSizes {
    let in_layers = gguf.tensors.iter().filter(|tensor| tensor.name.starts_with("blk."));
    let head = gguf.find("output.weight").or(gguf.find("token_embd.weight"));
    ModelSizes {
        file: arguments.model.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        bytes: gguf.size,
        header_bytes: gguf.tensors.iter().map(|tensor| tensor.offset).min().unwrap_or(gguf.size),
        parameters: gguf.n_parameters(),
        head_parameters: head.map_or(0, |tensor| tensor.shape.iter().product::<usize>() as u64),
        layer_parameters: in_layers.map(|tensor| tensor.shape.iter().product::<usize>() as u64).sum(),
    }
}

/// Weights that one more token needs: all, but of an embedding that is no LM head only a row.
fn bytes_per_token(gguf: &Gguf) -> usize {
    let has_head = gguf.find("output.weight").is_some();
    let is_read = |name: &str| !has_head || name != "token_embd.weight";
    gguf.tensors.iter().filter(|tensor| is_read(&tensor.name)).map(|tensor| tensor.bytes).sum()
}

/// The report in a few lines.
fn summary(report: &BenchReport) -> String {
    let adapter = report.adapter.as_ref().map_or(String::new(), |adapter| format!(" on {}", adapter.name));
    let mut lines = vec![format!("{}{adapter}, {}: loaded in {}", report.backend, report.model.file, report.load)];
    for (name, rate) in [("prefill", &report.prefill), ("decode", &report.decode)] {
        lines.push(format!("{name}: {:.1} tokens/s, {:.1} per CPU-second", rate.per_second, rate.per_cpu_second));
    }
    if let Some(Ceilings { gflops, gigabytes_per_second }) = &report.ceilings {
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
