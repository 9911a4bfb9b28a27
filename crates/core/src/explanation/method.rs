//! How the table of a document was made, and how the graph is made of it.

use serde::{Deserialize, Serialize};

use crate::graph::Normalization;

/// How the table was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// The entry of the method registry, such as `pert`.
    pub id: String,
    /// How the graph is made of the table, which always holds means.
    pub aggregation: Aggregation,
    pub normalization: Normalization,
    /// What stood in place of a perturbed token: the text of the end token, or in words what else.
    pub replacement: String,
    /// Passes made and passes planned; fewer made than planned after Stop.
    pub passes: [usize; 2],
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

impl Aggregation {
    /// The score of a block whose `target_tokens` x `source_tokens` scores have this mean.
    pub fn score(self, mean: f64, target_tokens: usize, source_tokens: usize) -> f64 {
        match self {
            Self::Mean => mean,
            Self::Sum => mean * target_tokens as f64 * source_tokens as f64,
        }
    }
}
