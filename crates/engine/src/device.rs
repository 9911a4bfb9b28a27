//! Measures this device when the visitor asks for it: speed of the model, peak of the GPU, and errors of its kernels.

use std::rc::Rc;

use web_time::Instant;

use super::Engine;
use super::gpu::device::{Gpu, Options};
use super::gpu::self_test::SelfTest;
use super::lm::sample::Sampler;
use super::lm::{Callback, LanguageModel, LmError, LoadError};
use super::self_test;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::device::{GpuReport, TokenSpeed};

/// Minimum and maximum tokens of the measured text, and the time that reading it should take, in seconds.
const READ_TOKENS: [usize; 2] = [8, 256];
const READ_SECONDS: f64 = 0.5;
/// Maximum number of measured decode steps, and the time after which no further step begins, in seconds.
const DECODE_STEPS: usize = 32;
const DECODE_SECONDS: f64 = 1.0;

/// Measures the speed of the model, and the GPU if there is one. Clears the current context. Returns `None` if `on_step`, which is called
/// between the measurements, cancels.
pub async fn measure(
    lm: &mut Engine,
    source: &impl ByteSource,
    gguf: &Gguf,
    on_step: &mut dyn Callback<()>,
) -> Result<Option<(TokenSpeed, Option<GpuReport>)>, LoadError> {
    let speed = speed(lm).await?;
    let gpu = match lm {
        Engine::Gpu(model) => Some(model.gpu().clone()),
        // The GPU that was not chosen: its errors may tell why.
        Engine::Cpu(_) => Gpu::open(&Options::default()).await.ok().map(Rc::new),
    };
    Ok(match gpu {
        None => Some((speed, None)),
        Some(gpu) => measure_gpu(&gpu, source, gguf, on_step).await?.map(|gpu| (speed, Some(gpu))),
    })
}

async fn measure_gpu(
    gpu: &Rc<Gpu>,
    source: &impl ByteSource,
    gguf: &Gguf,
    on_step: &mut dyn Callback<()>,
) -> Result<Option<GpuReport>, LoadError> {
    if on_step.call(()).await.is_break() {
        return Ok(None);
    }
    let kernels = SelfTest::read(source, gguf).await?.errors(gpu).await?;
    if on_step.call(()).await.is_break() {
        return Ok(None);
    }
    let nats = self_test::difference(gpu, source, gguf).await?.filter(|nats| nats.is_finite());
    if on_step.call(()).await.is_break() {
        return Ok(None);
    }
    let peak = match gpu.peak_throughput().await {
        Err(LmError::OutOfGpuMemory { .. }) => None,
        measured => Some(measured?),
    };
    Ok(Some(GpuReport {
        name: gpu.adapter.name.clone(),
        is_software: gpu.adapter.is_software,
        buffer_bytes: gpu.max_buffer_bytes,
        gflops: peak.map(|peak| peak.gflops),
        gigabytes_per_second: peak.map(|peak| peak.gigabytes_per_second),
        shapes: gpu.variant.shares_memory.then(|| gpu.shapes.get().to_string()),
        nats,
        accepted_nats: self_test::TOLERANCE,
        kernels,
    }))
}

/// Measures how fast the model reads and generates. Token ids do not matter.
async fn speed(lm: &mut impl LanguageModel) -> Result<TokenSpeed, LmError> {
    let [least, most] = READ_TOKENS.map(|n| n.min(lm.config().context_length / 2).max(1));
    // The first run includes compilation.
    read_seconds(lm, least).await?;
    let each = read_seconds(lm, least).await? / least as f64;
    let n = ((READ_SECONDS / each) as usize).clamp(least, most);
    let read = n as f64 / read_seconds(lm, n).await?;

    let mut next = lm.next_token(&[1], &mut Sampler::greedy()).await?;
    let (began, mut steps) = (Instant::now(), 0);
    while steps == 0 || (steps < DECODE_STEPS.min(most.saturating_sub(1)) && began.elapsed().as_secs_f64() < DECODE_SECONDS) {
        next = lm.next_token(&[next], &mut Sampler::greedy()).await?;
        steps += 1;
    }
    Ok(TokenSpeed { read, generated: steps as f64 / began.elapsed().as_secs_f64() })
}

/// Seconds of reading `n` tokens and choosing the next one.
async fn read_seconds(lm: &mut impl LanguageModel, n: usize) -> Result<f64, LmError> {
    let tokens: Vec<TokenId> = (0..n).map(|i| (i * 37 % lm.config().vocab_size) as TokenId).collect();
    lm.reset(n + DECODE_STEPS + 2);
    let began = Instant::now();
    lm.next_token(&tokens, &mut Sampler::greedy()).await?;
    Ok(began.elapsed().as_secs_f64())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::{choose, load};
    use glasscage_model::source::NativeFile;
    use glasscage_protocol::request::{BackendChoice, LoadOptions};

    #[tokio::test]
    async fn both_engines_are_measured_and_report_gpu() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
        let source = NativeFile::open(std::path::Path::new(path)).unwrap();
        let gguf = Gguf::read(&source).await.unwrap();
        for backend in [BackendChoice::Cpu, BackendChoice::Gpu] {
            let chosen = choose(&source, &gguf, &LoadOptions::from(backend)).await.unwrap();
            let mut lm = load(&source, &gguf, chosen, &mut async |_| ControlFlow::Continue(())).await.unwrap().unwrap().engine;
            let mut steps = 0;
            let mut count = async |()| {
                steps += 1;
                ControlFlow::Continue(())
            };
            let (speed, gpu) = measure(&mut lm, &source, &gguf, &mut count).await.unwrap().expect("nobody cancels");
            let gpu = gpu.expect("the tests need WebGPU or Vulkan");
            assert!(speed.read > 0.0 && speed.generated > 0.0, "{speed:?}");
            assert!(!gpu.name.is_empty() && gpu.gflops > Some(0.0) && gpu.gigabytes_per_second > Some(0.0), "{gpu:?}");
            assert!(gpu.nats.is_some_and(|nats| nats > 0.0 && nats < gpu.accepted_nats), "{gpu:?}");
            let names: std::collections::BTreeSet<&str> = gpu.kernels.iter().map(|kernel| &*kernel.what).collect();
            assert_eq!(names.len(), gpu.kernels.len(), "a row per group");
            assert!(names.contains("GEMM (Q8_0)") && names.contains("RMSNorm"), "{names:?}");
            assert!(gpu.kernels.iter().all(|kernel| kernel.is_right && kernel.error < Some(1e-4)), "{gpu:?}");
            assert_eq!(steps, 3);
            assert_eq!(measure(&mut lm, &source, &gguf, &mut async |()| ControlFlow::Break(())).await.unwrap(), None);
        }
    }
}
