//! Plans the texts that a method scores.

use super::round::{PlanInput, Round};
use super::{gradients, infill, perturbation};
use glasscage_core::explanation::{Replacement, ScoredTexts};

/// The rounds that score these texts, without those of pairs: [`super::pairs`] chooses them after the first round. The effect of a method
/// is the mean over its rounds.
pub fn rounds(texts: ScoredTexts, input: &PlanInput<'_>) -> Vec<Round> {
    match texts {
        ScoredTexts::UnchangedOnly => vec![Round::unchanged(vec![Vec::new(); input.sources.len()])],
        ScoredTexts::WithoutEach(Replacement::EndToken) | ScoredTexts::WithoutEachAndPairs => vec![perturbation::round(input)],
        ScoredTexts::WithoutEach(Replacement::Infill | Replacement::MaskedLm) => vec![infill::round(input)],
        ScoredTexts::Path { points } => gradients::rounds(points, input),
    }
}
