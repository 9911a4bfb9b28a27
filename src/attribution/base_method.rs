//! What a method is: a plan of texts to score, and the effect that their readouts show.

use std::ops::Range;

use super::transcript::{Segments, Transcript};
use crate::explanation::{Derivation, MethodText, Weighting};
use crate::lm::{Edit, LmError, Pass, Readout};
use crate::model::config::Config;
use crate::model::tokenizer::TokenId;

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
    /// Whether `effect` reads attention or flow.
    pub attention: bool,
    /// Whether pairs of sources are measured too: see [`super::pairs`].
    pub pairs: bool,
}

impl AttributionMethod {
    /// Whether one run of passes serves both.
    pub fn shares_passes_with(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.plan, other.plan) && self.replacement == other.replacement && self.pairs == other.pairs
    }

    /// Refuses a model that it says nothing of.
    pub fn check_model(&self, config: &Config) -> Result<(), LmError> {
        if self.attention && !config.attends_everywhere() { Err(LmError::WithoutAttention) } else { Ok(()) }
    }

    /// As [`MethodText::derivation`], without a weighting that the model cannot give.
    pub fn derivation_of(&self, config: &Config) -> Derivation {
        let usual = MethodText::of(self.id).derivation;
        let weighting = if config.attends_everywhere() { usual.weighting } else { Weighting::None };
        Derivation { weighting, ..usual }
    }
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
    /// For each token of the generation: the information flow from the source, in the text as it is: see [`Readout`].
    pub flow: &'a [f64],
    /// Tokens of the source.
    pub length: usize,
}

/// The effect of a source on token `t` of the generation, counted from 0.
pub type TokenEffect = fn(&Observation<'_>, t: usize) -> f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::fake_model::config;
    use crate::attribution::{METHODS, method};

    #[test]
    fn only_methods_that_read_attention_refuse_a_model_with_layers_without_it() {
        let refusing = |attends: bool| -> Vec<&str> {
            METHODS.iter().filter(|method| method.check_model(&config(attends)).is_err()).map(|method| method.id).collect()
        };
        assert!(refusing(true).is_empty());
        assert_eq!(refusing(false), ["attention", "flow", "attn-ig"]);
    }

    #[test]
    fn the_usual_derivation_is_weighted_by_flow_where_the_model_can_tell_it() {
        let pairs = method("pairs").expect("there is one");
        let usual = MethodText::of("pairs").derivation;
        assert_eq!(usual.weighting, Weighting::Flow);
        assert_eq!(pairs.derivation_of(&config(true)), usual);
        assert_eq!(pairs.derivation_of(&config(false)), Derivation { weighting: Weighting::None, ..usual });
    }
}
