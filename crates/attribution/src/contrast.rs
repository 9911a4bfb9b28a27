//! Contrast: which sources make one continuation of a text likelier than another one.
//!
//! ```text
//! c(x) = ln p(first | x) - ln p(second | x), each summed over its tokens
//! e_j  = c(x) - c(x^(j)), in nats: positive if source j supports the first continuation
//! ```
//!
//! End tokens replace source j in x^(j), as in Pert.

use std::ops::Range;

use super::perturbation::blank;
use super::transcript::Transcript;
use glasscage_engine::lm::{Callback, LanguageModel, LmError, Pass, ScoreRequest};
use glasscage_model::tokenizer::TokenId;
use glasscage_protocol::request::PassProgress;

/// Two continuations of the same text, with the sources in that text.
pub struct ContrastRequest<'a> {
    pub transcript: &'a Transcript,
    /// Length of the text that both continue: the first tokens of the transcript. At least 1.
    pub prefix: usize,
    /// Tokens of both continuations. Neither is empty.
    pub continuations: [&'a [TokenId]; 2],
    /// Tokens of each source. They lie before the end of the prefix.
    pub sources: &'a [Range<usize>],
}

/// The result of [`measure_contrast`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredContrast {
    /// Log-probability of each continuation in the unchanged text, in nats.
    pub log_probs: [f64; 2],
    /// Effect of each source, in nats. 0 for a source without tokens.
    pub effects: Vec<f64>,
}

/// Number of passes that [`measure_contrast`] makes, base texts not counted: one for each source with tokens and each continuation.
pub fn n_passes(sources: &[Range<usize>]) -> usize {
    2 * sources.iter().filter(|source| !source.is_empty()).count()
}

/// Scores both continuations with and without each source. Returns `None` if `on_pass` cancels or the engine is stopped.
pub async fn measure_contrast(
    model: &mut impl LanguageModel,
    request: &ContrastRequest<'_>,
    on_pass: &mut dyn Callback<PassProgress>,
) -> Result<Option<MeasuredContrast>, LmError> {
    let &ContrastRequest { transcript, prefix, continuations, sources } = request;
    let numbers: Vec<usize> = (0..sources.len()).filter(|&j| !sources[j].is_empty()).collect();
    let passes: Vec<Pass> = numbers.iter().map(|&j| Pass { edits: vec![blank(transcript, &sources[j])] }).collect();
    let texts = continuations.map(|continuation| [&transcript.tokens[..prefix], continuation].concat());
    let requests = texts.each_ref().map(|text| ScoreRequest::new(text, prefix..text.len(), &passes));
    let planned = n_passes(sources);
    let mut sums = [Vec::<f64>::new(), Vec::new()];
    let score = model.score_all(&requests, async |text, _, readout| {
        sums[text].push(readout.log_probs.iter().sum());
        // Each text has a readout of its unchanged text, which is not counted.
        let done = sums.iter().map(|of_text| of_text.len().saturating_sub(1)).sum();
        on_pass.call(PassProgress { done, planned }).await
    });
    if let Some(failure) = score.await.err().filter(LmError::is_failure) {
        return Err(failure);
    }
    if sums.iter().any(|sums| sums.len() != passes.len() + 1) {
        return Ok(None);
    }
    let contrast = |number: usize| sums[0][number] - sums[1][number];
    let mut effects = vec![0.0; sources.len()];
    numbers.iter().enumerate().for_each(|(k, &j)| effects[j] = contrast(0) - contrast(k + 1));
    Ok(Some(MeasuredContrast { log_probs: [sums[0][0], sums[1][0]], effects }))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::fake_model::{END, FakeModel, text};

    /// A blanked token at position p costs each target its position plus the target token, times p / 100 nats. Unchanged, a target costs a
    /// tenth of its token.
    fn model() -> FakeModel {
        let loss = |request: &ScoreRequest<'_>, inputs: &[glasscage_engine::lm::Input]| {
            let blanked: f64 = (0..inputs.len()).filter(|&p| inputs[p].token == END).map(|p| p as f64).sum();
            request.targets.clone().map(|t| f64::from(request.tokens[t]) * (0.1 + blanked / 100.0)).collect()
        };
        FakeModel::new(true, Box::new(loss))
    }

    fn measured(continuations: [&[TokenId]; 2], last: usize) -> (Option<MeasuredContrast>, Vec<PassProgress>, FakeModel) {
        let (transcript, segments) = text();
        let sources = [&segments.prompt[..], &segments.generation[..1]].concat();
        let request = ContrastRequest { transcript: &transcript, prefix: 6, continuations, sources: &sources };
        let (mut model, mut reported) = (model(), Vec::new());
        let mut on_pass = async |pass: PassProgress| {
            reported.push(pass);
            if reported.len() < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let measured = pollster::block_on(measure_contrast(&mut model, &request, &mut on_pass)).expect("it scores");
        (measured, reported, model)
    }

    #[test]
    fn effects_are_changes_of_the_difference() {
        let (contrast, reported, model) = measured([&[3, 4], &[20]], usize::MAX);
        let MeasuredContrast { log_probs, effects } = contrast.expect("nothing stopped it");
        let exact = [-(3.0 + 4.0) * 0.1, -20.0 * 0.1];
        assert!(log_probs.iter().zip(exact).all(|(found, exact)| (found - exact).abs() < 1e-12), "{log_probs:?}");
        // Sources at positions 1 and 2, none, 3 and 4, and 5. Each costs the first text 7/100 and the second 20/100 per position.
        for (found, exact) in effects.iter().zip([3.0, 0.0, 7.0, 5.0].map(|positions| -0.13 * positions)) {
            assert!((found - exact).abs() < 1e-12, "{effects:?}");
        }
        assert_eq!(reported.iter().map(|pass| pass.done).collect::<Vec<_>>(), [0, 1, 2, 3, 3, 4, 5, 6]);
        assert!(reported.iter().all(|pass| pass.planned == 6));
        assert_eq!(model.asked.iter().map(|asked| asked.passes).collect::<Vec<_>>(), [3, 3]);
    }

    #[test]
    fn exchanged_continuations_flip_every_sign() {
        let [one, other] = [[&[3, 4][..], &[20]], [&[20], &[3, 4]]].map(|texts| measured(texts, usize::MAX).0.expect("nothing stopped it"));
        assert_eq!(one.effects, other.effects.iter().map(|effect| 0.0 - effect).collect::<Vec<_>>());
        assert_eq!(one.log_probs, [other.log_probs[1], other.log_probs[0]]);
    }

    #[test]
    fn stopped_contrast_has_no_result() {
        for last in 1..8 {
            assert_eq!(measured([&[3], &[4]], last).0, None, "stopped at {last}");
        }
    }
}
