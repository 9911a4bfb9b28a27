//! Definition of a method: a plan of texts to score, and the effect computed from their readouts.

use std::ops::Range;

use super::transcript::{Segments, Transcript};
use glasscage_core::explanation::{Derivation, MethodText, Weighting};
use glasscage_engine::lm::{Edit, LmError, Pass, Readout};
use glasscage_model::config::Config;
use glasscage_model::tokenizer::TokenId;

/// A base attribution method. It plans the texts to score, and computes an effect on each generated token from their readouts. The score of
/// a sentence is the mean over its tokens. `explanation::METHODS` describes the methods to visitors.
pub struct AttributionMethod {
    /// Name in documents and on the command line.
    pub id: &'static str,
    /// Replacement for the tokens of a source.
    pub replacement: Replacement,
    /// Passes per source, over all rounds.
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
    /// Whether one run of passes serves both methods.
    pub fn shares_passes_with(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.plan, other.plan) && self.replacement == other.replacement && self.pairs == other.pairs
    }

    /// Errors if the method reads attention and some layers of the model have none.
    pub fn check_model(&self, config: &Config) -> Result<(), LmError> {
        if self.attention && !config.attends_everywhere() { Err(LmError::WithoutAttention) } else { Ok(()) }
    }

    /// Like [`MethodText::derivation`], but without a weighting that the model cannot provide.
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
    /// Text that the model itself generates.
    Infill,
    /// Text that a masked language model predicts.
    MaskedLm,
    Nothing,
}

/// Input of a plan: a text and the sources to perturb.
pub struct PlanInput<'a> {
    pub transcript: &'a Transcript,
    pub segments: &'a Segments,
    /// Tokens of the sources to perturb. No source is empty.
    pub sources: &'a [Range<usize>],
    /// For each source, an equal number of replacement tokens. Only for methods that infill text.
    pub infills: &'a [Vec<TokenId>],
}

/// A base text and passes over it. Each source has the same number of passes.
pub struct Round {
    /// Edits of the base text.
    pub edits: Vec<Edit>,
    pub passes: Vec<Vec<Pass>>,
}

/// Plans the rounds of a method. The effect is the mean over the rounds.
pub type Plan = fn(&PlanInput<'_>) -> Vec<Round>;

/// Readouts of the passes of one source in one round.
pub struct Observation<'a> {
    /// Readout of the round's base text.
    pub base: &'a Readout,
    pub passes: &'a [Readout],
    /// For each generated token: the attention weights to the source in the row that predicts the token, summed over the source's tokens,
    /// all heads and all layers. Measured in the unchanged text.
    pub attention: &'a [f64],
    /// For each generated token: the information flow from the source in the unchanged text. See [`Readout`].
    pub flow: &'a [f64],
    /// Number of tokens of the source.
    pub length: usize,
}

/// The effect of a source on generated token `t` (0-based).
pub type TokenEffect = fn(&Observation<'_>, t: usize) -> f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake_model::config;
    use crate::{METHODS, method};

    #[test]
    fn attention_methods_reject_models_without_attention() {
        let refusing = |attends: bool| -> Vec<&str> {
            METHODS.iter().filter(|method| method.check_model(&config(attends)).is_err()).map(|method| method.id).collect()
        };
        assert!(refusing(true).is_empty());
        assert_eq!(refusing(false), ["attention", "flow", "attn-ig"]);
    }

    #[test]
    fn flow_weighting_requires_attention_in_all_layers() {
        let pairs = method("pairs").expect("there is one");
        let usual = MethodText::of("pairs").derivation;
        assert_eq!(usual.weighting, Weighting::Flow);
        assert_eq!(pairs.derivation_of(&config(true)), usual);
        assert_eq!(pairs.derivation_of(&config(false)), Derivation { weighting: Weighting::None, ..usual });
    }
}
