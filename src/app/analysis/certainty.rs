//! How sure the model was of each token of its answer, and where the answer could have gone otherwise.

use super::number::{percent, signed};
use crate::app::i18n::t;
use crate::explanation::{Document, MAX_FORKS, Token, forks, mean_probability, total_log_probability};

/// The answer with the probabilities of its tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Certainty {
    pub sentences: Vec<SentenceCertainty>,
    /// Forks that are marked (indices of tokens), the closest first. The others come after them.
    pub marked: Vec<usize>,
    pub further: Vec<usize>,
}

/// A generated sentence, or a word of a document by words.
#[derive(Clone, Debug, PartialEq)]
pub struct SentenceCertainty {
    /// G1, G2, ...
    pub label: String,
    /// Mean probability and total log-probability in words. `None` for a sentence without tokens.
    pub figures: Option<String>,
    pub tokens: Vec<TokenCertainty>,
}

/// A token that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenCertainty {
    /// Index among all tokens.
    pub number: usize,
    /// Whether the answer can go on from an alternative of the token. An earlier answer of a conversation cannot.
    pub is_of_last_answer: bool,
    pub label: String,
    /// The part of the answer that no earlier token shows.
    pub text: String,
    pub probability: f64,
    /// The token and its alternatives, the most likely first.
    pub choices: Vec<Choice>,
}

/// What the model might have written.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub text: String,
    pub probability: f64,
    /// Place among the alternatives of the token: 1 is the most likely one. `None` for the token in the answer.
    pub rank: Option<usize>,
}

impl Certainty {
    /// Without sentences if the document has no tokens.
    pub fn of(document: &Document) -> Self {
        if document.tokens.is_empty() {
            return Self::default();
        }
        let chars: Vec<char> = document.generation.text.chars().collect();
        let (n_prompt, first, mut number, mut reached) = (document.prompt.sentences.len(), document.last_answer().token, 0, 0);
        let mut sentences = Vec::new();
        for i in 0..document.generation.sentences.len() {
            let label = document.label(n_prompt + i);
            let tokens = document.tokens_of(i);
            let token = |token: &Token| {
                let [start, end] = token.span;
                let text: String = chars[start.max(reached).min(end)..end].iter().collect();
                reached = reached.max(end);
                number += 1;
                TokenCertainty { is_of_last_answer: number > first, ..TokenCertainty::new(number - 1, label.clone(), text, token) }
            };
            let shown = tokens.iter().map(token).collect();
            sentences.push(SentenceCertainty { figures: figures(tokens), label, tokens: shown });
        }
        let mut marked = forks(&document.tokens);
        let further = marked.split_off(MAX_FORKS.min(marked.len()));
        Self { sentences, marked, further }
    }

    pub fn tokens(&self) -> impl Iterator<Item = &TokenCertainty> {
        self.sentences.iter().flat_map(|sentence| &sentence.tokens)
    }

    pub fn token(&self, number: usize) -> Option<&TokenCertainty> {
        self.tokens().nth(number)
    }

    /// A fork in words: the token and its closest rival with their probabilities.
    pub fn fork_words(&self, number: usize) -> String {
        let Some(token) = self.token(number) else { return String::new() };
        let rival = token.choices.iter().find(|choice| choice.rank.is_some());
        t!(
            "{label}: {token} {probability}, or {rival} {other}",
            label = token.label,
            token = quoted(&token.text),
            probability = percent(token.probability),
            rival = quoted(rival.map_or("", |rival| rival.text.as_str())),
            other = percent(rival.map_or(0.0, |rival| rival.probability)),
        )
    }
}

impl TokenCertainty {
    fn new(number: usize, label: String, text: String, token: &Token) -> Self {
        let probability = token.log_probability.exp();
        let own = Choice { text: text.clone(), probability, rank: None };
        let others = token.alternatives.iter().zip(1..);
        let mut choices: Vec<Choice> = others
            .map(|(other, rank)| Choice { text: other.text.clone(), probability: other.log_probability.exp(), rank: Some(rank) })
            .collect();
        let place = choices.partition_point(|other| other.probability > probability);
        choices.insert(place, own);
        Self { number, is_of_last_answer: true, label, text, probability, choices }
    }
}

