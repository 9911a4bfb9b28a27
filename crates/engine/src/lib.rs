//! The engine that a model runs on: the GPU if it computes correct scores, else the CPU.

mod choice;
pub mod cpu;
pub mod device;
pub mod gpu;
pub mod lm;
mod reduced_model;
mod self_test;

use choice::{ChosenGpu, cpu_instead};
pub use choice::{EngineChoice, choose};
pub use cpu::{MaskedLm, MaskedLmError};

use std::rc::Rc;

use cpu::CandleModel;
use glasscage_message::{Message, message};
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::request::{BackendChoice, LoadProgress};
use gpu::GpuModel;
use gpu::device::Gpu;
use gpu::self_test::SelfTest;
use lm::sample::Sampler;
use lm::{Backend, Callback, Counters, InfillRequest, Infills, LanguageModel, LmError, LoadError, OnReadout, OnReadouts, ScoreRequest};

/// A loaded model on either engine.
pub enum Engine {
    Cpu(Box<CandleModel>),
    Gpu(Box<GpuModel>),
}

/// A loaded engine, and a notice about the choice for the visitor.
pub struct LoadedEngine {
    pub engine: Engine,
    /// SHA-256 of the model file, in lower-case hexadecimal.
    pub sha256: String,
    /// Why another backend than the default was chosen, or why the requested GPU may compute incorrectly. `None` if nothing is unusual.
    pub notice: Option<Message>,
}

/// Loads a model on the chosen engine. Returns `None` if `on_progress` cancels.
pub async fn load(
    source: &impl ByteSource,
    gguf: &Gguf,
    EngineChoice { backend, gpu, mut notice }: EngineChoice,
    on_progress: &mut dyn Callback<LoadProgress>,
) -> Result<Option<LoadedEngine>, LoadError> {
    let config = Config::from_gguf(gguf)?;
    let progress = |read_bytes, memory_bytes| LoadProgress { read_bytes, total_bytes: source.size(), memory_bytes };
    if let Some(ChosenGpu { gpu, self_test }) = gpu {
        let memory_bytes = gpu::memory::estimate(gguf, &config, gpu.variant);
        match load_on_gpu(gpu, self_test, source, gguf, &mut async |bytes| on_progress.call(progress(bytes, memory_bytes)).await).await {
            Ok(None) => return Ok(None),
            Ok(Some((model, sha256))) => return Ok(Some(LoadedEngine { engine: Engine::Gpu(Box::new(model)), sha256, notice })),
            Err(LoadError::Engine(error)) if backend == BackendChoice::Auto => {
                notice = Some(message!("The GPU could not take the model ({error}), so the CPU engine is used"));
            }
            Err(error) => return Err(error),
        }
    }
    let memory_bytes = cpu::memory(gguf);
    let mut tell = async |bytes| on_progress.call(progress(bytes, memory_bytes)).await;
    let loaded = CandleModel::load(source, gguf, &mut tell).await?;
    Ok(loaded.map(|(model, sha256)| LoadedEngine { engine: Engine::Cpu(Box::new(model)), sha256, notice }))
}

/// Loads a model into GPU memory and watches the GPU from then on. Returns the model and the SHA-256 of its file.
async fn load_on_gpu(
    gpu: Rc<Gpu>,
    self_test: Option<SelfTest>,
    source: &impl ByteSource,
    gguf: &Gguf,
    on_progress: &mut dyn Callback<u64>,
) -> Result<Option<(GpuModel, String)>, LoadError> {
    let Some((mut model, sha256)) = GpuModel::load(gpu, source, gguf, on_progress).await? else { return Ok(None) };
    model.watch(self_test).await?;
    Ok(Some((model, sha256)))
}

impl Engine {
    /// Whether it can no longer compute: its device was lost, ran out of memory, or computes incorrectly.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Cpu(_) => false,
            Self::Gpu(model) => model.gpu().check().is_err(),
        }
    }

    /// The notice for the visitor when the model is next loaded, on the CPU: a repeated self-test found that the GPU computes incorrectly.
    pub fn notice_of_faulty_gpu(&self) -> Option<Message> {
        match self {
            Self::Gpu(model) => match model.gpu().check() {
                Err(LmError::FaultyGpu(failure)) => Some(cpu_instead(&failure)),
                _ => None,
            },
            Self::Cpu(_) => None,
        }
    }

    /// The shapes of the GPU's hot kernels, to be remembered: see
    /// [`LoadedModel::kernel_shapes`](glasscage_protocol::request::LoadedModel::kernel_shapes).
    pub fn kernel_shapes(&self) -> Option<String> {
        match self {
            Self::Cpu(_) => None,
            Self::Gpu(model) => model.gpu().shapes_to_remember(),
        }
    }

    /// Sets the stop check: when it returns true, scoring soon ends with [`LmError::Stopped`]. On the CPU, an answer is stopped only by its
    /// callback.
    pub fn stop_when(&self, is_stopped: Rc<dyn Fn() -> bool>) {
        match self {
            Self::Cpu(model) => model.stop_when(is_stopped),
            Self::Gpu(model) => drop(model.gpu().is_stopped.replace(is_stopped)),
        }
    }
}

impl LanguageModel for Engine {
    fn config(&self) -> &Config {
        match self {
            Self::Cpu(model) => model.config(),
            Self::Gpu(model) => model.config(),
        }
    }

    fn backend(&self) -> Backend {
        match self {
            Self::Cpu(model) => model.backend(),
            Self::Gpu(model) => model.backend(),
        }
    }

    fn reset(&mut self, capacity: usize) {
        match self {
            Self::Cpu(model) => model.reset(capacity),
            Self::Gpu(model) => model.reset(capacity),
        }
    }

    async fn next_token(&mut self, tokens: &[TokenId], sampler: &mut Sampler) -> Result<TokenId, LmError> {
        match self {
            Self::Cpu(model) => model.next_token(tokens, sampler).await,
            Self::Gpu(model) => model.next_token(tokens, sampler).await,
        }
    }

    async fn score_text(&mut self, request: &ScoreRequest<'_>, on_readout: &mut OnReadout<'_>) -> Result<(), LmError> {
        match self {
            Self::Cpu(model) => model.score_text(request, on_readout).await,
            Self::Gpu(model) => model.score_text(request, on_readout).await,
        }
    }

    async fn score_texts(&mut self, requests: &[ScoreRequest<'_>], on_readout: &mut OnReadouts<'_>) -> Result<(), LmError> {
        match self {
            Self::Cpu(model) => model.score_texts(requests, on_readout).await,
            Self::Gpu(model) => model.score_texts(requests, on_readout).await,
        }
    }

    async fn infill(&mut self, request: &InfillRequest<'_>, on_step: &mut dyn Callback<()>) -> Result<Option<Infills>, LmError> {
        match self {
            Self::Cpu(model) => model.infill(request, on_step).await,
            Self::Gpu(model) => model.infill(request, on_step).await,
        }
    }

    fn counters(&self) -> Counters {
        match self {
            Self::Cpu(model) => model.counters(),
            Self::Gpu(model) => model.counters(),
        }
    }
}
