//! CLP (paper, `sec:eval`): replace a sentence by end tokens, measure how far the predictions move as a whole.

use std::ops::Range;

use super::{Method, perturbation};
use crate::lm::Readout;

pub const CLP: Method = Method { id: "clp", aggregation: "mean", divergences: true, plan: perturbation::plan, reduce };

/// mean over t in the target of KL(p_t(x) || p_t(x^(j))) over the vocabulary, in nats; 0 for a target without tokens.
fn reduce(_: &Readout, pass: &Readout, targets: &[Range<usize>], first: usize) -> Vec<f64> {
    let mean = |target: &Range<usize>| target.clone().map(|t| pass.divergences[t - first]).sum::<f64>() / target.len().max(1) as f64;
    targets.iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_the_mean_divergence_over_the_target() {
        let pass = Readout { log_probs: vec![-1.0; 3], divergences: vec![0.0, 2.0, 1.0] };
        assert_eq!(reduce(&pass, &pass, &[11..12, 11..13, 13..13], 10), [2.0, 1.5, 0.0]);
    }
}
