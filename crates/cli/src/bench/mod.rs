//! `glasscage bench`: measures the speed of one engine on this machine. Writes JSON and prints a few lines.

mod arguments;
pub mod cost;
mod profile;
mod rates;
mod report;
mod schedules;

use std::rc::Rc;
use std::time::Instant;

use glasscage_engine::Engine;
use glasscage_engine::gpu::peak_throughput::PeakThroughput;
use glasscage_engine::lm::sample::Sampler;
use glasscage_engine::lm::{Counters, LanguageModel, LmError};
use glasscage_model::gguf::Gguf;

use super::models::{load, open};
use super::output;
pub use arguments::Arguments;

use cost::{Stopwatch, peak_resident_bytes};
use rates::{DECODE_TOKENS, decode, prefill};
use report::{AdapterInfo, BenchReport, JobReport, ModelSizes, PeakGpuBytes, Pipelines, Reached, summary};
use schedules::{AttributionJob, GpuWork};

pub fn bench(arguments: &Arguments) -> Result<(), String> {
    let job = AttributionJob::new(arguments.tokens, arguments.sentences, arguments.generated)?;
    for file in std::iter::once(&arguments.json).chain(&arguments.profile) {
        output::check_writable(file)?;
    }
    let report = pollster::block_on(measure(arguments, &job))?;
    output::print(&summary(&report))?;
    let json = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    output::write(&arguments.json, json + "\n")?;
    match &arguments.profile {
        Some(file) => output::write(file, pollster::block_on(profile::profile(arguments, &job))?),
        None => Ok(()),
    }
}

async fn measure(arguments: &Arguments, job: &AttributionJob) -> Result<BenchReport, String> {
    let failed = |error: LmError| error.to_string();
    let gguf = Gguf::read(&open(&arguments.model)?).await.map_err(|error| error.to_string())?;
    let watch = Stopwatch::start();
    let mut lm = load(&arguments.model, arguments.backend)?.lm;
    let load = watch.cost();
    let (tokens, end_token) = job.text(lm.config().vocab_size);

    lm.reset(tokens.len() + DECODE_TOKENS.end() + 1);
    // The first token includes compilation, so it is not measured.
    lm.next_token(&tokens[..8.min(tokens.len())], &mut Sampler::greedy()).await.map_err(failed)?;
    let at_first_token = lm.counters().pipelines;
    let prefill = prefill(&mut lm, &tokens).await.map_err(failed)?;
    let before: Counters = lm.counters();
    let decode = decode(&mut lm).await.map_err(failed)?;
    let generated: Counters = lm.counters();

    let shared_prefix = job.run_with_shared_prefix(&mut lm, &tokens, end_token).await.map_err(failed)?;
    let scored = lm.counters();
    let pass_per_source = job.run_pass_per_source(&mut lm, &tokens, end_token, arguments.seconds).await.map_err(failed)?;
    let naive = job.run_naively(&mut lm, &tokens, end_token, arguments.seconds).await.map_err(failed)?;
    let stop_seconds = stop_seconds(&mut lm, job, &tokens, end_token, shared_prefix.cost.wall_seconds).await.map_err(failed)?;
    let model = describe(arguments, &gguf);
    let mut report = BenchReport {
        backend: lm.backend().name,
        adapter: adapter(&lm),
        ceilings: peak_throughput(&lm).await.map_err(failed)?,
        reached: None,
        gflops: 2e-9 * model.layer_parameters as f64 * prefill.per_second,
        gigabytes_per_second: 1e-9 * bytes_per_token(&gguf) as f64 * decode.per_second,
        model,
        load,
        prefill,
        decode,
        decode_work: GpuWork::between(before, generated),
        job: JobReport::new(arguments, naive, pass_per_source, shared_prefix),
        stop_seconds,
        peak_resident_bytes: peak_resident_bytes(),
        peak_gpu_bytes: PeakGpuBytes { decode: generated.peak_gpu_bytes, job: scored.peak_gpu_bytes },
        pipelines: Pipelines { at_first_token, after_generation: generated.pipelines, after_job: scored.pipelines },
    };
    report.reached = Reached::of(&report);
    Ok(report)
}

/// Stops the job, which takes `job_seconds`, in its middle. Returns the seconds until the engine returns; `None` for the CPU.
async fn stop_seconds(
    lm: &mut Engine,
    job: &AttributionJob,
    tokens: &[u32],
    end_token: u32,
    job_seconds: f64,
) -> Result<Option<f64>, LmError> {
    let Engine::Gpu(model) = lm else { return Ok(None) };
    let (began, middle) = (Instant::now(), job_seconds / 2.0);
    model.gpu().is_stopped.replace(Rc::new(move || began.elapsed().as_secs_f64() >= middle));
    let ended = job.score_shared(model.as_mut(), tokens, end_token).await;
    let seconds = began.elapsed().as_secs_f64() - middle;
    model.gpu().is_stopped.replace(Rc::new(|| false));
    match ended {
        Ok(()) | Err(LmError::Stopped) => Ok(Some(seconds.max(0.0))),
        Err(error) => Err(error),
    }
}

fn adapter(lm: &Engine) -> Option<AdapterInfo> {
    match lm {
        Engine::Cpu(_) => None,
        Engine::Gpu(model) => {
            let (gpu, adapter) = (model.gpu(), &model.gpu().adapter);
            Some(AdapterInfo {
                name: adapter.name.clone(),
                is_software: adapter.is_software,
                kernel_shapes: gpu.shapes_to_remember(),
                shape_times: gpu.shape_times.borrow().clone(),
            })
        }
    }
}

async fn peak_throughput(lm: &Engine) -> Result<Option<PeakThroughput>, LmError> {
    match lm {
        Engine::Cpu(_) => Ok(None),
        Engine::Gpu(model) => model.gpu().peak_throughput().await.map(Some),
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

/// Bytes of the weights that one more token needs. Excludes an embedding that is not the LM head, because only one row of it is read.
fn bytes_per_token(gguf: &Gguf) -> usize {
    let has_head = gguf.find("output.weight").is_some();
    let is_read = |name: &str| !has_head || name != "token_embd.weight";
    gguf.tensors.iter().filter(|tensor| is_read(&tensor.name)).map(|tensor| tensor.bytes).sum()
}
