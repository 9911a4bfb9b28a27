//! Where the time of each task goes, by kernel: `glasscage bench --profile`. Loads the model once more, on a device that takes timestamps,
//! because they make a run slower.

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

use glasscage_engine::gpu::GpuModel;
use glasscage_engine::gpu::device::{Gpu, Options};
use glasscage_engine::gpu::profiler::Profile;
use glasscage_engine::lm::sample::Sampler;
use glasscage_engine::lm::{LanguageModel, LoadError};
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use serde::Serialize;

use super::super::models::open;
use super::arguments::Arguments;
use super::rates::{DECODE_TOKENS, decode, prefill};
use super::schedules::AttributionJob;

/// A kernel's part of a task.
#[derive(Serialize)]
struct KernelLine<'a> {
    task: &'a str,
    kernel: &'a str,
    dispatches: usize,
    milliseconds: f64,
    /// Its share of the time in which kernels run, in [0, 1].
    share: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gflops: Option<f64>,
    /// Weights read, in 1e9 bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    gigabytes_per_second: Option<f64>,
}

/// The sum of a task, before its kernels.
#[derive(Serialize)]
struct TaskLine<'a> {
    model: &'a str,
    task: &'a str,
    /// Elapsed time, which includes that of the timestamps.
    milliseconds: f64,
    /// Time in which a kernel runs.
    milliseconds_in_kernels: f64,
    /// Time between the dispatches of a submission.
    milliseconds_between_kernels: f64,
    dispatches: usize,
}

/// Profiles prefill, decode and the attribution job. Returns JSON lines.
pub async fn profile(arguments: &Arguments, job: &AttributionJob) -> Result<String, String> {
    let source = open(&arguments.model)?;
    let name = arguments.model.file_name().unwrap_or_default().to_string_lossy();
    profile_of(&name, &source, job).await.map_err(|error| error.to_string())
}

async fn profile_of(name: &str, source: &impl ByteSource, job: &AttributionJob) -> Result<String, LoadError> {
    let gguf = Gguf::read(source).await?;
    let gpu = Rc::new(Gpu::open(&Options { takes_timestamps: true, ..Options::default() }).await?);
    if !gpu.adapter.is_software {
        gpu.choose_shapes(&gguf, &Config::from_gguf(&gguf)?, None).await;
    }
    let loaded = GpuModel::load(gpu.clone(), source, &gguf, &mut async |_| ControlFlow::Continue(())).await?;
    let (mut lm, _) = loaded.expect("nothing cancels it");
    let (tokens, end_token) = job.text(lm.config().vocab_size);
    let mut lines = String::new();

    lm.reset(tokens.len() + DECODE_TOKENS.end() + 1);
    // Compiles the kernels of prefill and decode.
    let next = lm.next_token(&tokens, &mut Sampler::greedy()).await?;
    lm.next_token(&[next], &mut Sampler::greedy()).await?;
    gpu.take_profile().await?;
    for task in ["prefill", "decode", "job"] {
        let began = Instant::now();
        match task {
            "prefill" => prefill(&mut lm, &tokens).await.map(drop),
            "decode" => decode(&mut lm).await.map(drop),
            _ => job.score_shared(&mut lm, &tokens, end_token).await,
        }?;
        let seconds = began.elapsed().as_secs_f64();
        lines += &task_lines(name, task, seconds, &gpu.take_profile().await?);
    }
    Ok(lines)
}

/// A line for the task and one per kernel.
fn task_lines(model: &str, task: &str, seconds: f64, profile: &Profile) -> String {
    let all = TaskLine {
        model,
        task,
        milliseconds: 1e3 * seconds,
        milliseconds_in_kernels: 1e3 * profile.seconds(),
        milliseconds_between_kernels: 1e3 * profile.seconds_between,
        dispatches: profile.kernels.iter().map(|kernel| kernel.dispatches).sum(),
    };
    let kernels = profile.kernels.iter().map(|kernel| {
        let rate = |amount: Option<f64>| amount.map(|amount| 1e-9 * amount / kernel.seconds).filter(|rate| rate.is_finite());
        line(&KernelLine {
            task,
            kernel: &kernel.kernel,
            dispatches: kernel.dispatches,
            milliseconds: 1e3 * kernel.seconds,
            share: kernel.seconds / profile.seconds().max(f64::MIN_POSITIVE),
            gflops: rate(kernel.operations),
            gigabytes_per_second: rate(kernel.weight_bytes),
        })
    });
    std::iter::once(line(&all)).chain(kernels).collect()
}

fn line(of: &impl Serialize) -> String {
    serde_json::to_string(of).expect("numbers and texts are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use glasscage_engine::gpu::profiler::KernelTime;
    use serde_json::Value;

    use super::*;

    #[test]
    fn kernel_line_has_share_and_rates() {
        let kernel = |kernel: &str, seconds, operations| KernelTime {
            kernel: kernel.into(),
            dispatches: 4,
            seconds,
            operations,
            weight_bytes: operations.map(|operations| operations / 4.0),
        };
        let kernels = vec![kernel("matvec", 0.75, Some(3e9)), kernel("swiglu", 0.25, None), kernel("argmax", 0.0, Some(1.0))];
        let text = task_lines("a.gguf", "decode", 2.0, &Profile { kernels, seconds_between: 0.5 });
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["milliseconds"], &lines[0]["milliseconds_in_kernels"]), (&2000.0.into(), &1000.0.into()));
        assert_eq!((&lines[0]["milliseconds_between_kernels"], &lines[0]["dispatches"]), (&500.0.into(), &12.into()));
        assert_eq!((&lines[1]["share"], &lines[1]["gflops"]), (&0.75.into(), &4.0.into()));
        assert_eq!(lines[1]["gigabytes_per_second"], 1.0);
        assert!(lines[2].get("gflops").is_none() && lines[3].get("gflops").is_none(), "{text}");
    }
}
