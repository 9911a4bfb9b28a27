//! Where an answer was not generated freely.

use super::certainty::quoted;
use crate::app::i18n::{plural, t};
use crate::explanation::{Answer, Branch};

/// The chosen alternatives and their places. Empty if the model chose every token.
pub fn chosen(answer: &Answer) -> String {
    let words =
        |Branch { token, text, .. }: &Branch| plural!(n = *token, "{text} after {n} token", "{text} after {n} tokens", text = quoted(text));
    answer.branches().iter().map(words).collect::<Vec<_>>().join(t!(", "))
}

/// Says that a reader chose alternatives. `None` if the model chose every token.
pub fn note(answer: &Answer) -> Option<String> {
    let choices = Some(chosen(answer)).filter(|choices| !choices.is_empty())?;
    Some(t!("Continued from an alternative that was chosen: {choices}. The model wrote the rest.", choices))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::{AnswerStop, Sampling};

    #[test]
    fn note_names_chosen_alternatives() {
        let branch = |token, text: &str| Branch { token, rank: 1, text: text.into() };
        let answer = |branches| Answer::Generated {
            sampling: Sampling::GREEDY,
            max_tokens: 64,
            thinking: None,
            stop: AnswerStop::End,
            warning: None,
            branches,
        };
        assert_eq!([note(&Answer::Given {}), note(&answer(Vec::new()))], [None, None]);
        let words = note(&answer(vec![branch(1, " 3"), branch(7, "\n")])).unwrap();
        assert_eq!(
            words,
            "Continued from an alternative that was chosen: \u{201c} 3\u{201d} after 1 token, \u{201c}\u{21b5}\u{201d} after 7 tokens. The \
             model wrote the rest."
        );
    }
}