/// Mean probability and total log-probability in words. `None` without tokens.
fn figures(tokens: &[Token]) -> Option<String> {
    let mean = percent(mean_probability(tokens)?);
    Some(t!("{mean} per token (geometric mean), {total} nats together", mean, total = signed(total_log_probability(tokens))))
}

/// A token as readers see it: line ends and tabs as signs, the rest in quotation marks. A part of a character has no text.
pub fn quoted(text: &str) -> String {
    t!("\u{201c}{text}\u{201d}", text = visible(text))
}

/// The text with signs for line ends and tabs, and for spaces if there is nothing else. A part of a character is an ellipsis.
pub fn visible(text: &str) -> String {
    let signs = text.replace('\n', "\u{21b5}").replace('\t', "\u{21e5}");
    match text {
        "" => "\u{2026}".into(),
        _ if signs.trim().is_empty() => signs.replace(' ', "\u{2423}"),
        _ => signs,
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{document, with_explained_turn};
    use super::*;
    use crate::explanation::Alternative;

    /// Two tokens a sentence. The second token of each sentence shares its character with the first one.
    fn with_tokens() -> Document {
        let log_probabilities = [-0.5, -1.0, -2.0, -0.25, -0.75, -1.5, -0.125, -3.0];
        let token = |(k, &log_probability): (usize, &f64)| Token {
            span: if k % 2 == 0 { [3 * (k / 2), (3 * (k / 2) + 3).min(11)] } else { [3 * (k / 2) + 1, (3 * (k / 2) + 3).min(11)] },
            log_probability,
            alternatives: vec![Alternative { text: "\n".into(), log_probability: -1.0 }],
        };
        Document { tokens: log_probabilities.iter().enumerate().map(token).collect(), ..document() }
    }

    #[test]
    fn tokens_show_answer_once() {
        let certainty = Certainty::of(&with_tokens());
        let texts: Vec<&str> = certainty.tokens().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["C. ", "", "D. ", "", "E. ", "", "F.", ""]);
        assert_eq!(certainty.sentences[1].label, "G2");
        assert_eq!(certainty.token(7).map(|token| token.number), Some(7));
        assert_eq!(Certainty::of(&document()), Certainty::default());
    }

    #[test]
    fn tokens_of_earlier_answers_are_known() {
        let conversation = Document { turns: with_explained_turn().turns, ..with_tokens() };
        let certainty = Certainty::of(&conversation);
        assert_eq!(certainty.tokens().map(|token| token.is_of_last_answer).collect::<Vec<_>>()[..4], [false, false, true, true]);
        assert!(Certainty::of(&with_tokens()).tokens().all(|token| token.is_of_last_answer));
    }

    #[test]
    fn three_closest_forks_are_marked() {
        let certainty = Certainty::of(&with_tokens());
        // Distances to -1: 0.5, 0, 1, 0.75 below the runner-up, 0.25, 0.5, 0.875 below, 2. Half is 0.69.
        assert_eq!((certainty.marked.clone(), certainty.further.clone()), (vec![1, 4, 0], vec![5, 2, 7]));
        assert_eq!(certainty.fork_words(0), "G1: \u{201c}C. \u{201d} 61%, or \u{201c}\u{21b5}\u{201d} 37%");
    }

    #[test]
    fn choices_are_sorted_with_token_among_them() {
        let certainty = Certainty::of(&with_tokens());
        let ranks = |number: usize| certainty.token(number).unwrap().choices.iter().map(|choice| choice.rank).collect::<Vec<_>>();
        assert_eq!((ranks(0), ranks(2)), (vec![None, Some(1)], vec![Some(1), None]));
    }

    #[test]
    fn white_space_is_visible() {
        assert_eq!([" a", "  ", "\n ", "\t", ""].map(visible), [" a", "\u{2423}\u{2423}", "\u{21b5} ", "\u{21e5}", "\u{2026}"]);
    }

    #[test]
    fn sentence_says_mean_and_total() {
        let figures = Certainty::of(&with_tokens()).sentences[0].figures.clone();
        assert_eq!(figures.unwrap(), "47% per token (geometric mean), \u{2212}1.500 nats together");
    }
}
