//! Base attribution: measures the table **T** of a text on a model. All steps except the scoring are pure functions.

mod attention;
mod base_method;
pub mod contrast;
pub mod deletion;
mod divergence;
#[cfg(test)]
mod fake_model;
mod flow;
mod gradients;
pub mod groups;
mod infill;
pub mod measure;
pub mod measured;
pub mod pairs;
#[cfg(test)]
mod pairs_tests;
mod perturbation;
mod plan;
mod round;
pub mod support;
mod transcript;

pub use base_method::{AttributionMethod, Observation, TokenEffect};
use glasscage_core::explanation::MethodId;
pub use gradients::HALF_WIDTH;
pub use transcript::{Segments, Transcript};

/// The computation of the method with this ID.
pub const fn method(id: MethodId) -> &'static AttributionMethod {
    match id {
        MethodId::Pairs => &pairs::PAIRS,
        MethodId::Perturbation => &perturbation::PERTURBATION,
        MethodId::Clp => &divergence::CLP,
        MethodId::Reagent => &infill::REAGENT,
        MethodId::ReagentMasked => &infill::REAGENT_MASKED,
        MethodId::Attention => &attention::ATTENTION,
        MethodId::Flow => &flow::FLOW,
        MethodId::IntegratedGradients => &gradients::INTEGRATED_GRADIENTS,
        MethodId::AttentionGradients => &gradients::ATTENTION_GRADIENTS,
    }
}

/// All methods, the default first.
pub fn methods() -> impl Iterator<Item = &'static AttributionMethod> {
    MethodId::ALL.into_iter().map(method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use round::PlanInput;

    #[test]
    fn method_has_its_id() {
        assert!(MethodId::ALL.into_iter().all(|id| method(id).id == id));
    }

    #[test]
    fn methods_share_passes_only_where_they_score_the_same_texts() {
        use MethodId::*;
        let sharing =
            |id| MethodId::ALL.into_iter().filter(|&other| method(id).shares_passes_with(method(other))).collect::<Vec<MethodId>>();
        let groups: [&[MethodId]; 6] =
            [&[Pairs], &[Perturbation, Clp], &[Reagent], &[ReagentMasked], &[Attention, Flow], &[IntegratedGradients, AttentionGradients]];
        for group in groups {
            assert!(group.iter().all(|&id| sharing(id) == group), "{group:?}");
        }
    }

    #[test]
    fn a_plan_has_the_passes_that_its_method_promises() {
        let tokens = vec![5; 12];
        let transcript = Transcript { tokens, generation: 8..12, end_token: 2, control_tokens: Vec::new(), infills: Vec::new() };
        let segments = Segments { prompt: vec![1..4, 4..7], generation: vec![8..10, 10..12] };
        let sources = [1..4, 4..7, 8..10];
        let infills = [vec![7; 3], vec![7; 3], vec![7; 2]];
        let input = PlanInput { transcript: &transcript, segments: &segments, sources: &sources, infills: &infills };
        for method in methods() {
            let (rounds, n_passes) = (plan::rounds(method.scored_texts(), &input), method.text().passes());
            assert!(rounds.iter().all(|round| round.passes.len() == sources.len()));
            let of_first: usize = rounds.iter().map(|round| round.passes[0].len()).sum();
            assert_eq!(of_first, n_passes, "{}", method.id);
            let pairs = if method.text().measures_pairs() { 3 } else { 0 };
            assert_eq!(measure::n_passes(method, &transcript, &segments), sources.len() * n_passes + pairs, "{}", method.id);
            for (source, pass) in
                rounds.iter().flat_map(|round| sources.iter().zip(&round.passes)).flat_map(|(s, all)| all.iter().map(move |p| (s, p)))
            {
                assert_eq!((pass.start(), pass.edits[0].inputs.len()), (source.start, source.len()), "{}", method.id);
            }
        }
    }
}
