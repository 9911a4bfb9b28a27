//! Samples the next token. The same seed gives the same random numbers on every engine. The rule that maps a number to a token is simple
//! enough for a GPU. Texts therefore differ only if engines round a probability differently.

use std::cmp::Ordering;

use super::error::LmError;
use glasscage_core::rng::Rng;
use glasscage_model::tokenizer::TokenId;

/// Samples greedily, or randomly with a seed.
#[derive(Clone)]
pub struct Sampler {
    temperature: f64,
    top_k: Option<usize>,
    top_p: Option<f64>,
    rng: Rng,
}

/// Parameters of one random choice.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Divides the logits; above 0.
    pub temperature: f64,
    /// Keeps only tokens at least as likely as the k-th most likely one.
    pub top_k: Option<usize>,
    /// Then keeps the most likely tokens that together have this share of the remaining probability.
    pub top_p: Option<f64>,
    /// A random number in [0, 1).
    pub uniform: f64,
}

impl Sampler {
    /// Temperature 0 is greedy. Otherwise the temperature divides the logits, and the choice is limited to the `top_k` most likely tokens,
    /// then to the smallest set with `top_p` of the probability.
    pub fn new(temperature: f64, top_k: Option<usize>, top_p: Option<f64>, seed: u64) -> Self {
        Self { temperature, top_k, top_p, rng: Rng::new(seed) }
    }

    pub fn greedy() -> Self {
        Self::new(0.0, None, None, 0)
    }

    /// The next random choice; `None` if the sampler is greedy.
    pub fn draw(&mut self) -> Option<Draw> {
        let &mut Self { temperature, top_k, top_p, .. } = self;
        (temperature > 0.0).then(|| Draw { temperature, top_k, top_p, uniform: self.rng.uniform() })
    }

    /// Uses up the random number of a choice that is made without the sampler.
    pub fn skip(&mut self) {
        if !self.is_greedy() {
            self.rng.next_u64();
        }
    }

    /// Whether the sampler always chooses the most likely token.
    pub fn is_greedy(&self) -> bool {
        self.temperature <= 0.0
    }

    /// Chooses a token by `logits`, one for each token of the vocabulary. Errors if a logit is not finite.
    pub fn sample(&mut self, logits: &[f32]) -> Result<TokenId, LmError> {
        if logits.iter().any(|logit| !logit.is_finite()) {
            return Err(LmError::NotFinite);
        }
        Ok(self.draw().map_or_else(|| argmax(logits), |draw| draw.token(logits)))
    }
}

/// The most likely token; the first one if several are equal.
fn argmax(logits: &[f32]) -> TokenId {
    (1..logits.len()).fold(0, |best, i| if logits[i] > logits[best] { i } else { best }) as TokenId
}

impl Draw {
    /// Adds exp(logit / temperature) of the tokens kept by top-k and top-p, in the order of the vocabulary. Returns the token at which the
    /// running sum exceeds `uniform` times the total.
    pub fn token(&self, logits: &[f32]) -> TokenId {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |logit: f32| (f64::from(logit - largest) / self.temperature).exp();
        let least = self.least_likely(logits, weight);
        let left = logits.iter().enumerate().filter(|(_, logit)| **logit >= least);
        let all: f64 = left.clone().map(|(_, &logit)| weight(logit)).sum();
        let mut passed = 0.0;
        let mut token = 0;
        for (i, &logit) in left {
            token = i as TokenId;
            passed += weight(logit);
            if passed > self.uniform * all {
                break;
            }
        }
        token
    }

    /// The smallest logit that top-k and top-p keep.
    fn least_likely(&self, logits: &[f32], weight: impl Fn(f32) -> f64) -> f32 {
        let (mut left, mut least) = (Vec::new(), f32::NEG_INFINITY);
        if self.top_k.is_some() || self.top_p.is_some_and(|part| part < 1.0) {
            left.extend_from_slice(logits);
        }
        if let Some(k) = self.top_k.map(|k| k.max(1)).filter(|&k| k < left.len()) {
            least = *left.select_nth_unstable_by(k - 1, descending).1;
            left.truncate(k);
        }
        let Some(top_p) = self.top_p.filter(|&part| part < 1.0) else { return least };
        let kept: f64 = logits.iter().filter(|logit| **logit >= least).map(|&logit| weight(logit)).sum();
        let mut passed = 0.0;
        let last = find_descending(&mut left, |logit| {
            passed += weight(logit);
            passed >= top_p * kept
        });
        last.unwrap_or(least)
    }
}

fn descending(x: &f32, y: &f32) -> Ordering {
    y.total_cmp(x)
}

