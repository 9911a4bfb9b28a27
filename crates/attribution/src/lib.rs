//! Base attribution: measures the table **T** of a text on a model. All steps except the scoring are pure functions.

mod attention;
mod base_method;
pub mod deletion;
mod divergence;
#[cfg(test)]
mod fake_model;
mod flow;
mod gradients;
mod infill;
pub mod measure;
pub mod measured;
pub mod pairs;
#[cfg(test)]
mod pairs_tests;
mod perturbation;
pub mod support;
mod transcript;

pub use base_method::{AttributionMethod, Observation, Plan, PlanInput, Replacement, Round, TokenEffect};
pub use gradients::HALF_WIDTH;
pub use transcript::{Segments, Transcript};

/// All methods. A new method needs a file, a line here, and a description in `explanation::METHODS`.
pub const METHODS: &[AttributionMethod] = &[
    pairs::PAIRS,
    perturbation::PERTURBATION,
    divergence::CLP,
    infill::REAGENT,
    infill::REAGENT_MASKED,
    attention::ATTENTION,
    flow::FLOW,
    gradients::INTEGRATED_GRADIENTS,
    gradients::ATTENTION_GRADIENTS,
];

/// The method with this id.
pub fn method(id: &str) -> Option<&'static AttributionMethod> {
    METHODS.iter().find(|method| method.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glasscage_core::explanation;

    #[test]
    fn every_method_is_described_with_what_it_needs() {
        let needs = |method: &AttributionMethod| (method.id, method.passes, method.pairs, method.replacement == Replacement::MaskedLm);
        let described = explanation::METHODS.iter().map(|method| (method.id, method.passes, method.pairs, method.needs_masked_lm));
        assert_eq!(METHODS.iter().map(needs).collect::<Vec<_>>(), described.collect::<Vec<_>>());
    }

    #[test]
    fn methods_share_passes_only_where_they_score_the_same_texts() {
        let ids: Vec<&str> = METHODS.iter().map(|method| method.id).collect();
        let sharing = |id: &str| {
            let one = method(id).unwrap();
            ids.iter().copied().filter(|other| one.shares_passes_with(method(other).unwrap())).collect::<Vec<&str>>()
        };
        for alike in [&["pairs"][..], &["pert", "clp"], &["reagent"], &["reagent-mlm"], &["attention", "flow"], &["ig", "attn-ig"]] {
            assert!(alike.iter().all(|id| sharing(id) == alike), "{alike:?}");
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
        for method in METHODS {
            let rounds = (method.plan)(&input);
            assert!(rounds.iter().all(|round| round.passes.len() == sources.len()));
            let of_first: usize = rounds.iter().map(|round| round.passes[0].len()).sum();
            assert_eq!(of_first, method.passes, "{}", method.id);
            let pairs = if method.pairs { 3 } else { 0 };
            assert_eq!(measure::n_passes(method, &transcript, &segments), sources.len() * method.passes + pairs, "{}", method.id);
            for (source, pass) in
                rounds.iter().flat_map(|round| sources.iter().zip(&round.passes)).flat_map(|(s, all)| all.iter().map(move |p| (s, p)))
            {
                assert_eq!((pass.start(), pass.edits[0].inputs.len()), (source.start, source.len()), "{}", method.id);
            }
        }
    }
}
