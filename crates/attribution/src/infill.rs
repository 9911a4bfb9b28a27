//! ReAGent (paper, `sec:eval`): replaces a sentence by other plausible text and measures the drop of log-probability.
//!
//! The paper fills the spans with a masked language model, which the visitor may choose ([`REAGENT_MASKED`]). By default the model itself
//! fills them from left to right, so no second model is needed. It predicts each source from the original text before it and keeps the
//! number of tokens. The first token differs from the original ([`glasscage_engine::lm::InfillRequest`]). The model does not see the text
//! after the source, so its replacement may contradict that text more than a masked model's.

use std::ops::Range;

use super::base_method::AttributionMethod;
use super::perturbation::drop;
use super::round::{PlanInput, Round};
use glasscage_core::explanation::MethodId;
use glasscage_engine::lm::{Edit, Pass};
use glasscage_model::tokenizer::TokenId;

pub const REAGENT: AttributionMethod = AttributionMethod { id: MethodId::Reagent, effect: drop, divergences: false, attention: false };

pub const REAGENT_MASKED: AttributionMethod = AttributionMethod { id: MethodId::ReagentMasked, ..REAGENT };

/// One pass per source, with the source replaced.
pub fn round(input: &PlanInput<'_>) -> Round {
    let pass = |(source, infill): (&Range<usize>, &Vec<TokenId>)| vec![Pass { edits: vec![Edit::new(source.start, infill)] }];
    Round::unchanged(input.sources.iter().zip(input.infills).map(pass).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Segments, Transcript};

    #[test]
    fn each_source_becomes_its_own_infill() {
        let transcript =
            Transcript { tokens: vec![9, 5, 6, 7, 8], generation: 4..5, end_token: 2, control_tokens: Vec::new(), infills: Vec::new() };
        let segments = Segments { prompt: vec![1..3, 3..4], generation: vec![4..5, 5..5] };
        let infills = [vec![3, 4], vec![1]];
        let round = round(&PlanInput { transcript: &transcript, segments: &segments, sources: &segments.prompt, infills: &infills });
        let texts: Vec<Vec<TokenId>> = round.passes.iter().map(|passes| passes[0].apply(&transcript.tokens)).collect();
        assert_eq!(texts, [[9, 3, 4, 7, 8], [9, 5, 6, 1, 8]]);
        assert!(round.edits.is_empty());
    }
}
