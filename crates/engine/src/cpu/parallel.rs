//! Scores passes on two workers at once. One starts with the first pass, the other with the last pass, until they meet. Both compute the
//! same bits, so the meeting point affects only the time.

use std::ops::Range;

use futures::future::LocalBoxFuture;
use web_time::Duration;

use crate::lm::{Edit, Input, Pass, Readout, ScoreRequest};
use glasscage_model::tokenizer::TokenId;

/// Another worker with the same model. It may be slow, or never answer; then it only helps less.
pub trait SecondScorer {
    /// Starts to score the passes of a request, from the last to the first (`CandleModel::score_from_last`). Cancels the current work.
    fn begin(&self, request: &ScoreRequest<'_>);

    /// The readout of a pass, starting at the first target that it changes, if it is available. If the pass is being scored now, waits
    /// for at most `patience`.
    fn take(&self, pass: usize, patience: Duration) -> LocalBoxFuture<'_, Option<Readout>>;

    /// Cancels the current work.
    fn end(&self);

    /// Size of its WebAssembly memory, in bytes.
    fn heap_bytes(&self) -> u64;
}

/// The parts of a [`ScoreRequest`] that a second scorer needs. It does not measure the attention of the base text.
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

    /// Encodes the request as numbers, because sending numbers between workers takes little code. Each list follows its length.
    pub fn to_numbers(&self) -> Vec<f64> {
        let mut numbers = vec![f64::from(u8::from(self.divergences)), self.targets.start as f64, self.targets.end as f64];
        numbers.push(self.tokens.len() as f64);
        numbers.extend(self.tokens.iter().map(|&token| f64::from(token)));
        push_edits(&mut numbers, &self.edits);
        numbers.push(self.base_log_probs.len() as f64);
        numbers.extend(&self.base_log_probs);
        numbers.push(self.passes.len() as f64);
        self.passes.iter().for_each(|pass| push_edits(&mut numbers, &pass.edits));
        numbers
    }

    /// Decodes the output of [`Self::to_numbers`]. `None` if the numbers are not a whole request.
    pub fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let mut numbers = Numbers(numbers.iter());
        let divergences = numbers.index()? == 1;
        let targets = numbers.index()?..numbers.index()?;
        let tokens = numbers.list(|numbers| numbers.token())?;
        let edits = numbers.list(Numbers::edit)?;
        let base_log_probs = numbers.list(|numbers| numbers.0.next().copied())?;
        let passes = numbers.list(|numbers| Some(Pass { edits: numbers.list(Numbers::edit)? }))?;
        let is_whole = numbers.0.next().is_none();
        is_whole.then_some(Self { tokens, targets, edits, passes, divergences, base_log_probs })
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

    proptest! {
        #[test]
        fn request_round_trips_and_truncated_one_fails(
            tokens in prop::collection::vec(any::<TokenId>(), 0..9),
            (start, end) in (0_usize..1_000_000, 0_usize..1_000_000),
            edits_of_base in edits(),
            passes in prop::collection::vec(edits().prop_map(|edits| Pass { edits }), 0..4),
            divergences in any::<bool>(),
            base_log_probs in prop::collection::vec(-9.0..0.0, 0..4),
        ) {
            let sent = OwnedScoreRequest { tokens, targets: start..end, edits: edits_of_base, passes, divergences, base_log_probs };
            prop_assert_eq!(&OwnedScoreRequest::from(&sent.borrowed()), &sent);
            let numbers = sent.to_numbers();
            prop_assert_eq!(OwnedScoreRequest::from_numbers(&numbers), Some(sent));
            prop_assert_eq!(OwnedScoreRequest::from_numbers(&numbers[..numbers.len() - 1]), None);
        }
    }
}
