//! A source split into words, with the influence of each word when it is blanked out alone.

use super::number;
use super::share_texts;
use crate::app::i18n::t;
use crate::order::by_descending;
use crate::request::Word;
use crate::shares::Shares;

/// A source and its words, measured by one method.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpandedSource {
    pub source: usize,
    /// The id of the method.
    pub method: String,
    pub words: Vec<Word>,
}

/// A word, formatted for display.
#[derive(Clone, Debug, PartialEq)]
pub struct WordView {
    pub text: String,
    /// Total influence on the output, on the scale of the sentences.
    pub influence: f64,
    pub figure: String,
    /// Color strength, in [-1, 1].
    pub strength: f64,
}

impl ExpandedSource {
    /// The words with their influence on the explained sentences. `None` if another method made `attribution`.
    pub fn words_in(&self, attribution: &Shares) -> Option<Vec<WordView>> {
        let is_of = attribution.document().method.id == self.method;
        let word = |word: &Word| {
            let influence = attribution.part_influence(self.source, &word.scores, word.tokens);
            WordView {
                text: word.text.clone(),
                influence,
                figure: share_texts::figure(attribution.scale(), influence),
                strength: attribution.strength(influence),
            }
        };
        is_of.then(|| self.words.iter().map(word).collect())
    }
}

/// Names the strongest words, of either sign: "“3” 41%, “figs.” 12%". If no word has influence, says so for a source with influence
/// (`is_source`), and returns an empty text for other sources.
pub fn strongest_words(words: &[WordView], most: usize, is_source: bool) -> String {
    let strongest: Vec<&WordView> = words.iter().filter(|word| word.influence != 0.0).collect();
    let strongest = by_descending(&strongest, |word| word.influence.abs());
    let named = strongest.iter().take(most);
    let named = named.map(|view| t!("\u{201c}{word}\u{201d} {share}", word = view.text.trim(), share = view.figure));
    match (strongest.is_empty(), is_source) {
        (true, false) => String::new(),
        (true, true) => t!("No word alone makes a difference.").into(),
        (false, _) => t!("Each word blanked out alone (they need not add up): {words}.", words = number::enumerated(named)),
    }
}

/// Number of words. Splitting a source takes this many times the passes of a sentence.
pub fn n_words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, shares, shares_in};
    use crate::explanation::{Aggregation, Derivation, Document, Weighting};
    use crate::graph::Normalization;
    use crate::table::Table;

    fn opened() -> ExpandedSource {
        let word = |text: &str, first: f64| Word { text: text.into(), tokens: 1, scores: vec![first, 0.0, 0.0, 0.0] };
        ExpandedSource { source: 0, method: "pert".into(), words: vec![word("A ", 0.25), word("b.", -1.0)] }
    }

    #[test]
    fn words_have_their_part_of_the_influence_along_the_steps() {
        let attribution = shares(&[1]);
        // The word has a quarter of the effect of P1 on G1, and half of G2 comes from G1.
        let words = opened().words_in(&attribution).unwrap();
        assert_eq!((words[0].influence, words[0].figure.as_str()), (0.125, "13%"));
        assert_eq!(words[1].influence, 0.0);
        assert_eq!(strongest_words(&words, 3, true), "Each word blanked out alone (they need not add up): \u{201c}A\u{201d} 13%.");
    }

    #[test]
    fn words_follow_the_way_that_the_graph_is_made() {
        let raw =
            document().derived(Derivation { aggregation: Aggregation::Sum, normalization: Normalization::None, ..Derivation::default() });
        let attribution = shares_in(raw, &[0]);
        // Sums over one token of the word and two tokens of G1.
        assert_eq!(opened().words_in(&attribution).unwrap()[1].influence, -2.0);
    }

    #[test]
    fn word_with_full_sentence_effect_gets_sentence_influence() {
        let flow = Table::from_fn(2, 4, |_, j| Some(if j == 0 { 0.125 } else { 1.0 }));
        let weighted = Document { flow: Some(flow), ..document() };
        let mut weighted = weighted.derived(Derivation { weighting: Weighting::Flow, ..Derivation::default() });
        weighted.table.row_mut(0)[1] = Some(1.0);
        let whole = Word { text: "A b.".into(), tokens: 2, scores: vec![1.0, -0.5, 0.0, 0.0] };
        let attribution = shares_in(weighted, &[0]);
        let words = ExpandedSource { words: vec![whole], ..opened() }.words_in(&attribution).unwrap();
        assert_eq!(Some(words[0].influence), attribution.total(0));
    }

    #[test]
    fn words_by_another_method_are_not_shown() {
        let mut other = document();
        other.method.id = "clp".into();
        assert_eq!(opened().words_in(&shares_in(other, &[1])), None);
        assert_eq!(n_words(" Ann has 3\n"), 3);
    }
}
