//! Which engine: the one asked for, or the one that self-tests recommend; and what a visitor should know about it.

use std::rc::Rc;

use super::self_test;
use crate::gpu;
use crate::gpu::device::{Gpu, Options};
use crate::lm::LoadError;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::request::BackendChoice;

/// The engine for a model.
pub struct EngineChoice {
    pub(super) backend: BackendChoice,
    /// The GPU to use, or none for the CPU.
    pub(super) gpu: Option<Rc<Gpu>>,
    /// Why, where that needs a sentence.
    pub(super) notice: Option<String>,
}

/// Finds the engine for a model: the one that was asked for; on `Auto`, the one that the self-tests recommend.
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

/// The GPU, whatever the self-tests say.
async fn requested_gpu(source: &impl ByteSource, gguf: &Gguf) -> Result<GpuAndNotice, LoadError> {
    let gpu = Rc::new(Gpu::open(&Options::default()).await?);
    let failure = match gpu::self_test::run(&gpu, source, gguf).await? {
        None => self_test::run(&gpu, source, gguf).await?.and_then(|test| test.failure()),
        failure => failure,
    };
    let notice = failure.map(|failure| format!("{failure} It is used because you asked for it: do not trust the numbers."));
    Ok((Some(gpu), notice))
}

/// What the self-tests recommend; the CPU where the GPU could not even be tested.
async fn recommended(gpu: Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<GpuAndNotice, LoadError> {
    match tested(gpu, source, gguf).await {
        Err(LoadError::Engine(error)) => Ok((None, Some(format!("The GPU did not work ({error}), so the CPU engine is used.")))),
        other => other,
    }
}

async fn tested(gpu: Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<GpuAndNotice, LoadError> {
    // Kernel by kernel, whatever the size of the model ..
    if let Some(failure) = gpu::self_test::run(&gpu, source, gguf).await? {
        return Ok((None, Some(format!("{failure} The CPU engine is used instead."))));
    }
    // .. and all together, where a part of the model is small enough.
    Ok(match self_test::run(&gpu, source, gguf).await? {
        // Nothing is known of its speed, and software is rarely faster.
        None if gpu.adapter.is_software => {
            (None, Some("This browser has only software WebGPU (no GPU), so the CPU engine is used.".into()))
        }
        None => (Some(gpu), None),
        Some(test) => {
            let (uses_gpu, notice) = test.recommendation(gpu.adapter.is_software);
            (uses_gpu.then_some(gpu), notice)
        }
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::WrongKernel;
    use crate::model::source::NativeFile;

    #[tokio::test]
    async fn a_gpu_with_a_wrong_kernel_is_not_used() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/public/models/demo.gguf");
        let source = NativeFile::open(std::path::Path::new(path)).unwrap();
        let gguf = Gguf::read(&source).await.unwrap();
        let gpu = Gpu::open(&Options::default()).await.unwrap();
        *gpu.wrong_kernel.borrow_mut() =
            Some(WrongKernel { name: "swiglu", format: None, right: "gate / (1.0", wrong: "gate * (1.0", is_used: false });
        let (gpu, notice) = recommended(Rc::new(gpu), &source, &gguf).await.unwrap();
        assert!(gpu.is_none(), "the CPU is used");
        assert_eq!(notice.as_deref(), Some("The GPU of this machine computes SwiGLU wrong. The CPU engine is used instead."));
    }
}
