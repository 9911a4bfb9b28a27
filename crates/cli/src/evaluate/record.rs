//! One line of results: a problem, its answer and explanation, and the quality of each attribution.

use glasscage_core::explanation::{Aggregation, Compression, Derivation, Document, Weighting};
use glasscage_core::graph::Normalization;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Record {
    /// 0-based number of the problem in its file.
    pub item: usize,
    pub outcome: ItemResult,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemResult {
    Scored(Box<ScoredItem>),
    /// There was nothing to explain, such as an empty answer.
    Skipped(String),
}

#[derive(Serialize, Deserialize)]
pub struct ScoredItem {
    /// Whether the model's own answer is right, if known.
    pub is_right: Option<bool>,
    /// Whether the answer is at least as likely without the prompt. RISE and MAS then have no meaning.
    pub is_rising: bool,
    pub scores: Vec<Score>,
    /// One per method.
    pub documents: Vec<Document>,
}

/// Quality of one attribution of one problem.
#[derive(Clone, Serialize, Deserialize)]
pub struct Score {
    pub kind: Attributor,
    pub coverage: Option<f64>,
    /// Share of the attribution on relevant sentences.
    pub share: Option<f64>,
    /// Missing in records made before December 2026.
    #[serde(default)]
    pub missed: Option<f64>,
    pub rise: f64,
    pub mas: f64,
    /// CPU time of the measurement, together with the methods that share its passes. Excludes writing the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
}

/// Source of an attribution.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attributor {
    /// Derived from a method's table.
    Method(GraphVariant, AttributionRule),
    /// Made by another program, under this name.
    External(String),
    /// Equal shares, deleted in random orders. The metrics are means over the orders.
    Random,
    /// Equal shares on the relevant sentences, which are deleted first.
    Truth,
}

/// A method's table, and how its edges are derived.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphVariant {
    pub method: String,
    #[serde(deserialize_with = "aggregation")]
    pub aggregation: Aggregation,
    #[serde(default, skip_serializing_if = "Compression::is_none")]
    pub compression: Compression,
    #[serde(default, skip_serializing_if = "Weighting::is_none")]
    pub weighting: Weighting,
    pub normalization: Normalization,
}

impl GraphVariant {
    pub fn new(method: &str, Derivation { aggregation, compression, weighting, normalization }: Derivation) -> Self {
        Self { method: method.into(), aggregation, compression, weighting, normalization }
    }

    pub fn derivation(&self) -> Derivation {
        let Self { aggregation, compression, weighting, normalization, .. } = *self;
        Derivation { aggregation, compression, weighting, normalization }
    }
}

/// How to compute an attribution from the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributionRule {
    /// One step: the rows of A.
    Row,
    /// Through all earlier sentences: the rows of Y.
    Cage,
}

/// Accepts `block` for the sum, as in records made before November 2026.
fn aggregation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Aggregation, D::Error> {
    let word = String::deserialize(deserializer)?;
    let word = if word == "block" { "sum" } else { &word };
    Aggregation::deserialize(word.into_deserializer())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_old_and_of_today_are_read() {
        let read = |word: &str| {
            let json = format!(r#"{{"method":[{{"method":"pert","aggregation":"{word}","normalization":"full"}},"cage"]}}"#);
            serde_json::from_str::<Attributor>(&json)
        };
        let expected = GraphVariant::new("pert", Derivation { aggregation: Aggregation::Sum, ..Derivation::default() });
        for word in ["block", "sum"] {
            assert!(read(word).unwrap() == Attributor::Method(expected.clone(), AttributionRule::Cage));
        }
        assert!(read("median").is_err());
    }
}
