//! Base attribution: from a model and a text to the table **T**. Pure functions around one impure step.

pub mod deletion;
mod divergence;
mod perturbation;
pub mod run;

use std::ops::Range;

use crate::lm::{Pass, Readout};
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

/// A base attribution method: how to perturb a source, and what to read from the result. Its words for a visitor are in
/// `explanation::METHODS`.
pub struct Method {
    /// In documents and on the command line.
    pub id: &'static str,
    /// How scores of tokens become the score of a sentence.
    pub aggregation: &'static str,
    /// Whether `reduce` reads divergences, which cost a second pass through the LM head.
    pub divergences: bool,
    pub plan: Plan,
    pub reduce: Reduce,
}

/// The pass that perturbs the source with these tokens, never empty.
pub type Plan = fn(&Transcript, source: &Range<usize>) -> Pass;

/// The scores of a perturbed source on each of `targets`, from the readouts of the base text and of the pass;
/// `first` is the position of the first value in a readout.
pub type Reduce = fn(base: &Readout, pass: &Readout, targets: &[Range<usize>], first: usize) -> Vec<f64>;

/// All methods. Adding one is one file, one line here, and its words.
pub const METHODS: &[Method] = &[perturbation::PERTURBATION, divergence::CLP];

/// The method of this id.
pub fn method(id: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation;

    #[test]
    fn every_method_has_its_words() {
        let ids: Vec<_> = METHODS.iter().map(|method| method.id).collect();
        assert_eq!(ids, explanation::METHODS.iter().map(|method| method.id).collect::<Vec<_>>());
    }
}
