//! Compares the scores of GPU and CPU on a reduced model. [`crate::gpu::self_test`] tests each kernel alone, for models of any size.

use std::ops::ControlFlow;
use std::rc::Rc;

use super::reduced_model;
use crate::cpu::CandleModel;
use crate::gpu::GpuModel;
use crate::gpu::device::Gpu;
use crate::lm::{Edit, LanguageModel, LmError, LoadError, Pass, ScoreRequest};
use glasscage_message::{Message, ToMessage, message};
use glasscage_model::gguf::Gguf;
use glasscage_model::source::ByteSource;
use glasscage_model::tokenizer::TokenId;

/// Maximum difference between the log-probabilities of the two engines, in nats.
pub const TOLERANCE: f64 = 1e-3;
/// Length of the test text, in tokens.
const LENGTH: usize = 48;

/// Returns what is wrong with the GPU's scores. Returns `None` if they are correct, or if even the reduced model is too large.
pub async fn run(gpu: &Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<Option<Message>, LoadError> {
    Ok(difference(gpu, source, gguf).await?.and_then(failure))
}

/// Loads the reduced model on both engines and scores a text with two perturbations. Returns the largest difference between the
/// log-probabilities of GPU and CPU, in nats: NaN if the GPU returned a value that is not finite; `None` if even the reduced model is too
/// large.
pub async fn difference(gpu: &Rc<Gpu>, source: &impl ByteSource, gguf: &Gguf) -> Result<Option<f64>, LoadError> {
    let Some((part, bytes)) = reduced_model::read(source, gguf).await? else { return Ok(None) };
    let complete = "loading is never canceled";
    let (mut on_cpu, _) = CandleModel::load(&bytes, &part, &mut async |_| ControlFlow::Continue(())).await?.expect(complete);
    // If the CPU engine fails, the file is invalid.
    let cpu_scores = score(&mut on_cpu).await.map_err(|error| LoadError::Weights(error.to_message()))?;
    drop(on_cpu);
    let (mut on_gpu, _) = GpuModel::load(gpu.clone(), &bytes, &part, &mut async |_| ControlFlow::Continue(())).await?.expect(complete);
    drop(bytes);
    let gpu_scores = match score(&mut on_gpu).await {
        Err(LmError::NotFinite) => vec![f64::NAN],
        scored => scored?,
    };
    let differences = cpu_scores.iter().zip(&gpu_scores).map(|(cpu, gpu)| (cpu - gpu).abs());
    Ok(Some(differences.fold(0.0, |largest: f64, next| if next > largest || next.is_nan() { next } else { largest })))
}

/// Log-probabilities of the targets in the base text and in the perturbed texts.
async fn score(model: &mut impl LanguageModel) -> Result<Vec<f64>, LmError> {
    let (vocab_size, length) = (model.config().vocab_size, LENGTH.min(model.config().context_length).max(2));
    let tokens: Vec<TokenId> = (0..length).map(|i| (i * 37 % vocab_size) as TokenId).collect();
    let pass = |start: usize| Pass { edits: vec![Edit::new(start, &[0; 3])] };
    let passes = [pass(length / 4), pass(length / 2)];
    let request = ScoreRequest::new(&tokens, (length / 3).max(1)..length, if length > 12 { &passes } else { &[] });
    let mut scores = Vec::new();
    model
        .score(&request, async |_, readout| {
            scores.extend_from_slice(&readout.log_probs);
            ControlFlow::Continue(())
        })
        .await?;
    Ok(scores)
}

/// Describes a difference above [`TOLERANCE`]. `difference` is the largest difference between the log-probabilities of GPU and CPU, in
/// nats. It is NaN if the GPU returned a value that is not finite.
fn failure(difference: f64) -> Option<Message> {
    match difference <= TOLERANCE {
        true => None,
        false if difference.is_nan() => Some(message!("This device’s GPU returned a value that is not a number (NaN)")),
        false => Some(message!("This device’s GPU computes wrong scores (off by {difference:.4} nats in a test)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_right_within_the_tolerance() {
        assert_eq!(failure(1e-6), None);
        assert!(failure(0.0014).unwrap().to_string().contains("(off by 0.0014 nats"));
        assert!(failure(0.2).unwrap().to_string().contains("wrong scores (off by 0.2000 nats"));
        assert!(failure(f64::NAN).unwrap().to_string().contains("not a number"));
    }
}
