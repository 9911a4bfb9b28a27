//! Pert. (paper, `sec:eval`): replaces a sentence by end tokens and measures the drop of log-probability.

use std::ops::Range;

use super::base_method::{AttributionMethod, Observation};
use super::round::{PlanInput, Round};
use super::transcript::Transcript;
use glasscage_core::explanation::MethodId;
use glasscage_engine::lm::{Edit, Pass};

pub const PERTURBATION: AttributionMethod =
    AttributionMethod { id: MethodId::Perturbation, effect: drop, divergences: false, attention: false };

/// One pass per source, with all its tokens replaced by end tokens.
pub fn round(input: &PlanInput<'_>) -> Round {
    let pass = |source: &Range<usize>| vec![Pass { edits: vec![blank(input.transcript, source)] }];
    Round::unchanged(input.sources.iter().map(pass).collect())
}

pub fn blank(transcript: &Transcript, sentence: &Range<usize>) -> Edit {
    Edit::new(sentence.start, &vec![transcript.end_token; sentence.len()])
}

/// `ln p_t(x) - ln p_t(x^(j))`, in nats.
pub fn drop(observation: &Observation<'_>, t: usize) -> f64 {
    observation.base.log_probs[t] - observation.passes[0].log_probs[t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_engine::lm::Readout;

    #[test]
    fn the_source_becomes_end_tokens_of_the_same_length() {
        let transcript =
            Transcript { tokens: vec![5, 6, 7, 8], generation: 3..4, end_token: 2, control_tokens: Vec::new(), infills: Vec::new() };
        assert_eq!(Pass { edits: vec![blank(&transcript, &(1..3))] }.apply(&transcript.tokens), [5, 2, 2, 8]);
    }

    #[test]
    fn the_effect_is_the_drop_of_log_probability() {
        let readout = |log_probs: [f64; 2]| Readout { log_probs: log_probs.into(), ..Readout::default() };
        let (base, passes) = (readout([-1.0, -0.5]), [readout([-3.0, -0.25])]);
        let observation = Observation { base: &base, passes: &passes, attention: &[], flow: &[], length: 2 };
        assert_eq!([0, 1].map(|t| drop(&observation, t)), [2.0, -0.25]);
    }
}
