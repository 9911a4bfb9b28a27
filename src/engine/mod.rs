//! Which engine a model runs on: the GPU where there is one that computes right, else the CPU.

mod probe;
mod trial;

use std::ops::ControlFlow;
use std::rc::Rc;

use crate::cpu::{self, CandleModel, EXPANDED_BYTES};
use crate::gpu::device::{Gpu, Options};
use crate::gpu::{self, GpuModel};
use crate::lm::sample::Sampler;
use crate::lm::{Backend, Counters, Infill, Infills, Job, LanguageModel, LmError, LoadError, Readout};
use crate::model::config::Config;
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::TokenId;
use crate::request::{BackendChoice, LoadProgress};

/// A loaded model on either engine.
pub enum Engine {
    Cpu(Box<CandleModel>),
    Gpu(Box<GpuModel>),
}

/// An engine with its model, and what a visitor should know about the choice.
pub struct Loaded {
    pub engine: Engine,
    /// Of the file, in lower-case hexadecimal.
    pub sha256: String,
    /// One sentence where the choice was not the usual one.
    pub notice: Option<String>,
}

/// Loads a model on the chosen engine. `None` where `on_progress` broke off.
pub async fn load(
    source: &impl ByteSource,
    gguf: &Gguf,
    Chosen { choice, gpu, mut notice }: Chosen,
    mut on_progress: impl AsyncFnMut(LoadProgress) -> ControlFlow<()>,
) -> Result<Option<Loaded>, LoadError> {
    let config = Config::from_gguf(gguf)?;
    let progress = |read_bytes, memory_bytes| LoadProgress { read_bytes, total_bytes: source.size(), memory_bytes };
    if let Some(gpu) = gpu {
        let memory_bytes = gpu::memory::estimate(gguf, &config, gpu.variant);
        match GpuModel::load(gpu, source, gguf, async |bytes| on_progress(progress(bytes, memory_bytes)).await).await {
            Ok(loaded) => return Ok(loaded.map(|(model, sha256)| Loaded { engine: Engine::Gpu(Box::new(model)), sha256, notice })),
            Err(LoadError::Engine(error)) if choice == BackendChoice::Auto => {
                notice = Some(format!("The GPU could not take the model ({error}), so the CPU computes."));
            }
            Err(error) => return Err(error),
        }
    }
    let memory_bytes = cpu::memory(gguf, EXPANDED_BYTES);
    let loaded = CandleModel::load(source, gguf, EXPANDED_BYTES, async |bytes| on_progress(progress(bytes, memory_bytes)).await).await?;
    Ok(loaded.map(|(model, sha256)| Loaded { engine: Engine::Cpu(Box::new(model)), sha256, notice }))
}

const UNTRIED: &str = "This model is too large for a trial of the GPU: nothing has compared its numbers with the CPU's.";

/// The engine for a model.
pub struct Chosen {
    choice: BackendChoice,
    /// The GPU to use, or none for the CPU.
    gpu: Option<Rc<Gpu>>,
    /// Why, where that needs a word.
    notice: Option<String>,
}

/// Finds the engine for a model: the one that was asked for; on `Auto`, the one that [`trial`] recommends.
pub async fn choose(source: &impl ByteSource, gguf: &Gguf, choice: BackendChoice) -> Result<Chosen, LoadError> {
    let (gpu, notice) = gpu_and_notice(source, gguf, choice).await?;
    Ok(Chosen { choice, gpu, notice })
}

async fn gpu_and_notice(
    source: &impl ByteSource,
    gguf: &Gguf,
    choice: BackendChoice,
) -> Result<(Option<Rc<Gpu>>, Option<String>), LoadError> {
    match choice {
        BackendChoice::Cpu => Ok((None, None)),
        BackendChoice::Gpu => {
            let gpu = Rc::new(Gpu::open(&Options::default()).await?);
            let wrong = match trial::run(&gpu, source, gguf).await? {
                Some(trial) => trial.wrong(),
                None => Some(UNTRIED.into()),
            };
            let notice = wrong.map(|wrong| format!("{wrong} It is used because that was asked for: do not trust the numbers."));
            Ok((Some(gpu), notice))
        }
        BackendChoice::Auto => match Gpu::open(&Options::default()).await {
            Err(_) => Ok((None, Some("This browser gives no access to a GPU, so the CPU computes.".into()))),
            Ok(gpu) => {
                let gpu = Rc::new(gpu);
                Ok(match trial::run(&gpu, source, gguf).await {
                    // Nothing is known of its speed, and software is rarely faster.
                    Ok(None) if gpu.adapter.is_software => {
                        (None, Some("This browser has WebGPU without a GPU, so the CPU computes.".into()))
                    }
                    Ok(None) => (Some(gpu), Some(UNTRIED.into())),
                    Ok(Some(trial)) => {
                        let (takes_gpu, notice) = trial.verdict(gpu.adapter.is_software);
                        (takes_gpu.then_some(gpu), notice)
                    }
                    Err(LoadError::Engine(error)) => (None, Some(format!("The GPU did not work ({error}), so the CPU computes."))),
                    Err(error) => return Err(error),
                })
            }
        },
    }
}

impl Engine {
    /// Whether it can compute nothing any more: its device was lost or ran out of memory.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Cpu(_) => false,
            Self::Gpu(model) => model.gpu().check().is_err(),
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

    async fn score(&mut self, job: &Job<'_>, on_readout: impl AsyncFnMut(usize, &Readout) -> ControlFlow<()>) -> Result<(), LmError> {
        match self {
            Self::Cpu(model) => model.score(job, on_readout).await,
            Self::Gpu(model) => model.score(job, on_readout).await,
        }
    }

    async fn infill(&mut self, infill: &Infill<'_>, on_step: impl AsyncFnMut() -> ControlFlow<()>) -> Result<Option<Infills>, LmError> {
        match self {
            Self::Cpu(model) => model.infill(infill, on_step).await,
            Self::Gpu(model) => model.infill(infill, on_step).await,
        }
    }

    fn counters(&self) -> Counters {
        match self {
            Self::Cpu(model) => model.counters(),
            Self::Gpu(model) => model.counters(),
        }
    }
}
