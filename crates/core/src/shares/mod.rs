//! The influence of each sentence of a document on those that it explains, as pictures and tables show it.

mod evidence;
mod scale;

pub use evidence::Evidence;
pub use scale::{Scale, percent_digits};

use crate::explanation::{Document, MethodText};
use crate::graph::{self, Adjacency};

/// The influence of all sources on the output. Shares are divided by the number of explained sentences.
pub struct Shares {
    pub adjacency: Adjacency,
    /// The explained sentences, as 0-based rows: those of the document, else the last one.
    pub output: Vec<usize>,
    /// CAGE and row attribution of each source; `None` where it was not measured.
    pub amounts: Vec<[Option<f64>; 2]>,
    pub scale: Scale,
    /// Of each generated sentence.
    evidence: Vec<Evidence>,
}

impl Shares {
    pub fn of(document: &Document) -> Self {
        let adjacency = graph::normalize(&document.scores(), document.method.normalization);
        let mut output = document.output.clone();
        if output.is_empty() {
            output.push(adjacency.n_generated() - 1);
        }
        let table = &document.table;
        let (total, direct) = (graph::node_influence(&adjacency, &output), graph::direct_influence(&adjacency, &output));
        let amounts: Vec<[Option<f64>; 2]> = (0..table.n_sources())
            .map(|j| [total[j], direct[j]].map(|sum| table.is_measured(j).then_some(sum / output.len() as f64)))
            .collect();
        let scale = Scale::of(document.method.normalization, amounts.iter().flatten().flatten().copied());
        let weak = MethodText::of(&document.method.id).weak;
        let evidence = table.rows().map(|row| Evidence::of(row, weak)).collect();
        Self { adjacency, output, amounts, scale, evidence }
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

    /// How strongly an influence is painted, in [-1, 1]: see [`Scale::strength`].
    pub fn strength(&self, influence: f64) -> f64 {
        self.scale.strength(influence, Evidence::strongest(self.output.iter().map(|&i| self.evidence[i])))
    }
}
