//! Chooses the engine for a model: the requested one, or a GPU that passes the self-tests, else the CPU. Adds a notice for the visitor if
//! needed.

use std::rc::Rc;

use super::self_test;
use crate::gpu::device::{Gpu, Options};
use crate::gpu::self_test::SelfTest;
use crate::lm::LoadError;
use glasscage_message::{Message, message};
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_protocol::request::{BackendChoice, LoadOptions};

/// The engine chosen for a model.
pub struct EngineChoice {
    pub(super) backend: BackendChoice,
    /// The GPU to use; `None` for the CPU.
    pub(super) gpu: Option<ChosenGpu>,
    /// For the visitor, if the choice needs an explanation.
    pub(super) notice: Option<Message>,
}

/// A GPU to use.
pub(super) struct ChosenGpu {
    pub gpu: Rc<Gpu>,
    /// The test to repeat while the GPU computes. `None` if it fails from the start and the GPU was requested.
    pub self_test: Option<SelfTest>,
}

/// Tells the visitor that the CPU computes because of `failure`.
pub(super) fn cpu_instead(failure: &Message) -> Message {
    message!("{failure}. The CPU engine is used instead")
}

/// Chooses the engine: the requested one. For `Auto`, a GPU that passes the self-tests, else the CPU.
pub async fn choose(source: &impl ByteSource, gguf: &Gguf, options: &LoadOptions) -> Result<EngineChoice, LoadError> {
    let &LoadOptions { backend, ref kernel_shapes } = options;
    let kernel_shapes = kernel_shapes.as_deref();
    let (gpu, notice) = match backend {
        BackendChoice::Cpu => (None, None),
        BackendChoice::Gpu => requested_gpu(source, gguf, kernel_shapes).await?,
        BackendChoice::Auto => match Gpu::open(&Options::default()).await {
            // Software WebGPU compiles its kernels for seconds and is then far slower than the CPU engine (docs/speed.md).
            Ok(gpu) if gpu.adapter.is_software => {
                (None, Some(message!("This browser has only software WebGPU (no GPU), so the CPU engine is used")))
            }
            Ok(gpu) => recommended(Rc::new(gpu), source, gguf, kernel_shapes).await?,
            Err(_) => (None, Some(message!("This browser gives no access to a GPU, so the CPU engine is used"))),
        },
    };
    Ok(EngineChoice { backend, gpu, notice })
}

/// A GPU, or `None` for the CPU, and the notice.
type GpuAndNotice = (Option<ChosenGpu>, Option<Message>);

/// Opens the GPU even if a self-test fails. The notice then reports the failure.
async fn requested_gpu(source: &impl ByteSource, gguf: &Gguf, kernel_shapes: Option<&str>) -> Result<GpuAndNotice, LoadError> {
    let gpu = Rc::new(Gpu::open(&Options::default()).await?);
    choose_shapes(&gpu, gguf, kernel_shapes).await?;
    let kernels = SelfTest::read(source, gguf).await?;
    let failure = match kernels.run(&gpu).await? {
        None => self_test::run(&gpu, source, gguf).await?,
        failure => failure,
    };
    let self_test = failure.is_none().then_some(kernels);
    let notice = failure.map(|failure| message!("{failure}. It is used because you asked for it: do not trust the numbers"));
    Ok((Some(ChosenGpu { gpu, self_test }), notice))
}

/// Uses the GPU if it passes the self-tests, else the CPU. An engine error during the tests also selects the CPU.
async fn recommended(gpu: Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf, kernel_shapes: Option<&str>) -> Result<GpuAndNotice, LoadError> {
    choose_shapes(&gpu, gguf, kernel_shapes).await?;
    match tested(gpu, source, gguf).await {
        Err(LoadError::Engine(error)) => Ok((None, Some(message!("The GPU did not work ({error}), so the CPU engine is used")))),
        other => other,
    }
}

/// Runs before the self-tests, so that they test the kernels that will be used. Skips software adapters, where no shape is faster.
async fn choose_shapes(gpu: &Gpu, gguf: &Gguf, remembered: Option<&str>) -> Result<(), LoadError> {
    if !gpu.adapter.is_software {
        gpu.choose_shapes(gguf, &Config::from_gguf(gguf)?, remembered).await;
    }
    Ok(())
}

async fn tested(gpu: Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<GpuAndNotice, LoadError> {
    // First each kernel alone, for models of any size.
    let kernels = SelfTest::read(source, gguf).await?;
    if let Some(failure) = kernels.run(&gpu).await? {
        return Ok((None, Some(cpu_instead(&failure))));
    }
    // Then all kernels together, if the reduced model is small enough.
    Ok(match self_test::run(&gpu, source, gguf).await? {
        Some(failure) => (None, Some(cpu_instead(&failure))),
        None => (Some(ChosenGpu { gpu, self_test: Some(kernels) }), None),
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::gpu::WrongKernel;
    use glasscage_model::source::NativeFile;

    #[tokio::test]
    async fn a_gpu_with_a_wrong_kernel_is_not_used() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/models/demo.gguf");
        let source = NativeFile::open(std::path::Path::new(path)).unwrap();
        let gguf = Gguf::read(&source).await.unwrap();
        let gpu = Gpu::open(&Options::default()).await.unwrap();
        *gpu.wrong_kernel.borrow_mut() =
            Some(WrongKernel { name: "swiglu", format: None, right: "gate / (1.0", wrong: "gate * (1.0", is_used: false });
        let (gpu, notice) = recommended(Rc::new(gpu), &source, &gguf, None).await.unwrap();
        assert!(gpu.is_none(), "the CPU is used");
        let notice = notice.map(|notice| notice.to_sentence());
        assert_eq!(notice.as_deref(), Some("This device’s GPU computes SwiGLU incorrectly. The CPU engine is used instead."));
    }
}
