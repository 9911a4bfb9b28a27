//! Support: how much less likely the words of each generated sentence become without what the prompt states.
//!
//! ```text
//! support(i) = max over the tokens t of generated sentence i of ln p_t(x) - ln p_t(x'), in nats
//! ```
//!
//! End tokens replace all statements before the answer of sentence i in x' at once. Rows of **T** are divided by their sums, so they cannot
//! show that all drops are small. Questions stay, because an answer repeats their words whether or not the prompt supports the answer. The
//! largest drop counts, because few words of a sentence state something: the mean tells answers with and without support apart less often
//! (`docs/reading-the-numbers.md`).

use std::ops::{ControlFlow, Range};

use super::perturbation::blank;
use super::transcript::Transcript;
use glasscage_engine::lm::{LanguageModel, LmError, Pass, ScoreRequest};
use glasscage_message::message;

/// An answer, and the statements before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedBefore {
    /// The generated sentences of the answer.
    pub rows: Range<usize>,
    /// Positions of the tokens of each statement, ascending. Statements of earlier answers are among them.
    pub statements: Vec<Range<usize>>,
}

/// The support of each generated sentence, in nats; 0 for a sentence without tokens. `answers` are all answers of the generation, in order:
/// several if earlier answers of a conversation are explained. `generation` are the positions of the generated sentences. `base` contains
/// the log-probabilities of the generated tokens in the unchanged text if they are known. Costs one pass for each answer, and one without
/// `base`.
pub async fn measure_support(
    model: &mut impl LanguageModel,
    transcript: &Transcript,
    answers: &[StatedBefore],
    generation: &[Range<usize>],
    base: Option<&[f64]>,
) -> Result<Vec<f64>, LmError> {
    let pass = |StatedBefore { statements, .. }: &StatedBefore| {
        let blanked = statements.iter().filter(|tokens| !tokens.is_empty());
        Pass { edits: blanked.map(|tokens| blank(transcript, tokens)).collect() }
    };
    let of_answers: Vec<(&StatedBefore, Pass)> = answers.iter().map(|answer| (answer, pass(answer))).collect();
    let (answers, passes): (Vec<&StatedBefore>, Vec<Pass>) = of_answers.into_iter().filter(|(_, pass)| !pass.edits.is_empty()).unzip();
    let mut support = vec![0.0; generation.len()];
    if passes.is_empty() {
        return Ok(support);
    }
    let scored = ScoreRequest::new(&transcript.tokens, transcript.generation.clone(), &passes);
    let request = ScoreRequest { base_log_probs: base, ..scored };
    let mut log_probs = Vec::new();
    let score = model.score(&request, async |_, readout| {
        log_probs.push(readout.log_probs.clone());
        ControlFlow::Continue(())
    });
    score.await?;
    let Some((with, of_passes)) = log_probs.split_first().filter(|(_, of_passes)| of_passes.len() == answers.len()) else {
        return Err(LmError::Engine(message!("the text was not scored")));
    };
    for (StatedBefore { rows, .. }, without) in answers.into_iter().zip(of_passes) {
        for row in rows.clone() {
            let target = &generation[row];
            let tokens = target.start - transcript.generation.start..target.end - transcript.generation.start;
            support[row] = tokens.map(|t| with[t] - without[t]).reduce(f64::max).unwrap_or(0.0);
        }
    }
    Ok(support)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_model::{Asked, FakeModel, interleaved, text};

    /// These prompt sentences, stated before a single answer.
    fn stated(segments: &crate::Segments, sentences: &[usize]) -> [StatedBefore; 1] {
        let statements = sentences.iter().map(|&j| segments.prompt[j].clone()).collect();
        [StatedBefore { rows: 0..segments.generation.len(), statements }]
    }

    /// In the fake model, the prompt sentences cost the three generated tokens n/4 times 1 + 2, 0 and 3 + 4 nats.
    #[test]
    fn support_is_largest_drop_without_statements() {
        let (transcript, segments) = text();
        for (statements, drop) in [(&[0, 1, 2][..], 10.0), (&[2], 7.0), (&[0], 3.0), (&[1], 0.0)] {
            let mut model = FakeModel::additive(true);
            let answers = stated(&segments, statements);
            let support = measure_support(&mut model, &transcript, &answers, &segments.generation, None);
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
        let answers = stated(&segments, &[2]);
        let support = measure_support(&mut model, &transcript, &answers, &segments.generation, Some(&base));
        let support = pollster::block_on(support).expect("it scores");
        assert_eq!(support, [7.0 / 4.0, 7.0 * 3.0 / 4.0]);
        // The base text is read only up to the first blanked token.
        assert_eq!((model.known_bases.len(), model.base_tokens), (1, 3));
    }

    #[test]
    fn each_answer_has_statements_before_it() {
        let (transcript, segments) = interleaved();
        let measured = |answers: &[StatedBefore]| {
            let mut model = FakeModel::additive(true);
            let support = measure_support(&mut model, &transcript, answers, &segments.generation, None);
            pollster::block_on(support).expect("it scores")
        };
        let [first, second] = [segments.prompt[0].clone(), segments.prompt[1].clone()];
        let of_first = StatedBefore { rows: 0..1, statements: vec![first.clone()] };
        let before_last = vec![first, segments.generation[0].clone(), second];
        let of_last = StatedBefore { rows: 1..2, statements: before_last.clone() };
        let [both, alone] = [&[of_first, of_last.clone()][..], &[StatedBefore { rows: 0..2, ..of_last }]].map(measured);
        assert_eq!(both[1], alone[1]);
        assert!(both[0] > 0.0 && both[0] < alone[0], "its own words were not blanked: {both:?}, {alone:?}");
        assert_eq!(measured(&[StatedBefore { rows: 0..1, statements: Vec::new() }]), [0.0, 0.0]);
    }
}
