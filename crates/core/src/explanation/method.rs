//! How the table of a document was measured, and how the graph is derived from it.

use serde::{Deserialize, Serialize};

use crate::graph::Normalization;

/// How the table was measured, and how the graph is derived from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// ID in the method registry, such as `pert`, or the name of another program's method.
    pub id: String,
    /// Unit of the table, for methods that are not in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// This field and the next three form the [`Derivation`] of the graph. The table itself always contains means.
    pub aggregation: Aggregation,
    #[serde(default, skip_serializing_if = "Compression::is_none")]
    pub compression: Compression,
    #[serde(default, skip_serializing_if = "Weighting::is_none")]
    pub weighting: Weighting,
    pub normalization: Normalization,
    /// Replacement for a perturbed token: the text of the end token, or a description.
    pub replacement: String,
    /// Passes made and passes planned. Fewer were made than planned if the run was stopped.
    pub passes: [usize; 2],
}

impl Method {
    pub fn derivation(&self) -> Derivation {
        let Self { aggregation, compression, weighting, normalization, .. } = *self;
        Derivation { aggregation, compression, weighting, normalization }
    }
}

/// How the graph is derived from the table.
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
    /// The paper's derivation.
    pub const PAPER: Self = Self {
        aggregation: Aggregation::Mean,
        compression: Compression::None,
        weighting: Weighting::None,
        normalization: Normalization::Full,
    };

    /// Score of a block of `target_tokens` x `source_tokens` token scores with mean `mean`, before weighting.
    pub fn score(self, mean: f64, target_tokens: usize, source_tokens: usize) -> f64 {
        let compressed = self.compression.apply(mean, target_tokens);
        match self.aggregation {
            Aggregation::Mean => compressed,
            Aggregation::Sum if self.compression.is_none() => compressed * target_tokens as f64 * source_tokens as f64,
            // The compressed score already covers all tokens of the target.
            Aggregation::Sum => compressed * source_tokens as f64,
        }
    }
}

/// Compression of large scores before rows are divided by their sum. The log-probability of a sentence that is already impossible can still
/// fall, and would dominate its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// No compression (the paper).
    #[default]
    None,
    /// ln(1 + x / 2), where x is the loss of the whole sentence in nats.
    Log,
    /// 1 - exp(-x / 10): between 0 and 1.
    Bounded,
    /// x / (x + 2): between 0 and 1, and 1/2 at 2 nats.
    Hyperbolic,
}

impl Compression {
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Compressed score of a sentence of `tokens` tokens with mean score `mean`. Negative scores stay negative.
    pub fn apply(self, mean: f64, tokens: usize) -> f64 {
        let nats = mean.abs() * tokens as f64;
        match self {
            Self::None => mean,
            Self::Log => (nats / 2.0).ln_1p().copysign(mean),
            Self::Bounded => -(-nats / 10.0).exp_m1().copysign(-mean),
            // This is x / (x + 2), written so that it also works for 0 and infinity.
            Self::Hyperbolic => (1.0 / (1.0 + 2.0 / nats)).copysign(mean),
        }
    }
}

/// How scores are weighted before rows are divided by their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weighting {
    /// No weights (the paper).
    #[default]
    None,
    /// Weights by the information flow from the source, divided by the largest flow in the row, to the power 2/3. Blanking out a sentence
    /// has an effect even if the model read almost nothing from it, and this weight reduces that effect. It cannot create influence where
    /// nothing was lost.
    Flow,
}

impl Weighting {
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// How the token scores of a block (a source and a later sentence) are combined into one score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Mean of the token scores, as stored in the table (the paper).
    #[default]
    Mean,
    /// Sum of the token scores: the mean times the token counts of source and target (the paper's reference code).
    Sum,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_score_is_mean_or_sum_over_tokens() {
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
