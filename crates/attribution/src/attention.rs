//! Attention (paper, `sec:eval`): how strongly the model attends to a sentence. Nothing is perturbed.

use super::base_method::{AttributionMethod, Observation};
use glasscage_core::explanation::MethodId;

pub const ATTENTION: AttributionMethod = AttributionMethod { id: MethodId::Attention, effect: weight, divergences: false, attention: true };

/// Attention weights in the row that predicts token t, summed over all heads and layers, as the mean over the source's tokens. The mean of
/// this over the target's tokens is the mean of the block (paper, `sec:token_to_sentence`).
pub fn weight(observation: &Observation<'_>, t: usize) -> f64 {
    observation.attention[t] / observation.length as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_engine::lm::Readout;

    #[test]
    fn attention_effect_averages_over_source_tokens() {
        let base = Readout::default();
        let observation = Observation { base: &base, passes: &[], attention: &[3.0, 6.0], flow: &[], length: 3 };
        assert_eq!([0, 1].map(|t| (ATTENTION.effect)(&observation, t)), [1.0, 2.0]);
    }
}
