//! Scores passes on several workers at once. All compute the same bits, so which worker scores a pass affects only the time.

use std::ops::Range;

use futures::future::LocalBoxFuture;
use web_time::Duration;

use super::schedule::Unit;
use crate::lm::{Edit, Input, Pass, Readout, ScoreRequest};
use glasscage_model::tokenizer::TokenId;

/// Other workers with the same model. A worker that is slow or never answers helps less, and does no harm.
pub trait Helpers {
    /// Starts helpers that still have to load the model, if passes that read this many tokens will soon follow and are worth it.
    fn expect(&self, tokens: usize);

    /// Starts a job, and ends the previous one. Returns the number of helpers that may take part.
    fn begin(&self, requests: &[ScoreRequest<'_>]) -> usize;

    /// Lets a helper (0-based) score a unit of the job, after those that it was given before (`CandleModel::help`).
    fn assign(&self, helper: usize, unit: &Unit);

    /// What happened in this job since the last call. If nothing did, waits for at most `patience`.
    fn events(&self, patience: Duration) -> LocalBoxFuture<'_, Vec<HelperEvent>>;

    /// Ends the job.
    fn end(&self);

    /// Number of helpers that have scored a pass.
    fn n_working(&self) -> usize;

    /// Size of the WebAssembly memories of all helpers, in bytes.
    fn heap_bytes(&self) -> u64;
}

/// What happened to a helper.
#[derive(Clone, Debug, PartialEq)]
pub enum HelperEvent {
    /// It has loaded the model.
    Ready { helper: usize },
    /// It has scored a pass of a request. The readout starts at the first target that the pass changes.
    Scored { helper: usize, request: usize, pass: usize, readout: Readout },
    /// It has ended unexpectedly.
    Lost { helper: usize },
}

/// The parts of a [`ScoreRequest`] that a helper needs. It does not measure the attention or the most likely tokens of the base text.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedScoreRequest {
    tokens: Vec<TokenId>,
    targets: Range<usize>,
    edits: Vec<Edit>,
    passes: Vec<Pass>,
    divergences: bool,
    /// Empty if they are not known.
    base_log_probs: Vec<f64>,
}

impl From<&ScoreRequest<'_>> for OwnedScoreRequest {
    fn from(ScoreRequest { tokens, targets, edits, passes, divergences, base_log_probs, .. }: &ScoreRequest<'_>) -> Self {
        let (tokens, edits, passes) = (tokens.to_vec(), edits.to_vec(), passes.to_vec());
        let base_log_probs = base_log_probs.unwrap_or_default().to_vec();
        Self { tokens, targets: targets.clone(), edits, passes, divergences: *divergences, base_log_probs }
    }
}

impl OwnedScoreRequest {
    pub fn borrowed(&self) -> ScoreRequest<'_> {
        let Self { tokens, targets, edits, passes, divergences, base_log_probs } = self;
        let base_log_probs = Some(&base_log_probs[..]).filter(|known| !known.is_empty());
        ScoreRequest { edits, divergences: *divergences, base_log_probs, ..ScoreRequest::new(tokens, targets.clone(), passes) }
    }

    /// Encodes requests as numbers, because sending numbers between workers takes little code. Each list follows its length.
    pub fn to_numbers(requests: &[Self]) -> Vec<f64> {
        let mut numbers = vec![requests.len() as f64];
        requests.iter().for_each(|request| request.push_to(&mut numbers));
        numbers
    }

    /// Decodes the output of [`Self::to_numbers`]. `None` if the numbers are not whole requests.
    pub fn from_numbers(numbers: &[f64]) -> Option<Vec<Self>> {
        let mut numbers = Numbers(numbers.iter());
        let requests = numbers.list(Self::read)?;
        numbers.0.next().is_none().then_some(requests)
    }

    fn push_to(&self, numbers: &mut Vec<f64>) {
        numbers.extend([f64::from(u8::from(self.divergences)), self.targets.start as f64, self.targets.end as f64]);
        numbers.push(self.tokens.len() as f64);
        numbers.extend(self.tokens.iter().map(|&token| f64::from(token)));
        push_edits(numbers, &self.edits);
        numbers.push(self.base_log_probs.len() as f64);
        numbers.extend(&self.base_log_probs);
        numbers.push(self.passes.len() as f64);
        self.passes.iter().for_each(|pass| push_edits(numbers, &pass.edits));
    }

    fn read(numbers: &mut Numbers<'_>) -> Option<Self> {
        let divergences = numbers.index()? == 1;
        let targets = numbers.index()?..numbers.index()?;
        let tokens = numbers.list(Numbers::token)?;
        let edits = numbers.list(Numbers::edit)?;
        let base_log_probs = numbers.list(|numbers| numbers.0.next().copied())?;
        let passes = numbers.list(|numbers| Some(Pass { edits: numbers.list(Numbers::edit)? }))?;
        Some(Self { tokens, targets, edits, passes, divergences, base_log_probs })
    }
}

