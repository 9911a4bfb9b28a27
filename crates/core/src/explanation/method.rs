//! How the table of a document was made, and how the graph is made of it.

use serde::{Deserialize, Serialize};

use crate::graph::Normalization;

/// How the table was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The entry of the method registry, such as `pert`, or the name of another program's method.
    pub id: String,
    /// The unit of the table, of a method that is not in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How the graph is made of the table, which always holds means: see [`Derivation`].
    pub aggregation: Aggregation,
    #[serde(default, skip_serializing_if = "Compression::is_none")]
    pub compression: Compression,
    #[serde(default, skip_serializing_if = "Weighting::is_none")]
    pub weighting: Weighting,
    pub normalization: Normalization,
    /// What stood in place of a perturbed token: the text of the end token, or in words what else.
    pub replacement: String,
    /// Passes made and passes planned; fewer made than planned after Stop.
    pub passes: [usize; 2],
}

impl Method {
    pub fn derivation(&self) -> Derivation {
        let Self { aggregation, compression, weighting, normalization, .. } = *self;
        Derivation { aggregation, compression, weighting, normalization }
    }
}

/// How the graph is made of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derivation {
    pub aggregation: Aggregation,
    pub compression: Compression,
    pub weighting: Weighting,
    pub normalization: Normalization,
}

impl Default for Derivation {
    fn default() -> Self {
        Self::PAPER
    }
}

impl Derivation {
    /// The paper's way.
    pub const PAPER: Self = Self {
        aggregation: Aggregation::Mean,
        compression: Compression::None,
        weighting: Weighting::None,
        normalization: Normalization::Full,
    };

    /// The score, not weighted yet, from which the graph is made, of a block of `target_tokens` x `source_tokens` scores with this mean.
    pub fn score(self, mean: f64, target_tokens: usize, source_tokens: usize) -> f64 {
        let compressed = self.compression.apply(mean, target_tokens);
        match self.aggregation {
            Aggregation::Mean => compressed,
            Aggregation::Sum if self.compression.is_none() => compressed * target_tokens as f64 * source_tokens as f64,
            // What is compressed is the sum over the target's tokens already.
            Aggregation::Sum => compressed * source_tokens as f64,
        }
    }
}

/// How large scores are held down before rows are divided by their sum. A sentence made impossible cannot become more impossible, yet its
/// log-probability goes on falling, and drowns its neighbors in the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not at all (the paper).
    #[default]
    None,
    /// ln(1 + x / 2), where x is the loss of the whole sentence in nats.
    Log,
    /// 1 - exp(-x / 10): between 0 and 1.
    Bounded,
    /// x / (x + 2): between 0 and 1, half of it at 2 nats.
    Hyperbolic,
}

impl Compression {
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// The compressed score of a sentence of `tokens` tokens whose mean score is `mean`; odd, so that negative scores stay negative.
    pub fn apply(self, mean: f64, tokens: usize) -> f64 {
        let nats = mean.abs() * tokens as f64;
        match self {
            Self::None => mean,
            Self::Log => (nats / 2.0).ln_1p().copysign(mean),
            Self::Bounded => -(-nats / 10.0).exp_m1().copysign(-mean),
            // x / (x + 2), also where x is 0 or infinite.
            Self::Hyperbolic => (1.0 / (1.0 + 2.0 / nats)).copysign(mean),
        }
    }
}

/// By what scores are weighted before rows are divided by their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weighting {
    /// By nothing (the paper).
    #[default]
    None,
    /// By the information flow from the source as a part of the largest in the row, to the power 2/3. Blanking out a sentence does
    /// something even where the model read next to nothing of it; no weight makes influence where nothing was lost.
    Flow,
}

impl Weighting {
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// How the scores of a block, the tokens of a source and of a later sentence, become the score from which the graph is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Their mean, which the table holds (the paper).
    #[default]
    Mean,
    /// Their sum: the mean times the tokens of both (the paper's reference code).
    Sum,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_counts_by_its_mean_or_by_its_sum_over_all_pairs_of_tokens() {
        let derivation = |aggregation| Derivation { aggregation, ..Derivation::default() };
        assert_eq!(derivation(Aggregation::Mean).score(0.5, 7, 6), 0.5);
        assert_eq!(derivation(Aggregation::Sum).score(0.5, 7, 6), 21.0);
    }

    #[test]
    fn compressed_scores_keep_their_order_and_their_sign() {
        let score = |compression, mean| Derivation { compression, ..Derivation::default() }.score(mean, 4, 6);
        assert_eq!(score(Compression::Log, 0.5), 2.0_f64.ln());
        assert!((score(Compression::Bounded, 2.5) - (1.0 - (-1.0_f64).exp())).abs() < 1e-15);
        assert_eq!(score(Compression::Hyperbolic, 0.5), 0.5);
        for compression in [Compression::None, Compression::Log, Compression::Bounded, Compression::Hyperbolic] {
            assert_eq!(score(compression, 0.0), 0.0);
            assert_eq!(score(compression, -0.5), -score(compression, 0.5));
            assert!(score(compression, 0.6) > score(compression, 0.5));
        }
        assert!(score(Compression::Bounded, 1e9) <= 1.0);
        assert_eq!(score(Compression::Hyperbolic, f64::MAX), 1.0);
        let sum = Derivation { aggregation: Aggregation::Sum, compression: Compression::Log, ..Derivation::default() };
        assert_eq!(sum.score(0.5, 4, 6), 6.0 * 2.0_f64.ln());
    }
}
