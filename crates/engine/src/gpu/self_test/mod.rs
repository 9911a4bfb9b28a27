//! Checks that this GPU computes correctly. Runs each kernel of the model on a few kilobytes, with weights of the model if the kernel
//! reads weights, and compares with the definition. Takes milliseconds, regardless of the model's size.

mod case;
mod cases;
mod recurrent;
mod samples;

use self::case::Case;
use self::samples::Sample;
use super::device::Gpu;
use super::weight_check::{RowProducts, read_row_products};
use crate::lm::{LmError, LoadError};
use glasscage_message::{Message, message};
use glasscage_model::config::Config;
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_protocol::device::KernelError;

/// The test of the kernels that a model needs.
pub struct SelfTest {
    config: Config,
    samples: Vec<Sample>,
    /// See [`super::weight_check`].
    pub(super) row_products: Vec<RowProducts>,
}

impl SelfTest {
    pub async fn read(source: &impl ByteSource, gguf: &Gguf) -> Result<Self, LoadError> {
        let config = Config::from_gguf(gguf)?;
        let (samples, row_products) = (samples::read(source, gguf, &config).await?, read_row_products(source, gguf, &config).await?);
        Ok(Self { config, samples, row_products })
    }

    /// Runs the test. Describes what this GPU computes wrong. `None` if all kernels are correct.
    pub async fn run(&self, gpu: &Gpu) -> Result<Option<Message>, LmError> {
        let wrong = first_wrong(gpu, &self.config, &self.samples).await?;
        Ok(wrong.map(|what| message!("This device’s GPU computes {what} incorrectly")))
    }

    /// Runs the test. Returns the error of each group of kernels, in the order of the cases.
    pub async fn errors(&self, gpu: &Gpu) -> Result<Vec<KernelError>, LmError> {
        let mut errors: Vec<KernelError> = Vec::new();
        for (case, computed) in run_cases(gpu, &self.config, &self.samples).await? {
            let (error, is_right) = (Some(case.error(&computed)).filter(|error| error.is_finite()), case.is_right(&computed));
            match errors.iter_mut().find(|known| known.what == case.what) {
                Some(known) => {
                    known.error = known.error.zip(error).map(|(one, other)| one.max(other));
                    known.is_right &= is_right;
                }
                None => errors.push(KernelError { what: case.what, error, is_right }),
            }
        }
        Ok(errors)
    }
}

/// Name of the first wrong kernel.
async fn first_wrong(gpu: &Gpu, config: &Config, samples: &[Sample]) -> Result<Option<String>, LmError> {
    let wrong = run_cases(gpu, config, samples).await?.into_iter().find(|(case, computed)| !case.is_right(computed));
    Ok(wrong.map(|(case, _)| case.what))
}

/// Runs all cases. Returns each with its computed values. All kernels run before any result is read back.
async fn run_cases(gpu: &Gpu, config: &Config, samples: &[Sample]) -> Result<Vec<(Case, Vec<u32>)>, LmError> {
    let cases = gpu.try_allocate(|| cases::run(gpu, config, samples)).await?;
    let all = gpu.buffer("self-test", cases.iter().map(Case::length).sum());
    let mut end = 0;
    for case in &cases {
        gpu.copy(&case.computed, &all, end, case.length());
        end += case.length();
    }
    let words = gpu.read(&all, end).await?;
    let mut rest = &words[..];
    let with_values = cases.into_iter().map(|case| {
        let (computed, others) = rest.split_at(case.length());
        rest = others;
        (case, computed.to_vec())
    });
    Ok(with_values.collect())
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod fault_tests;
#[cfg(test)]
mod tests;
