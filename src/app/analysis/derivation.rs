//! From scores to influence: the ways that a visitor can choose, in words. The first of each is the paper's.

use crate::explanation::{Aggregation, Method};
use crate::graph::Normalization;

/// One way, for a button and the sentence beside it.
pub struct Way<T> {
    pub value: T,
    pub name: &'static str,
    pub about: &'static str,
}

pub const AGGREGATIONS: [Way<Aggregation>; 2] = [
    Way {
        value: Aggregation::Mean,
        name: "mean",
        about: "The mean over the tokens of both sentences, as in the paper: a long sentence counts no more than a short one.",
    },
    Way {
        value: Aggregation::Sum,
        name: "sum",
        about: "The sum over all pairs of tokens, as in the paper\u{2019}s reference code: long sentences count more.",
    },
];

pub const NORMALIZATIONS: [Way<Normalization>; 3] = [
    Way {
        value: Normalization::Full,
        name: "shares",
        about: "Negative scores are cut to 0 and each row is divided by its sum, as in the paper: the sources share 100%.",
    },
    Way {
        value: Normalization::NonNegative,
        name: "positive scores",
        about: "Negative scores are cut to 0, nothing is divided. These are numbers, not shares, and they multiply along each path.",
    },
    Way {
        value: Normalization::None,
        name: "raw scores",
        about: "Nothing is cut and nothing divided. These are numbers, not shares; negative ones take away, and they multiply \
             along each path.",
    },
];

/// Whether the graph is made as in the paper.
pub fn is_the_papers(method: &Method) -> bool {
    method.aggregation == AGGREGATIONS[0].value && method.normalization == NORMALIZATIONS[0].value
}

/// "mean of each block, shares".
pub fn words(method: &Method) -> String {
    let aggregation = AGGREGATIONS.iter().find(|way| way.value == method.aggregation).map_or("", |way| way.name);
    let normalization = NORMALIZATIONS.iter().find(|way| way.value == method.normalization).map_or("", |way| way.name);
    format!("{aggregation} of each block, {normalization}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::attribution_view::tests::document;

    #[test]
    fn the_papers_way_is_the_default_and_others_are_named() {
        let document = document();
        assert!(is_the_papers(&document.method));
        assert_eq!(words(&document.method), "mean of each block, shares");
        let other = document.derived(Aggregation::Sum, Normalization::None);
        assert!(!is_the_papers(&other.method));
        assert_eq!(words(&other.method), "sum of each block, raw scores");
    }
}
