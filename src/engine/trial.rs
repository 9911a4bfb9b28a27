//! The GPU against the CPU on a part of the real model: does it compute the same, and is it faster?

use std::ops::ControlFlow;
use std::rc::Rc;

use web_time::Instant;

use super::probe;
use crate::cpu::CandleModel;
use crate::gpu::GpuModel;
use crate::gpu::device::Gpu;
use crate::lm::{Edit, Job, LanguageModel, LmError, LoadError, Pass};
use crate::model::gguf::Gguf;
use crate::model::source::ByteSource;
use crate::model::tokenizer::TokenId;

/// A score may differ by this much between engines, in nats.
pub const TOLERANCE: f64 = 1e-3;
/// Tokens of the text.
const LENGTH: usize = 48;
/// f32 bytes that the CPU's part may be expanded to where its speed counts; it is slower, and smaller, packed.
const EXPANDED_BYTES: u64 = 64 << 20;

/// What both engines made of the same text.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The largest difference of a log-probability, in nats; NaN where the GPU gave none.
    pub difference: f64,
    pub gpu_seconds: f64,
    pub cpu_seconds: f64,
}

/// Loads a part of the model on both engines and scores a text with two perturbations; `None` where the part is too large.
pub async fn run(gpu: &Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<Option<Trial>, LoadError> {
    let Some((part, bytes)) = probe::read(source, gguf).await? else { return Ok(None) };
    let whole = "loading is never broken off";
    let expanded = if gpu.adapter.is_software { EXPANDED_BYTES } else { 0 };
    let (mut on_cpu, _) = CandleModel::load(&bytes, &part, expanded, async |_| ControlFlow::Continue(())).await?.expect(whole);
    // What the CPU cannot compute is the fault of the file.
    let (cpu_scores, cpu_seconds) = score(&mut on_cpu).await.map_err(|error| LoadError::Weights(error.to_string()))?;
    drop(on_cpu);
    let (mut on_gpu, _) = GpuModel::load(gpu.clone(), &bytes, &part, async |_| ControlFlow::Continue(())).await?.expect(whole);
    drop(bytes);
    // The first run compiles; only a software adapter's speed is in doubt.
    let mut on_gpu_twice = score(&mut on_gpu).await;
    if gpu.adapter.is_software {
        on_gpu_twice = score(&mut on_gpu).await;
    }
    let (gpu_scores, gpu_seconds) = match on_gpu_twice {
        Err(LmError::NotFinite) => (vec![f64::NAN], f64::INFINITY),
        scored => scored?,
    };
    let differences = cpu_scores.iter().zip(&gpu_scores).map(|(cpu, gpu)| (cpu - gpu).abs());
    let difference = differences.fold(0.0, |largest: f64, next| if next > largest || next.is_nan() { next } else { largest });
    Ok(Some(Trial { difference, gpu_seconds, cpu_seconds }))
}

/// Log-probabilities of base text and perturbed ones, and how long they took.
async fn score(model: &mut impl LanguageModel) -> Result<(Vec<f64>, f64), LmError> {
    let (vocab_size, length) = (model.config().vocab_size, LENGTH.min(model.config().context_length).max(2));
    let tokens: Vec<TokenId> = (0..length).map(|i| (i * 37 % vocab_size) as TokenId).collect();
    let pass = |start: usize| Pass { edits: vec![Edit::new(start, &[0; 3])] };
    let passes = [pass(length / 4), pass(length / 2)];
    let job = Job::new(&tokens, (length / 3).max(1)..length, if length > 12 { &passes } else { &[] });
    let began = Instant::now();
    let mut scores = Vec::new();
    model
        .score(&job, async |_, readout| {
            scores.extend_from_slice(&readout.log_probs);
            ControlFlow::Continue(())
        })
        .await?;
    Ok((scores, began.elapsed().as_secs_f64()))
}

impl Trial {
    /// What is wrong with the GPU's numbers, where something is.
    pub fn wrong(&self) -> Option<String> {
        match self.difference <= TOLERANCE {
            true => None,
            false if self.difference.is_nan() => Some("The GPU of this machine computed something that is no number.".into()),
            false => Some(format!("The GPU of this machine computes wrong scores (off by {:.2} nat in a test).", self.difference)),
        }
    }

    /// Whether to take the GPU, and why, where that needs a word.
    pub fn verdict(&self, is_software: bool) -> (bool, Option<String>) {
        let times = self.cpu_seconds / self.gpu_seconds;
        match self.wrong() {
            Some(wrong) => (false, Some(format!("{wrong} The CPU computes instead."))),
            None if !is_software => (true, None),
            None if times > 1.0 => (
                true,
                Some(format!(
                    "This browser has WebGPU without a GPU; it was {times:.1} times as fast as the CPU engine in a test, so it computes."
                )),
            ),
            None => {
                let slower = 1.0 / times;
                (
                    false,
                    Some(format!(
                        "This browser has WebGPU without a GPU; the CPU engine was {slower:.1} times as fast in a test, so it computes."
                    )),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Trial = Trial { difference: 1e-6, gpu_seconds: 0.1, cpu_seconds: 0.2 };

    #[test]
    fn a_gpu_that_computes_right_is_taken_without_a_word() {
        assert_eq!(FAST.verdict(false), (true, None));
    }

    #[test]
    fn wrong_numbers_send_the_work_to_the_cpu() {
        for difference in [0.2, f64::NAN] {
            let (takes_gpu, notice) = Trial { difference, ..FAST }.verdict(false);
            assert!(!takes_gpu && notice.unwrap().contains("The CPU computes"));
        }
    }

    #[test]
    fn of_two_software_engines_the_faster_one_is_taken_and_named() {
        assert!(FAST.verdict(true).0 && FAST.verdict(true).1.unwrap().contains("2.0 times"));
        let slow = Trial { gpu_seconds: 1.0, ..FAST };
        assert!(!slow.verdict(true).0 && slow.verdict(true).1.unwrap().contains("5.0 times"));
    }
}
