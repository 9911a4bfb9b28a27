//! An answered text and the positions of its sentences.

use std::ops::Range;

use glasscage_model::tokenizer::TokenId;

/// An answered text, as the model read it.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Chat template, prompt and generation, without an end token.
    pub tokens: Vec<TokenId>,
    /// Positions of the generated tokens, at the end of `tokens`.
    pub generation: Range<usize>,
    /// Replacement for perturbed tokens: the end-of-sequence token.
    pub end_token: TokenId,
    /// Tokens that never occur in a text, such as those of the chat template.
    pub control_tokens: Vec<TokenId>,
    /// For each source, an equal number of replacement tokens. Empty if the method needs none.
    pub infills: Vec<Vec<TokenId>>,
}

/// Tokens of each sentence in a transcript, prompt sentences first. A sentence has no token of its own if its tokens span two sentences.
/// Tokens of the chat template belong to no sentence.
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

    /// The sources with tokens. Only these can be perturbed.
    pub fn sources_with_tokens(&self) -> impl Iterator<Item = usize> {
        (0..self.n_sources()).filter(|&j| !self.source(j).is_empty())
    }

    /// The generated sentences after source `j`.
    pub fn targets(&self, j: usize) -> &[Range<usize>] {
        &self.generation[(j + 1).saturating_sub(self.prompt.len())..]
    }

    /// Number of sentences that can influence a later one: all except the last generated sentence.
    pub fn n_sources(&self) -> usize {
        (self.prompt.len() + self.generation.len()).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_generated_sentences_after_their_source() {
        let segments = Segments { prompt: vec![1..3, 3..3], generation: vec![3..5, 5..6] };
        assert_eq!(segments.n_sources(), 3);
        assert_eq!([0, 1, 2].map(|j| segments.source(j).clone()), [1..3, 3..3, 3..5]);
        assert_eq!([0, 1, 2].map(|j| segments.targets(j).len()), [2, 2, 1]);
        assert_eq!(segments.targets(2), &segments.generation[1..]);
        assert_eq!(segments.sources_with_tokens().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(Segments { prompt: Vec::new(), generation: Vec::new() }.n_sources(), 0);
    }
}
