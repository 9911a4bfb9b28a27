//! An answered text and the positions of its sentences.

use std::ops::Range;

use glasscage_model::tokenizer::TokenId;

/// An answered text, as the model read it.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Chat template, prompt and generation, without an end token.
    pub tokens: Vec<TokenId>,
    /// Positions from the first token of the generation to the end of `tokens`. If earlier answers of a conversation are explained, the
    /// generation begins with the first of them. The range then also contains the turns of the user between the answers.
    pub generation: Range<usize>,
    /// Replacement for perturbed tokens: the end-of-sequence token.
    pub end_token: TokenId,
    /// Tokens that never occur in a text, such as those of the chat template.
    pub control_tokens: Vec<TokenId>,
    /// For each source, an equal number of replacement tokens. Empty if the method needs none.
    pub infills: Vec<Vec<TokenId>>,
}

/// Tokens of each sentence in a transcript, prompt sentences first. A sentence has no token of its own if its tokens span two sentences.
/// Tokens of the chat template belong to no sentence. Prompt sentences may come after generated ones in the text: see [`Self::is_after`].
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

    /// The sources with tokens, in the order of the text. Only these can be perturbed.
    pub fn sources_with_tokens(&self) -> impl Iterator<Item = usize> {
        self.in_order((0..self.n_sources()).filter(|&j| !self.source(j).is_empty()).collect())
    }

    /// Sources in the order of the text.
    pub fn in_order(&self, mut sources: Vec<usize>) -> impl Iterator<Item = usize> + use<> {
        sources.sort_by_key(|&j| self.source(j).start);
        sources.into_iter()
    }

    /// The generated sentences with a cell for source `j`: those after it, and those before it in the text ([`Self::is_after`]).
    pub fn targets(&self, j: usize) -> &[Range<usize>] {
        &self.generation[self.first_row(j)..]
    }

    /// The first generated sentence (0-based) with a cell for source `j`.
    pub fn first_row(&self, j: usize) -> usize {
        (j + 1).saturating_sub(self.prompt.len())
    }

    /// Whether source `j` comes after generated sentence `i` in the text, so that it has no influence on the sentence. Only turns of a
    /// conversation after an explained answer do. False if either has no tokens.
    pub fn is_after(&self, j: usize, i: usize) -> bool {
        let (source, target) = (self.source(j), &self.generation[i]);
        !source.is_empty() && !target.is_empty() && source.start > target.start
    }

    /// The column of source `j`: the score on each of [`Self::targets`]. It is 0 for those that come before the source.
    pub fn column(&self, j: usize, score: impl Fn(&Range<usize>) -> f64) -> Vec<f64> {
        let scored = |(i, target): (usize, &Range<usize>)| if self.is_after(j, i) { 0.0 } else { score(target) };
        self.generation.iter().enumerate().skip(self.first_row(j)).map(scored).collect()
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

    #[test]
    fn column_is_zero_before_its_source() {
        let segments = Segments { prompt: vec![1..3, 7..9, 9..9], generation: vec![4..5, 5..6, 6..6, 10..12] };
        assert_eq!(segments.sources_with_tokens().collect::<Vec<_>>(), [0, 3, 4, 1]);
        let column = |j: usize| segments.column(j, |target| target.len() as f64);
        assert_eq!([0, 1, 2].map(column), [[1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 2.0], [1.0, 1.0, 0.0, 2.0]]);
        assert_eq!((column(3), segments.is_after(1, 1), segments.is_after(1, 3)), (vec![1.0, 0.0, 2.0], true, false));
    }
}
