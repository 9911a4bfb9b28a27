//! One line of results: a problem, how it was answered and explained, and how good each attribution is.

use glasscage::explanation::Document;
use glasscage::graph::Normalization;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Record {
    /// The number of the problem in its file, from 0.
    pub item: usize,
    pub outcome: Outcome,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Scored(Box<Scored>),
    /// There was nothing to explain, such as an empty answer.
    Skipped(String),
}

#[derive(Serialize, Deserialize)]
pub struct Scored {
    /// Whether the model's own answer is right, where that is known.
    pub is_right: Option<bool>,
    /// Whether the answer is at least as likely without the prompt: then RISE and MAS say nothing.
    pub is_rising: bool,
    pub scores: Vec<Score>,
    /// One a method.
    pub documents: Vec<Document>,
}

/// How good one attribution of one problem is.
#[derive(Clone, Serialize, Deserialize)]
pub struct Score {
    pub kind: Kind,
    pub coverage: Option<f64>,
    /// On relevant sentences.
    pub share: Option<f64>,
    pub rise: f64,
    pub mas: f64,
}

/// What made an attribution.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By CAGE or by row attribution from a method's table.
    Method(Variant, Reading),
    /// Equal parts, deleted in a random order; the mean of some.
    Random,
    /// Equal parts on the relevant sentences, these deleted first.
    Truth,
}

/// A table, and how edges are made from it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    pub method: String,
    pub aggregation: Aggregation,
    pub normalization: Normalization,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// The mean over the target's tokens: the paper.
    Mean,
    /// The sum over the block of target and source tokens: the paper's reference code.
    Block,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    Row,
    Cage,
}
