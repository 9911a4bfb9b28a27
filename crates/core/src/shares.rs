//! The influence of each sentence of a document on those that it explains, as pictures and tables show it.

use crate::explanation::{Document, MethodText};
use crate::graph::{self, Adjacency, Normalization};

/// The influence of all sources on the output. Shares are divided by the number of explained sentences.
pub struct Shares {
    pub adjacency: Adjacency,
    /// The explained sentences, as 0-based rows: those of the document, else the last one.
    pub output: Vec<usize>,
    /// CAGE and row attribution of each source; `None` where it was not measured.
    pub amounts: Vec<[Option<f64>; 2]>,
    /// The largest magnitude, where rows were not divided by their sums.
    largest: Option<f64>,
    /// Of each generated sentence.
    evidence: Vec<Evidence>,
}

/// What stands behind a generated sentence: the sum of its positive scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    Unmeasured,
    None,
    Weak,
    Clear,
}

impl Shares {
    pub fn of(document: &Document) -> Self {
        let adjacency = graph::normalize(&document.scores(), document.method.normalization);
        let mut output = document.output.clone();
        if output.is_empty() {
            output.push(adjacency.n_generated() - 1);
        }
        let table = &document.table;
        let is_measured = |j: usize| table.rows_after(j).all(|i| table.row(i)[j].is_some());
        let (via_steps, direct) = (graph::node_influence(&adjacency, &output), graph::direct_influence(&adjacency, &output));
        let amounts: Vec<[Option<f64>; 2]> = (0..table.n_sources())
            .map(|j| [via_steps[j], direct[j]].map(|sum| is_measured(j).then_some(sum / output.len() as f64)))
            .collect();
        let largest = (document.method.normalization != Normalization::Full).then(|| {
            let sizes = amounts.iter().flatten().flatten().map(|amount| amount.abs());
            sizes.filter(|size| size.is_finite()).fold(f64::MIN_POSITIVE, f64::max)
        });
        let weak = MethodText::of(&document.method.id).weak;
        let evidence = table.rows().map(|row| Evidence::of(row, weak)).collect();
        Self { adjacency, output, amounts, largest, evidence }
    }

    pub fn n_prompt(&self) -> usize {
        self.adjacency.n_prompt()
    }

    pub fn is_output(&self, j: usize) -> bool {
        j.checked_sub(self.n_prompt()).is_some_and(|i| self.output.contains(&i))
    }

    /// Whether there is no share to speak of: the source is explained itself, or comes after.
    pub fn is_hollow(&self, j: usize) -> bool {
        let is_later = j.checked_sub(self.n_prompt()).is_some_and(|i| self.output.last().is_some_and(|&last| i > last));
        is_later || self.is_output(j) && self.amounts[j][0] == Some(0.0)
    }

    /// What stands behind source `j`, where it is a generated sentence.
    pub fn evidence(&self, j: usize) -> Option<Evidence> {
        self.evidence.get(j.checked_sub(self.n_prompt())?).copied()
    }

    /// The largest magnitude, where influences are numbers and no shares.
    pub fn largest(&self) -> Option<f64> {
        self.largest
    }

    /// How much of the scale an influence takes, in [-1, 1].
    pub fn part(&self, influence: f64) -> f64 {
        let part = influence / self.largest.unwrap_or(1.0);
        if part.is_nan() { 0.0 } else { part.clamp(-1.0, 1.0) }
    }

    /// How strongly an influence is painted, in [-1, 1]: the square root of its part, so that 4 % and 1 % can be told apart; half of that
    /// where the evidence is weak.
    pub fn strength(&self, influence: f64) -> f64 {
        let strongest = self.output.iter().map(|&i| self.evidence[i]).max();
        let faded = if strongest == Some(Evidence::Weak) { 0.5 } else { 1.0 };
        let part = self.part(influence);
        faded * part.abs().sqrt().copysign(part)
    }
}

impl Evidence {
    fn of(row: &[Option<f64>], weak: f64) -> Self {
        let mass = graph::positive_mass(row);
        match mass {
            _ if row.iter().any(Option::is_none) => Self::Unmeasured,
            _ if mass <= 0.0 => Self::None,
            _ if mass < weak => Self::Weak,
            _ => Self::Clear,
        }
    }
}