fn push_edits(numbers: &mut Vec<f64>, edits: &[Edit]) {
    numbers.push(edits.len() as f64);
    for Edit { start, inputs } in edits {
        numbers.extend([*start as f64, inputs.len() as f64]);
        numbers.extend(inputs.iter().flat_map(|input| [f64::from(input.token), f64::from(input.blend_with), f64::from(input.blend)]));
    }
}

struct Numbers<'a>(std::slice::Iter<'a, f64>);

impl Numbers<'_> {
    fn index(&mut self) -> Option<usize> {
        self.0.next().map(|&number| number as usize)
    }

    fn token(&mut self) -> Option<TokenId> {
        self.0.next().map(|&number| number as TokenId)
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.index()?;
        (0..length).map(|_| item(self)).collect()
    }

    fn edit(&mut self) -> Option<Edit> {
        let start = self.index()?;
        let input =
            |numbers: &mut Self| Some(Input { token: numbers.token()?, blend_with: numbers.token()?, blend: *numbers.0.next()? as f32 });
        Some(Edit { start, inputs: self.list(input)? })
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        let input = (any::<TokenId>(), any::<TokenId>(), 0_f32..=1.0);
        let input = input.prop_map(|(token, blend_with, blend)| Input { token, blend_with, blend });
        let edit = (0_usize..1_000_000, prop::collection::vec(input, 0..4)).prop_map(|(start, inputs)| Edit { start, inputs });
        prop::collection::vec(edit, 0..4)
    }

    fn requests() -> impl Strategy<Value = OwnedScoreRequest> {
        let texts = (prop::collection::vec(any::<TokenId>(), 0..9), (0_usize..1_000_000, 0_usize..1_000_000));
        let passes = prop::collection::vec(edits().prop_map(|edits| Pass { edits }), 0..4);
        let request = (texts, edits(), passes, any::<bool>(), prop::collection::vec(-9.0..0.0, 0..4));
        request.prop_map(|((tokens, (start, end)), edits, passes, divergences, base_log_probs)| OwnedScoreRequest {
            tokens,
            targets: start..end,
            edits,
            passes,
            divergences,
            base_log_probs,
        })
    }

    proptest! {
        #[test]
        fn requests_round_trip_and_truncated_ones_fail(sent in prop::collection::vec(requests(), 1..4)) {
            let again: Vec<OwnedScoreRequest> = sent.iter().map(|request| OwnedScoreRequest::from(&request.borrowed())).collect();
            prop_assert_eq!(&again, &sent);
            let numbers = OwnedScoreRequest::to_numbers(&sent);
            prop_assert_eq!(OwnedScoreRequest::from_numbers(&numbers), Some(sent));
            prop_assert_eq!(OwnedScoreRequest::from_numbers(&numbers[..numbers.len() - 1]), None);
        }
    }
}
