//! Definition of a method: the effect that it computes from readouts.

use glasscage_core::explanation::{Derivation, MethodId, MethodText, ScoredTexts, Weighting};
use glasscage_engine::lm::{LmError, Readout};
use glasscage_model::config::Config;

/// A base attribution method. It computes an effect on each generated token from the readouts of texts. The score of a sentence is the mean
/// over its tokens. [`MethodText`] says which texts it scores, and describes it to visitors.
pub struct AttributionMethod {
    pub id: MethodId,
    pub effect: TokenEffect,
    /// Whether `effect` reads divergences, which cost a second pass through the LM head.
    pub divergences: bool,
    /// Whether `effect` reads attention or flow.
    pub attention: bool,
}

impl AttributionMethod {
    pub fn text(&self) -> &'static MethodText {
        self.id.text()
    }

    pub fn scored_texts(&self) -> ScoredTexts {
        self.text().scored_texts
    }

    /// Whether a masked language model replaces the sources.
    pub fn needs_masked_lm(&self) -> bool {
        self.text().needs_masked_lm()
    }

    /// Whether one run of passes serves both methods.
    pub fn shares_passes_with(&self, other: &Self) -> bool {
        self.scored_texts() == other.scored_texts()
    }

    /// Errors if the method reads attention and some layers of the model have none.
    pub fn check_model(&self, config: &Config) -> Result<(), LmError> {
        if self.attention && !config.attends_everywhere() { Err(LmError::WithoutAttention) } else { Ok(()) }
    }

    /// Like [`MethodText::derivation`], but without a weighting that the model cannot provide.
    pub fn derivation_of(&self, config: &Config) -> Derivation {
        let usual = self.text().derivation;
        let weighting = if config.attends_everywhere() { usual.weighting } else { Weighting::None };
        Derivation { weighting, ..usual }
    }
}

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
    use crate::{method, methods};

    #[test]
    fn attention_methods_reject_models_without_attention() {
        let refusing = |attends: bool| -> Vec<&str> {
            methods().filter(|method| method.check_model(&config(attends)).is_err()).map(|method| method.text().id).collect()
        };
        assert!(refusing(true).is_empty());
        assert_eq!(refusing(false), ["attention", "flow", "attn-ig"]);
    }

    #[test]
    fn flow_weighting_requires_attention_in_all_layers() {
        let pairs = method(MethodId::Pairs);
        let usual = pairs.text().derivation;
        assert_eq!(usual.weighting, Weighting::Flow);
        assert_eq!(pairs.derivation_of(&config(true)), usual);
        assert_eq!(pairs.derivation_of(&config(false)), Derivation { weighting: Weighting::None, ..usual });
    }
}
