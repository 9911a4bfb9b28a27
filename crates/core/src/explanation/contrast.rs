//! Contrasts: why a part of the answer, and not another text in its place.

use serde::{Deserialize, Serialize};

use super::Passage;

/// Comparison of a part of the generation with an alternative at the same place. Both follow the same text x.
///
/// ```text
/// c(x) = ln p(part | x) - ln p(alternative | x)
/// effect of unit j = c(x) - c(x with unit j blanked out)
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contrast {
    /// The compared part of the generation: a half-open span in Unicode code points. It consists of whole tokens.
    pub span: [usize; 2],
    /// The text that is compared with the part, including white space.
    pub alternative: String,
    /// `ln p(part | x)` and `ln p(alternative | x)` in nats, each summed over its tokens.
    pub log_probabilities: [f64; 2],
    /// Effect of each unit before the sentence of the part, in nats: prompt sentences first, then generated ones. A unit with a positive
    /// effect supports the part, one with a negative effect supports the alternative.
    pub effects: Vec<f64>,
}

impl Contrast {
    /// The compared part. Empty if the span is not in the text.
    pub fn part<'a>(&self, generation: &'a Passage) -> &'a str {
        generation.span_text(self.span).unwrap_or_default()
    }

    /// Whether the contrast belongs to this answer to a prompt of `n_prompt` sentences. The part must be in the answer and not blank, the
    /// alternative must be another text, no log-probability may be above 0, and each unit before the sentence of the part must have an
    /// effect.
    pub fn fits(&self, n_prompt: usize, generation: &Passage) -> bool {
        let Some(row) = generation.sentence_at(self.span) else { return false };
        let is_other_text = !self.alternative.trim().is_empty() && self.alternative != self.part(generation);
        let are_probabilities = self.log_probabilities.iter().all(|log_probability| *log_probability <= 0.0);
        self.effects.len() == n_prompt + row && is_other_text && are_probabilities
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::example;
    use super::*;

    #[test]
    fn contrast_fits_only_its_answer() {
        let generation = example().generation;
        let contrast = |span: [usize; 2], alternative: &str, n: usize| Contrast {
            span,
            alternative: alternative.into(),
            log_probabilities: [-0.5, -2.0],
            effects: vec![0.25; n],
        };
        assert_eq!(contrast([0, 5], "2 + 1", 2).part(&generation), "2 - 1");
        assert!(contrast([0, 5], "2 + 1", 2).fits(2, &generation));
        // The space before a word belongs to the sentence before it, but its token belongs to the sentence of the word.
        assert!(contrast([10, 13], " No", 3).fits(2, &generation), "{:?}", contrast([10, 13], "", 0).part(&generation));
        for (span, alternative, n) in [
            ([0, 5], "2 + 1", 3),
            ([0, 5], "2 + 1", 1),
            ([0, 5], "2 - 1", 2),
            ([0, 5], " ", 2),
            ([5, 5], "x", 2),
            ([5, 3], "x", 2),
            ([12, 17], "x", 3),
            ([1, 2], "x", 2),
            ([0, usize::MAX], "x", 2),
        ] {
            assert!(!contrast(span, alternative, n).fits(2, &generation), "{span:?} {alternative:?} {n}");
        }
    }
}
