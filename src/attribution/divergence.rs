//! CLP (paper, `sec:eval`): replace a sentence by end tokens, measure how far the predictions move as a whole.

use super::{Method, Observed, perturbation};

pub const CLP: Method = Method { id: "clp", effect: divergence, divergences: true, ..perturbation::PERTURBATION };

/// KL(p_t(x) || p_t(x^(j))) over the vocabulary, in nats.
fn divergence(observed: &Observed<'_>, t: usize) -> f64 {
    observed.passes[0].divergences[t]
}
