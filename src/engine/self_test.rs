//! The GPU against the CPU on a reduced model: are its scores the same, and is it faster? Beside [`crate::gpu::self_test`], which tests
//! each kernel by itself, whatever the size of the model.

use std::ops::ControlFlow;
use std::rc::Rc;

use web_time::Instant;

use super::reduced_model;
use crate::cpu::CandleModel;
use crate::gpu::GpuModel;
use crate::gpu::device::Gpu;
use crate::lm::{Edit, LanguageModel, LmError, LoadError, Pass, ScoreRequest};
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::TokenId;

/// A score may differ by this much between engines, in nats.
pub const TOLERANCE: f64 = 1e-3;
/// Tokens of the text.
const LENGTH: usize = 48;

/// How the engines compare on the same text.
#[derive(Clone, Debug)]
pub struct SelfTest {
    /// The largest difference of a log-probability, in nats; NaN where the GPU gave none.
    pub difference: f64,
    pub gpu_seconds: f64,
    pub cpu_seconds: f64,
}

/// Loads a reduced model on both engines and scores a text with two perturbations; `None` where even that is too large.
pub async fn run(gpu: &Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<Option<SelfTest>, LoadError> {
    let Some((part, bytes)) = reduced_model::read(source, gguf).await? else { return Ok(None) };
    let complete = "loading is never broken off";
    let (mut on_cpu, _) = CandleModel::load(&bytes, &part, &mut async |_| ControlFlow::Continue(())).await?.expect(complete);
    // Where the CPU engine fails, the file is at fault.
    let (cpu_scores, cpu_seconds) = score(&mut on_cpu).await.map_err(|error| LoadError::Weights(error.to_string()))?;
    drop(on_cpu);
    let (mut on_gpu, _) = GpuModel::load(gpu.clone(), &bytes, &part, &mut async |_| ControlFlow::Continue(())).await?.expect(complete);
    drop(bytes);
    // The first run compiles; only a software adapter's speed is in doubt.
    let mut gpu_result = score(&mut on_gpu).await;
    if gpu.adapter.is_software {
        gpu_result = score(&mut on_gpu).await;
    }
    let (gpu_scores, gpu_seconds) = match gpu_result {
        Err(LmError::NotFinite) => (vec![f64::NAN], f64::INFINITY),
        scored => scored?,
    };
    let differences = cpu_scores.iter().zip(&gpu_scores).map(|(cpu, gpu)| (cpu - gpu).abs());
    let difference = differences.fold(0.0, |largest: f64, next| if next > largest || next.is_nan() { next } else { largest });
    Ok(Some(SelfTest { difference, gpu_seconds, cpu_seconds }))
}

/// Log-probabilities of base text and perturbed ones, and how long they took.
async fn score(model: &mut impl LanguageModel) -> Result<(Vec<f64>, f64), LmError> {
    let (vocab_size, length) = (model.config().vocab_size, LENGTH.min(model.config().context_length).max(2));
    let tokens: Vec<TokenId> = (0..length).map(|i| (i * 37 % vocab_size) as TokenId).collect();
    let pass = |start: usize| Pass { edits: vec![Edit::new(start, &[0; 3])] };
    let passes = [pass(length / 4), pass(length / 2)];
    let request = ScoreRequest::new(&tokens, (length / 3).max(1)..length, if length > 12 { &passes } else { &[] });
    let began = Instant::now();
    let mut scores = Vec::new();
    model
        .score(&request, async |_, readout| {
            scores.extend_from_slice(&readout.log_probs);
            ControlFlow::Continue(())
        })
        .await?;
    Ok((scores, began.elapsed().as_secs_f64()))
}

impl SelfTest {
    /// What is wrong with the GPU's scores, where something is.
    pub fn failure(&self) -> Option<String> {
        match self.difference <= TOLERANCE {
            true => None,
            false if self.difference.is_nan() => Some("The GPU of this machine computed something that is not a number.".into()),
            false => Some(format!("The scores of this machine's GPU are wrong (by {:.2} nats in a test).", self.difference)),
        }
    }

    /// Whether to use the GPU, and why, where that needs a sentence.
    pub fn recommendation(&self, is_software: bool) -> (bool, Option<String>) {
        const SOFTWARE: &str = "This browser has only software WebGPU (no GPU).";
        let speedup = self.cpu_seconds / self.gpu_seconds;
        match self.failure() {
            Some(failure) => (false, Some(format!("{failure} The CPU engine is used instead."))),
            None if !is_software => (true, None),
            None if speedup > 1.0 => {
                (true, Some(format!("{SOFTWARE} It was {speedup:.1} times as fast as the CPU engine in a test, so it is used.")))
            }
            None => {
                let slowdown = 1.0 / speedup;
                (false, Some(format!("{SOFTWARE} The CPU engine was {slowdown:.1} times as fast in a test, so it is used.")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: SelfTest = SelfTest { difference: 1e-6, gpu_seconds: 0.1, cpu_seconds: 0.2 };

    #[test]
    fn a_gpu_with_right_scores_is_used_without_a_notice() {
        assert_eq!(FAST.recommendation(false), (true, None));
    }

    #[test]
    fn wrong_numbers_send_the_work_to_the_cpu() {
        for difference in [0.2, f64::NAN] {
            let (uses_gpu, notice) = SelfTest { difference, ..FAST }.recommendation(false);
            assert!(!uses_gpu && notice.unwrap().contains("CPU engine is used"));
        }
    }

    #[test]
    fn of_two_software_engines_the_faster_one_is_used_and_named() {
        assert!(FAST.recommendation(true).0 && FAST.recommendation(true).1.unwrap().contains("2.0 times"));
        let slow = SelfTest { gpu_seconds: 1.0, ..FAST };
        assert!(!slow.recommendation(true).0 && slow.recommendation(true).1.unwrap().contains("5.0 times"));
    }
}
