//! The derivations of a graph that `glasscage evaluate` compares.

use clap::ValueEnum;
use glasscage_core::explanation::{Aggregation, Compression, Derivation, Weighting};
use glasscage_core::graph::Normalization;
use serde::{Deserialize, Serialize};

/// How to derive a graph from the table of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Derivations {
    /// As in the paper, as on the page, and each alternative in one step
    #[default]
    All,
    /// As in the paper, and as on the page
    Default,
}

impl Derivations {
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// The derivations for a method, the paper's first. `own` is what the page uses.
    pub fn of(self, own: Derivation) -> Vec<Derivation> {
        let paper = Derivation::default();
        let mut derivations = vec![paper];
        if self.is_all() {
            let compressed = [Compression::Log, Compression::Bounded, Compression::Hyperbolic];
            derivations.extend(compressed.map(|compression| Derivation { compression, ..paper }));
            derivations
                .extend([Normalization::NonNegative, Normalization::None].map(|normalization| Derivation { normalization, ..paper }));
            derivations.push(Derivation { aggregation: Aggregation::Sum, ..paper });
        }
        if own.weighting != Weighting::None {
            derivations.push(own);
        }
        derivations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_comes_first_and_own_last() {
        let own = Derivation { weighting: Weighting::Flow, ..Derivation::default() };
        assert_eq!(Derivations::Default.of(own), [Derivation::default(), own]);
        assert_eq!(Derivations::Default.of(Derivation::default()), [Derivation::default()]);
        let all = Derivations::All.of(own);
        assert_eq!((all.len(), all[0], all[7]), (8, Derivation::default(), own));
    }
}
