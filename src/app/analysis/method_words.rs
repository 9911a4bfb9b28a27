//! Descriptions and costs of the methods, for documents split into sentences, words, or other parts.

use crate::app::i18n::{plural, t, text_of};
use crate::explanation::{MethodId, MethodText, Unit};

/// Describes the method.
pub fn about(method: &'static MethodText, unit: Unit) -> String {
    text_of(method.about.replace(Unit::Sentence.noun(), unit.general_noun()))
}

/// Describes the cost of a run, compared with Pert., which takes one pass per source.
pub fn cost(method: &'static MethodText, unit: Unit) -> String {
    let pert = MethodId::Perturbation.text().name;
    if method.measures_pairs() {
        return match unit {
            Unit::Sentence => {
                t!("Takes one forward pass per sentence and one per pair: up to 8 times as many as {method} takes.", method = pert)
            }
            Unit::Word => {
                t!("Takes one forward pass per word and one per pair: up to 8 times as many as {method} takes.", method = pert)
            }
            _ => {
                t!("Takes one forward pass per part and one per pair: up to 8 times as many as {method} takes.", method = pert)
            }
        };
    }
    match (method.passes(), unit) {
        (0, _) => t!("Takes no forward pass beyond the one over the text itself.").into(),
        (1, Unit::Sentence) => t!("Takes one forward pass (run of the model) per sentence.").into(),
        (1, Unit::Word) => t!("Takes one forward pass (run of the model) per word.").into(),
        (1, _) => t!("Takes one forward pass (run of the model) per part.").into(),
        (n, Unit::Sentence) => plural!(
            n,
            "Takes {n} forward pass per sentence, so {method} is about as fast.",
            "Takes {n} forward passes per sentence, so {method} is about {n} times as fast.",
            method = pert,
        ),
        (n, Unit::Word) => plural!(
            n,
            "Takes {n} forward pass per word, so {method} is about as fast.",
            "Takes {n} forward passes per word, so {method} is about {n} times as fast.",
            method = pert,
        ),
        (n, _) => plural!(
            n,
            "Takes {n} forward pass per part, so {method} is about as fast.",
            "Takes {n} forward passes per part, so {method} is about {n} times as fast.",
            method = pert,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::METHODS;

    #[test]
    fn methods_are_described_by_what_they_measure() {
        let words = |id: MethodId, unit| [about(id.text(), unit), cost(id.text(), unit)];
        assert_eq!(
            words(MethodId::Clp, Unit::Word),
            [
                "Blanks out one word at a time and measures how far the predictions of all possible next tokens move.",
                "Takes one forward pass (run of the model) per word.",
            ]
        );
        let parts = words(MethodId::Perturbation, Unit::Paragraph);
        assert_eq!(parts[0], "Blanks out one part at a time and measures how much less likely each later part becomes.");
        assert_eq!(parts[1], "Takes one forward pass (run of the model) per part.");
        let slow = [Unit::Sentence, Unit::Word].map(|unit| cost(MethodId::IntegratedGradients.text(), unit));
        assert_eq!(slow[0], "Takes 40 forward passes per sentence, so Pert. is about 40 times as fast.");
        assert_eq!(slow[1], "Takes 40 forward passes per word, so Pert. is about 40 times as fast.");
    }

    #[test]
    fn costs_are_sentences_that_begin_alike() {
        for (method, unit) in METHODS.iter().flat_map(|method| Unit::ALL.map(|unit| (method, unit))) {
            let cost = cost(method, unit);
            assert!(cost.starts_with("Takes ") && cost.ends_with('.') && !cost.contains(".."), "{}: {cost}", method.id);
        }
    }
}