/// Number of largest values to sort first: a few tokens have nearly all of the probability.
const SORTED_AT_ONCE: usize = 64;

/// Visits the numbers in descending order and returns the first one for which `is_found` holds. Does not sort the numbers after it.
fn find_descending(mut numbers: &mut [f32], mut is_found: impl FnMut(f32) -> bool) -> Option<f32> {
    let mut n = SORTED_AT_ONCE;
    while !numbers.is_empty() {
        n = n.min(numbers.len());
        if n < numbers.len() {
            numbers.select_nth_unstable_by(n - 1, descending);
        }
        let (largest, rest) = numbers.split_at_mut(n);
        largest.sort_unstable_by(descending);
        if let Some(&found) = largest.iter().find(|&&number| is_found(number)) {
            return Some(found);
        }
        (numbers, n) = (rest, 8 * n);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 4] = [0.0, 2.0, 1.0, -1.0];

    fn draw(mut sampler: Sampler) -> Vec<TokenId> {
        (0..64).map(|_| sampler.sample(&LOGITS).unwrap()).collect()
    }

    #[test]
    fn greedy_chooses_first_most_likely_token() {
        assert_eq!(Sampler::greedy().sample(&LOGITS).unwrap(), 1);
        assert_eq!(Sampler::greedy().sample(&[0.0, 1.0, 1.0]).unwrap(), 1);
    }

    #[test]
    fn a_seed_fixes_the_choices() {
        assert_eq!(draw(Sampler::new(1.0, None, None, 7)), draw(Sampler::new(1.0, None, None, 7)));
        assert_ne!(draw(Sampler::new(1.0, None, None, 7)), draw(Sampler::new(1.0, None, None, 8)));
    }

    #[test]
    fn skipped_choice_uses_up_its_random_number() {
        let [mut drawn, mut skipped] = [7, 7].map(|seed| Sampler::new(1.0, None, None, seed));
        drawn.draw();
        skipped.skip();
        assert_eq!(draw(drawn), draw(skipped));
    }

    #[test]
    fn top_k_and_top_p_limit_the_choice() {
        assert!(draw(Sampler::new(1.0, Some(2), None, 1)).iter().all(|token| [1, 2].contains(token)));
        assert!(draw(Sampler::new(1.0, None, Some(0.5), 1)).iter().all(|&token| token == 1));
    }

    /// Compares with a full sort of the logits.
    #[test]
    fn least_likely_token_is_found_without_sorting_all() {
        let mut rng = Rng::new(5);
        for n in [1, 63, 64, 65, 3000] {
            // Rounding makes some logits equal.
            let logits: Vec<f32> = (0..n).map(|_| (rng.uniform() * 40.0).round() as f32 / 4.0).collect();
            for (top_k, top_p) in [(None, 0.3), (None, 0.999_999), (Some(1), 0.5), (Some(40), 0.9), (Some(2000), 0.99), (Some(40), 1.0)] {
                let draw = Draw { temperature: 2.0, top_k, top_p: Some(top_p), uniform: 0.5 };
                let weight = |logit: f32| (f64::from(logit) / 2.0).exp();
                let mut sorted = logits.clone();
                sorted.sort_by(descending);
                sorted.truncate(top_k.unwrap_or(n));
                let kept: f64 = logits.iter().filter(|logit| Some(*logit) >= sorted.last()).map(|&logit| weight(logit)).sum();
                let mut passed = 0.0;
                let is_last = |logit: &&f32| {
                    passed += weight(**logit);
                    top_p < 1.0 && passed >= top_p * kept
                };
                let least = *sorted.iter().find(is_last).or(sorted.last()).unwrap();
                let found = draw.least_likely(&logits, weight);
                let is_left = |limit: f32| logits.iter().map(|&logit| logit >= limit).collect::<Vec<_>>();
                assert_eq!(is_left(found), is_left(least), "{n} {top_k:?} {top_p}");
            }
        }
    }

    #[test]
    fn tokens_come_as_often_as_they_are_likely() {
        let mut sampler = Sampler::new(2.0, None, None, 3);
        let mut counts = [0.0; 4];
        (0..20_000).for_each(|_| counts[sampler.sample(&LOGITS).unwrap() as usize] += 1.0 / 20_000.0);
        let weights = LOGITS.map(|logit| (f64::from(logit) / 2.0).exp());
        let sum: f64 = weights.iter().sum();
        assert!(counts.iter().zip(weights).all(|(count, weight)| (count - weight / sum).abs() < 0.01), "{counts:?}");
    }

    #[test]
    fn logits_that_are_not_numbers_are_an_error() {
        assert!(matches!(Sampler::greedy().sample(&[0.0, f32::NAN]), Err(LmError::NotFinite)));
    }
}
