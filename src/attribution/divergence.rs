//! CLP (paper, `sec:eval`): replace a sentence by end tokens, measure how far the predictions move as a whole.

use super::base_method::{AttributionMethod, Observation};
use super::perturbation;

pub const CLP: AttributionMethod = AttributionMethod { id: "clp", effect: divergence, divergences: true, ..perturbation::PERTURBATION };

/// `KL(p_t(x) || p_t(x^(j)))` over the vocabulary, in nats.
fn divergence(observation: &Observation<'_>, t: usize) -> f64 {
    observation.passes[0].divergences[t]
}
