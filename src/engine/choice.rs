//! Which engine: the one asked for, or the one that a self-test recommends; and what a visitor should know about it.

use std::rc::Rc;

use super::self_test;
use crate::gpu::device::{Gpu, Options};
use crate::lm::LoadError;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::request::BackendChoice;

const UNTESTED: &str = "This model is too large for a self-test of the GPU: its scores were not compared with those of the CPU engine.";

/// The engine for a model.
pub struct EngineChoice {
    pub(super) backend: BackendChoice,
    /// The GPU to use, or none for the CPU.
    pub(super) gpu: Option<Rc<Gpu>>,
    /// Why, where that needs a sentence.
    pub(super) notice: Option<String>,
}

/// Finds the engine for a model: the one that was asked for; on `Auto`, the one that the self-test recommends.
pub async fn choose(source: &impl ByteSource, gguf: &Gguf, backend: BackendChoice) -> Result<EngineChoice, LoadError> {
    let (gpu, notice) = match backend {
        BackendChoice::Cpu => (None, None),
        BackendChoice::Gpu => requested_gpu(source, gguf).await?,
        BackendChoice::Auto => match Gpu::open(&Options::default()).await {
            Ok(gpu) => recommended(Rc::new(gpu), source, gguf).await?,
            Err(_) => (None, Some("This browser gives no access to a GPU, so the CPU engine is used.".into())),
        },
    };
    Ok(EngineChoice { backend, gpu, notice })
}

/// A GPU, or none for the CPU, and the notice.
type GpuAndNotice = (Option<Rc<Gpu>>, Option<String>);

/// The GPU, whatever the self-test says.
async fn requested_gpu(source: &impl ByteSource, gguf: &Gguf) -> Result<GpuAndNotice, LoadError> {
    let gpu = Rc::new(Gpu::open(&Options::default()).await?);
    let failure = match self_test::run(&gpu, source, gguf).await? {
        Some(test) => test.failure(),
        None => Some(UNTESTED.into()),
    };
    let notice = failure.map(|failure| format!("{failure} It is used because you asked for it: do not trust the numbers."));
    Ok((Some(gpu), notice))
}

/// What the self-test recommends.
async fn recommended(gpu: Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<GpuAndNotice, LoadError> {
    Ok(match self_test::run(&gpu, source, gguf).await {
        // Nothing is known of its speed, and software is rarely faster.
        Ok(None) if gpu.adapter.is_software => {
            (None, Some("This browser has only software WebGPU (no GPU), so the CPU engine is used.".into()))
        }
        Ok(None) => (Some(gpu), Some(UNTESTED.into())),
        Ok(Some(test)) => {
            let (uses_gpu, notice) = test.recommendation(gpu.adapter.is_software);
            (uses_gpu.then_some(gpu), notice)
        }
        Err(LoadError::Engine(error)) => (None, Some(format!("The GPU did not work ({error}), so the CPU engine is used."))),
        Err(error) => return Err(error),
    })
}
