//! Support: how much less likely the words of each generated sentence become without what the prompt states.
//!
//! ```text
//! support(i) = max over the tokens t of generated sentence i of ln p_t(x) - ln p_t(x'), in nats
//! ```
//!
//! End tokens replace all statements of the prompt in x' at once. Rows of **T** are divided by their sums, so they cannot show that all
//! drops are small. Questions stay, because an answer repeats their words whether or not the prompt supports the answer. The largest drop
//! counts, because few words of a sentence state something: the mean tells answers with and without support apart less often
//! (`docs/reading-the-numbers.md`).

use std::ops::{ControlFlow, Range};

use super::perturbation::blank;
use super::transcript::Transcript;
use glasscage_engine::lm::{LanguageModel, LmError, Pass, ScoreRequest};
use glasscage_message::message;

/// The support of each generated sentence, in nats; 0 for a sentence without tokens. `statements` are the positions of the prompt's
/// statements, ascending, and `generation` those of the generated sentences. `base` contains the log-probabilities of the generated tokens
/// in the unchanged text if they are known. Costs one pass over the text, or two without `base`.
pub async fn measure_support(
    model: &mut impl LanguageModel,
    transcript: &Transcript,
    statements: &[Range<usize>],
    generation: &[Range<usize>],
    base: Option<&[f64]>,
) -> Result<Vec<f64>, LmError> {
    let blanked = statements.iter().filter(|tokens| !tokens.is_empty());
    let edits: Vec<_> = blanked.map(|tokens| blank(transcript, tokens)).collect();
    if edits.is_empty() {
        return Ok(vec![0.0; generation.len()]);
    }
    let passes = [Pass { edits }];
    let scored = ScoreRequest::new(&transcript.tokens, transcript.generation.clone(), &passes);
    let request = ScoreRequest { base_log_probs: base, ..scored };
    let mut log_probs = Vec::new();
    let score = model.score(&request, async |_, readout| {
        log_probs.push(readout.log_probs.clone());
        ControlFlow::Continue(())
    });
    score.await?;
    let [with, without] = &log_probs[..] else { return Err(LmError::Engine(message!("the text was not scored"))) };
    let drop = |target: &Range<usize>| {
        let tokens = target.start - transcript.generation.start..target.end - transcript.generation.start;
        tokens.map(|t| with[t] - without[t]).reduce(f64::max).unwrap_or(0.0)
    };
    Ok(generation.iter().map(drop).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_model::{Asked, FakeModel, text};

    /// In the fake model, the prompt sentences cost the three generated tokens n/4 times 1 + 2, 0 and 3 + 4 nats.
    #[test]
    fn support_is_largest_drop_without_statements() {
        let (transcript, segments) = text();
        for (statements, drop) in [(&[0, 1, 2][..], 10.0), (&[2], 7.0), (&[0], 3.0), (&[1], 0.0)] {
            let mut model = FakeModel::additive(true);
            let statements: Vec<Range<usize>> = statements.iter().map(|&j: &usize| segments.prompt[j].clone()).collect();
            let support = measure_support(&mut model, &transcript, &statements, &segments.generation, None);
            let support = pollster::block_on(support).expect("it scores");
            assert_eq!(support, [drop / 4.0, drop * 3.0 / 4.0], "{statements:?}");
            let pass = Asked { edits: 0, passes: 1, divergences: false, attended: Vec::new() };
            assert_eq!(model.asked, if drop > 0.0 { vec![pass] } else { vec![] }, "{statements:?}");
        }
    }

    #[test]
    fn known_base_is_not_computed_again() {
        let (transcript, segments) = text();
        let mut model = FakeModel::additive(true);
        let base = [0.0; 3];
        let support = measure_support(&mut model, &transcript, &segments.prompt[2..3], &segments.generation, Some(&base));
        let support = pollster::block_on(support).expect("it scores");
        assert_eq!(support, [7.0 / 4.0, 7.0 * 3.0 / 4.0]);
        // The base text is read only up to the first blanked token.
        assert_eq!((model.known_bases.len(), model.base_tokens), (1, 3));
    }
}
