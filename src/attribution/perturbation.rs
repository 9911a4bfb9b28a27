//! Pert. (paper, `sec:eval`): replace a sentence by end tokens, measure the drop of log-probability.

use std::ops::Range;

use super::{Method, Transcript};
use crate::lm::{Edit, Pass, Readout};

pub const PERTURBATION: Method = Method { id: "pert", aggregation: "mean", divergences: false, plan, reduce };

/// Every token of the source becomes the end token.
pub fn plan(transcript: &Transcript, source: &Range<usize>) -> Pass {
    Pass { edits: vec![blank(transcript, source)] }
}

pub fn blank(transcript: &Transcript, sentence: &Range<usize>) -> Edit {
    Edit { start: sentence.start, tokens: vec![transcript.end_token; sentence.len()] }
}

/// mean over t in the target of ln p_t(x) - ln p_t(x^(j)), in nats per token; 0 for a target without tokens.
fn reduce(base: &Readout, pass: &Readout, targets: &[Range<usize>], first: usize) -> Vec<f64> {
    let drop = |t: usize| base.log_probs[t - first] - pass.log_probs[t - first];
    let mean = |target: &Range<usize>| target.clone().map(drop).sum::<f64>() / target.len().max(1) as f64;
    targets.iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_becomes_end_tokens_of_the_same_length() {
        let transcript = Transcript { tokens: vec![5, 6, 7, 8], generation: 3..4, end_token: 2 };
        assert_eq!(plan(&transcript, &(1..3)).apply(&transcript.tokens), [5, 2, 2, 8]);
    }

    #[test]
    fn the_score_is_the_mean_drop_over_the_target() {
        let base = Readout { log_probs: vec![-1.0, -0.5, -0.5], divergences: Vec::new() };
        let pass = Readout { log_probs: vec![-1.0, -2.5, -0.25], divergences: Vec::new() };
        assert_eq!(reduce(&base, &pass, &[11..12, 12..13, 11..13, 13..13], 10), [2.0, -0.25, 0.875, 0.0]);
    }
}
