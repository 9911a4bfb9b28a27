//! The derivations of shares from scores that a visitor can choose, with their descriptions. The first choice of each list is the paper's.

use crate::app::i18n::{t, text, translatable};
use crate::explanation::{Aggregation, Compression, Derivation, Method, Weighting};
use crate::graph::Normalization;

/// One choice: button text and description, in English.
pub struct DerivationOption {
    /// Returns the derivation with this choice.
    pub set: fn(Derivation) -> Derivation,
    pub name: &'static str,
    pub about: &'static str,
}

impl DerivationOption {
    pub fn is_chosen(&self, derivation: Derivation) -> bool {
        (self.set)(derivation) == derivation
    }
}

pub const AGGREGATIONS: [DerivationOption; 2] = [
    DerivationOption {
        set: |way| Derivation { aggregation: Aggregation::Mean, ..way },
        name: translatable!("mean"),
        about: translatable!(
            "The mean over the tokens of both sentences, as in the paper: a long sentence counts no more than a short one."
        ),
    },
    DerivationOption {
        set: |way| Derivation { aggregation: Aggregation::Sum, ..way },
        name: translatable!("sum"),
        about: translatable!("The sum over all pairs of tokens, as in the paper\u{2019}s reference code: long sentences count more."),
    },
];

pub const COMPRESSIONS: [DerivationOption; 4] = [
    DerivationOption {
        set: |way| Derivation { compression: Compression::None, ..way },
        name: translatable!("unchanged"),
        about: translatable!("Scores count in full, as in the paper: a source that makes a sentence impossible can dominate its row."),
    },
    DerivationOption {
        set: |way| Derivation { compression: Compression::Log, ..way },
        name: translatable!("logarithm"),
        about: translatable!(
            "ln(1 + x / 2), where x is the drop of the whole sentence in nats: a sentence that is already very unlikely hardly counts \
             more when it becomes even less likely."
        ),
    },
    DerivationOption {
        set: |way| Derivation { compression: Compression::Bounded, ..way },
        name: translatable!("bounded"),
        about: translatable!("1 \u{2212} exp(\u{2212}x / 10), where x is the drop of the whole sentence in nats: no score is above 1."),
    },
    DerivationOption {
        set: |way| Derivation { compression: Compression::Hyperbolic, ..way },
        name: translatable!("hyperbolic"),
        about: translatable!(
            "x / (x + 2), where x is the drop of the whole sentence in nats: no score is above 1, and half of that is reached at 2 \
             nats."
        ),
    },
];

/// Choices for documents that have an information flow.
pub const WEIGHTINGS: [DerivationOption; 2] = [
    DerivationOption {
        set: |way| Derivation { weighting: Weighting::None, ..way },
        name: translatable!("measured scores"),
        about: translatable!("Scores count as they were measured, as in the paper."),
    },
    DerivationOption {
        set: |way| Derivation { weighting: Weighting::Flow, ..way },
        name: translatable!("weighted by flow"),
        about: translatable!(
            "Each score is weighted by the information flow from its source, relative to the largest flow in the row, to the power \
             2/3. A sentence that the model hardly read counts for little."
        ),
    },
];

pub const NORMALIZATIONS: [DerivationOption; 3] = [
    DerivationOption {
        set: |way| Derivation { normalization: Normalization::Full, ..way },
        name: translatable!("shares"),
        about: translatable!(
            "Negative scores are set to 0, and each row is divided by its sum, as in the paper: the sources of a row \
                              add up to 100%."
        ),
    },
    DerivationOption {
        set: |way| Derivation { normalization: Normalization::NonNegative, ..way },
        name: translatable!("positive scores"),
        about: translatable!(
            "Negative scores are set to 0, rows are not divided. The results are numbers, not shares; along a path they are multiplied."
        ),
    },
    DerivationOption {
        set: |way| Derivation { normalization: Normalization::None, ..way },
        name: translatable!("raw scores"),
        about: translatable!(
            "Scores are used as measured. The results are numbers, not shares; negative ones mean negative influence. Along a path \
             they are multiplied."
        ),
    },
];

/// Whether the derivation is the paper's.
pub fn is_the_papers(method: &Method) -> bool {
    method.derivation() == Derivation::default()
}

/// The derivation in words: "mean over tokens, shares".
pub fn words(method: &Method) -> String {
    words_of_scores(method) + t!(", ") + name(&NORMALIZATIONS, method)
}

/// How the derived scores are computed: "mean over tokens, hyperbolic".
pub fn words_of_scores(method: &Method) -> String {
    let aggregation = match method.aggregation {
        Aggregation::Mean => t!("mean over tokens"),
        Aggregation::Sum => t!("sum over tokens"),
    };
    let compression = (method.compression != Compression::None).then(|| name(&COMPRESSIONS, method));
    let weighting = (method.weighting != Weighting::None).then(|| name(&WEIGHTINGS, method));
    [Some(aggregation), compression, weighting].into_iter().flatten().collect::<Vec<_>>().join(t!(", "))
}

fn name(ways: &[DerivationOption], method: &Method) -> &'static str {
    ways.iter().find(|way| way.is_chosen(method.derivation())).map_or("", |way| text(way.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::document;

    #[test]
    fn the_papers_way_is_the_default_and_others_are_named() {
        let document = document();
        assert!(is_the_papers(&document.method));
        assert_eq!(words(&document.method), "mean over tokens, shares");
        let other =
            document.derived(Derivation { aggregation: Aggregation::Sum, normalization: Normalization::None, ..Derivation::default() });
        assert!(!is_the_papers(&other.method));
        assert_eq!(words(&other.method), "sum over tokens, raw scores");
        let bounded = other.derived(Derivation { compression: Compression::Bounded, ..Derivation::default() });
        assert!(!is_the_papers(&bounded.method));
        assert_eq!(words(&bounded.method), "mean over tokens, bounded, shares");
    }
}
