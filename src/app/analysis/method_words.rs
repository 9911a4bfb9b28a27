//! Descriptions and costs of the methods, for documents split into sentences or into words.

use crate::app::i18n::{plural, t, text_of};
use crate::explanation::{MethodText, Unit};

/// Describes the method.
pub fn about(method: &'static MethodText, unit: Unit) -> String {
    text_of(method.about.replace(Unit::Sentence.noun(), unit.noun()))
}

/// Describes the cost of a run, compared with Pert., which takes one pass per source.
pub fn cost(method: &'static MethodText, unit: Unit) -> String {
    let pert = MethodText::of("pert").name;
    if method.pairs {
        return match unit {
            Unit::Sentence => {
                t!("Takes one forward pass per sentence and one per pair: up to 8 times as many as {method}.", method = pert)
            }
            Unit::Word => {
                t!("Takes one forward pass per word and one per pair: up to 8 times as many as {method}.", method = pert)
            }
        };
    }
    match (method.passes, unit) {
        (0, _) => t!("Takes no forward pass beyond the one over the text itself.").into(),
        (1, Unit::Sentence) => t!("Takes one forward pass (run of the model) per sentence.").into(),
        (1, Unit::Word) => t!("Takes one forward pass (run of the model) per word.").into(),
        (n, Unit::Sentence) => plural!(
            n,
            "It takes {n} forward pass for each sentence, so about as long as {method}",
            "It takes {n} forward passes for each sentence, so about {n} times as long as {method}",
            method = pert,
        ),
        (n, Unit::Word) => plural!(
            n,
            "It takes {n} forward pass for each word, so about as long as {method}",
            "It takes {n} forward passes for each word, so about {n} times as long as {method}",
            method = pert,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_described_by_what_they_measure() {
        let words = |id, unit| [about(MethodText::of(id), unit), cost(MethodText::of(id), unit)];
        assert_eq!(
            words("clp", Unit::Word),
            [
                "Blanks out one word at a time and measures how far the predictions of all possible next tokens move.",
                "Takes one forward pass (run of the model) per word.",
            ]
        );
        let [_, slow] = words("ig", Unit::Sentence);
        assert_eq!(slow, "It takes 40 forward passes for each sentence, so about 40 times as long as Pert.");
    }
}
