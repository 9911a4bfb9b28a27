//! Base attribution: from a model and a text to the table **T**. Pure functions around one impure step.

mod attention;
pub mod deletion;
mod divergence;
mod gradients;
mod infill;
pub mod measure;
mod perturbation;

use std::ops::Range;

pub use gradients::HALF_WIDTH;

use crate::lm::{Edit, Pass, Readout};
use crate::model::tokenizer::TokenId;

/// A text that was answered, as the model read it.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Chat frame, prompt and generation; no end token.
    pub tokens: Vec<TokenId>,
    /// Positions of the generated tokens: the last ones.
    pub generation: Range<usize>,
    /// What perturbed tokens become: the end-of-sequence token.
    pub end_token: TokenId,
    /// Tokens that no text contains, such as those of the chat frame.
    pub control_tokens: Vec<TokenId>,
    /// For each source, as many other tokens as it has; empty where the method needs none.
    pub infills: Vec<Vec<TokenId>>,
}

/// Where each sentence lies in a transcript's tokens, prompt sentences first. A sentence may have no token of
/// its own, where a token spans two sentences; tokens of the chat frame belong to none.
#[derive(Clone, Debug, PartialEq)]
pub struct Segments {
    pub prompt: Vec<Range<usize>>,
    pub generation: Vec<Range<usize>>,
}

impl Segments {
    /// The tokens of source `j`: prompt sentences first, then generated ones.
    pub fn source(&self, j: usize) -> &Range<usize> {
        self.prompt.get(j).unwrap_or_else(|| &self.generation[j - self.prompt.len()])
    }

    /// The generated sentences after source `j`.
    pub fn targets(&self, j: usize) -> &[Range<usize>] {
        &self.generation[(j + 1).saturating_sub(self.prompt.len())..]
    }

    /// How many sentences can influence a later one: all but the last generated one.
    pub fn n_sources(&self) -> usize {
        (self.prompt.len() + self.generation.len()).saturating_sub(1)
    }
}

/// A base attribution method: which texts to score, and what their readouts say about each token of the generation; the score of a
/// sentence is the mean over its tokens. `explanation::METHODS` describes it to visitors.
pub struct AttributionMethod {
    /// In documents and on the command line.
    pub id: &'static str,
    /// What stands in place of a source's tokens.
    pub replacement: Replacement,
    /// Of each source, over all rounds.
    pub passes: usize,
    pub plan: Plan,
    pub effect: TokenEffect,
    /// Whether `effect` reads divergences, which cost a second pass through the LM head.
    pub divergences: bool,
    /// Whether `effect` reads attention.
    pub attention: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// The end-of-sequence token.
    EndToken,
    /// What the model itself would say there.
    Infill,
    /// What a masked language model would say there.
    MaskedLm,
    Nothing,
}

/// The text that a plan is made for.
pub struct PlanInput<'a> {
    pub transcript: &'a Transcript,
    pub segments: &'a Segments,
    /// Tokens of the sources to perturb, none empty.
    pub sources: &'a [Range<usize>],
    /// As many tokens for each of them, where the method replaces them by other text.
    pub infills: &'a [Vec<TokenId>],
}

/// A base text, and passes over it: of each source as many.
pub struct Round {
    /// Of the base text.
    pub edits: Vec<Edit>,
    pub passes: Vec<Vec<Pass>>,
}

/// The rounds that a method needs; the effect is their mean.
pub type Plan = fn(&PlanInput<'_>) -> Vec<Round>;

/// What one source's passes of one round showed.
pub struct Observation<'a> {
    /// Of the round's base text.
    pub base: &'a Readout,
    pub passes: &'a [Readout],
    /// For each token of the generation: the attention weights from where it is predicted to the source, summed over the source's tokens,
    /// all heads and layers, in the text as it is.
    pub attention: &'a [f64],
    /// Tokens of the source.
    pub length: usize,
}

/// The effect of a source on token `t` of the generation, counted from 0.
pub type TokenEffect = fn(&Observation<'_>, t: usize) -> f64;

/// All methods. Adding one takes a file, a line here, and its description in `explanation::METHODS`.
pub const METHODS: &[AttributionMethod] = &[
    perturbation::PERTURBATION,
    divergence::CLP,
    infill::REAGENT,
    infill::REAGENT_MASKED,
    attention::ATTENTION,
    gradients::INTEGRATED_GRADIENTS,
    gradients::ATTENTION_GRADIENTS,
];

/// The method of this id.
pub fn method(id: &str) -> Option<&'static AttributionMethod> {
    METHODS.iter().find(|method| method.id == id)
}

impl AttributionMethod {
    /// Whether one run of passes serves both.
    pub fn shares_passes_with(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.plan, other.plan) && self.replacement == other.replacement
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation;

    #[test]
    fn every_method_is_described_with_what_it_needs() {
        let needs = |method: &AttributionMethod| (method.id, method.passes, method.replacement == Replacement::MaskedLm);
        let described = explanation::METHODS.iter().map(|method| (method.id, method.passes, method.needs_masked_lm));
        assert_eq!(METHODS.iter().map(needs).collect::<Vec<_>>(), described.collect::<Vec<_>>());
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
            for (source, pass) in
                rounds.iter().flat_map(|round| sources.iter().zip(&round.passes)).flat_map(|(s, all)| all.iter().map(move |p| (s, p)))
            {
                assert_eq!((pass.start(), pass.edits[0].inputs.len()), (source.start, source.len()), "{}", method.id);
            }
        }
    }
}
