//! Which token comes next: candle's sampler behind the settings of a visitor.

use candle_core::{Device, Tensor};
use candle_transformers::generation::{LogitsProcessor, Sampling};

use super::LmError;
use crate::model::tokenizer::TokenId;

/// Greedy, or random with a seed: the same seed gives the same text.
pub struct Sampler {
    processor: LogitsProcessor,
    is_greedy: bool,
}

impl Sampler {
    /// Temperature 0 is greedy; otherwise logits are divided by it, and the choice is limited to the `top_k` most
    /// likely tokens, then to the smallest set that holds `top_p` of the probability.
    pub fn new(temperature: f64, top_k: Option<usize>, top_p: Option<f64>, seed: u64) -> Self {
        let sampling = match (top_k, top_p) {
            _ if temperature <= 0.0 => Sampling::ArgMax,
            (None, None) => Sampling::All { temperature },
            (Some(k), None) => Sampling::TopK { k, temperature },
            (None, Some(p)) => Sampling::TopP { p, temperature },
            (Some(k), Some(p)) => Sampling::TopKThenTopP { k, p, temperature },
        };
        Self { is_greedy: sampling == Sampling::ArgMax, processor: LogitsProcessor::from_sampling(seed, sampling) }
    }

    pub fn greedy() -> Self {
        Self::new(0.0, None, None, 0)
    }

    /// Whether it always takes the most likely token.
    pub fn is_greedy(&self) -> bool {
        self.is_greedy
    }

    /// Chooses by `logits`, one for each token of the vocabulary.
    pub fn sample(&mut self, logits: &[f32]) -> Result<TokenId, LmError> {
        if logits.iter().any(|logit| logit.is_nan()) {
            return Err(LmError::NotFinite);
        }
        let logits = Tensor::new(logits, &Device::Cpu);
        logits
            .and_then(|logits| self.processor.sample(&logits))
            .map_err(|error| LmError::Engine(error.to_string().lines().next().unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 4] = [0.0, 2.0, 1.0, -1.0];

    fn draw(mut sampler: Sampler) -> Vec<TokenId> {
        (0..64).map(|_| sampler.sample(&LOGITS).unwrap()).collect()
    }

    #[test]
    fn greedy_takes_the_most_likely_token() {
        assert_eq!(Sampler::greedy().sample(&LOGITS).unwrap(), 1);
    }

    #[test]
    fn a_seed_fixes_the_choices() {
        assert_eq!(draw(Sampler::new(1.0, None, None, 7)), draw(Sampler::new(1.0, None, None, 7)));
        assert_ne!(draw(Sampler::new(1.0, None, None, 7)), draw(Sampler::new(1.0, None, None, 8)));
    }

    #[test]
    fn top_k_and_top_p_limit_the_choice() {
        assert!(draw(Sampler::new(1.0, Some(2), None, 1)).iter().all(|token| [1, 2].contains(token)));
        assert!(draw(Sampler::new(1.0, None, Some(0.5), 1)).iter().all(|&token| token == 1));
    }

    #[test]
    fn logits_that_are_no_numbers_are_an_error() {
        assert!(matches!(Sampler::greedy().sample(&[0.0, f32::NAN]), Err(LmError::NotFinite)));
    }
}
