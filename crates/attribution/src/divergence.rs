//! CLP (paper, `sec:eval`): replaces a sentence by end tokens and measures the divergence of the predicted distributions.

use super::base_method::{AttributionMethod, Observation};
use glasscage_core::explanation::MethodId;

pub const CLP: AttributionMethod = AttributionMethod { id: MethodId::Clp, effect: divergence, divergences: true, attention: false };

/// `KL(p_t(x) || p_t(x^(j)))` over the vocabulary, in nats.
fn divergence(observation: &Observation<'_>, t: usize) -> f64 {
    observation.passes[0].divergences[t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_engine::lm::Readout;

    #[test]
    fn the_effect_is_the_divergence_at_each_token() {
        let (base, passes) = (Readout::default(), [Readout { divergences: vec![0.5, 2.0], ..Readout::default() }]);
        let observation = Observation { base: &base, passes: &passes, attention: &[], flow: &[], length: 2 };
        assert_eq!([0, 1].map(|t| (CLP.effect)(&observation, t)), [0.5, 2.0]);
    }
}
