//! The attribution graph of a document, complete or partly measured: edges, evidence and matrices.

use super::Evidence;
use crate::explanation::{Derivation, Document, Weighting};
use crate::graph::{self, Adjacency, Normalization};
use crate::table::Table;

/// A document with its derived scores, edges and evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributionGraph {
    document: Document,
    /// **S**: derived scores, from which the edges are computed.
    scores: Table,
    /// Estimated scores from information flow, for sources that are not measured yet.
    estimate: Option<Table>,
    adjacency: Adjacency,
    /// For each source: whether all its cells are measured.
    measured: Vec<bool>,
    /// Evidence for each generated sentence.
    evidence: Vec<Evidence>,
    /// For each source, whether its text is blank.
    blank: Vec<bool>,
}

/// Matrices of the method: measured scores (T), derived scores (S), edge weights (A), influence along all paths (Y).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    T,
    S,
    A,
    Y,
}

impl AttributionGraph {
    pub fn new(document: Document) -> Self {
        let scores = document.scores();
        let adjacency = graph::normalize(&scores, document.method.normalization);
        let blank = document.source_texts().into_iter().map(|text| text.trim().is_empty()).collect();
        let mut graph = Self { document, scores, estimate: None, adjacency, measured: Vec::new(), evidence: Vec::new(), blank };
        graph.update_evidence();
        graph
    }

    /// Sets the scores of one source on the generated sentences after it and updates the graph. Ignores scores of the wrong length.
    pub fn fill_column(&mut self, source: usize, scores: &[f64], passes: [usize; 2]) {
        let table = &mut self.document.table;
        if source < table.n_sources() && scores.len() == table.rows_after(source).len() {
            table.set_column(source, scores);
            self.document.method.passes = passes;
            self.update();
        }
    }

    /// Sets estimated scores for sources that are not measured yet. With `None`, these sources are shown as not measured. If the document
    /// uses flow weighting but has no flow, the estimate becomes its flow. Ignores a table of the wrong shape.
    pub fn set_estimate(&mut self, estimate: Option<Table>) {
        let table = &self.document.table;
        let fits = |other: &Table| [other.n_prompt(), other.n_generated()] == [table.n_prompt(), table.n_generated()];
        if estimate.as_ref().is_none_or(fits) {
            if self.document.method.weighting == Weighting::Flow && self.document.flow.is_none() {
                self.document.flow.clone_from(&estimate);
            }
            self.estimate = estimate;
            self.update();
        }
    }

    pub fn has_estimate(&self) -> bool {
        self.estimate.is_some()
    }

    /// Recomputes the edges from the same measured scores with another derivation.
    pub fn derive(&mut self, derivation: Derivation) {
        self.document = self.document.clone().derived(derivation);
        self.update();
    }

    fn update(&mut self) {
        self.scores = self.document.scores();
        self.adjacency = match self.usable_estimate() {
            Some(estimate) => graph::normalize_with_estimate(&self.scores, estimate),
            None => self.measured_adjacency(),
        };
        self.update_evidence();
    }

    /// **A** of the measured scores, without estimates.
    fn measured_adjacency(&self) -> Adjacency {
        graph::normalize(&self.scores, self.document.method.normalization)
    }

    /// The estimate if edges are shares, else `None`, because estimates and scores have different units.
    fn usable_estimate(&self) -> Option<&Table> {
        self.estimate.as_ref().filter(|_| self.document.method.normalization == Normalization::Full)
    }

    /// Updates which sources are measured, and the evidence for each row.
    fn update_evidence(&mut self) {
        let table = &self.document.table;
        self.measured = (0..table.n_sources()).map(|j| table.is_measured(j)).collect();
        self.evidence = Evidence::of_document(&self.document);
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn n_prompt(&self) -> usize {
        self.adjacency.n_prompt()
    }

    pub fn n_generated(&self) -> usize {
        self.adjacency.n_generated()
    }

    /// Evidence for source `j`. `None` if `j` is not a generated sentence.
    pub fn evidence(&self, j: usize) -> Option<Evidence> {
        self.evidence.get(j.checked_sub(self.n_prompt())?).copied()
    }

    /// Whether the text of source `j` is blank. True if there is no such source. Time: constant.
    pub fn is_blank(&self, j: usize) -> bool {
        self.blank.get(j).copied().unwrap_or(true)
    }

    /// The matrix as `m` rows of `n + m` cells. A cell without a number is `None`.
    pub fn rectangle(&self, matrix: Matrix) -> Vec<Vec<Option<f64>>> {
        let table = &self.document.table;
        match matrix {
            Matrix::T => table.to_rectangle(None),
            Matrix::S => self.scores.to_rectangle(None),
            Matrix::A => table.measured_rectangle(&self.measured_adjacency()),
            Matrix::Y => table.measured_rectangle(&graph::total_influence(&self.measured_adjacency())),
        }
    }

    /// **A**: edge weights, including estimates.
    pub fn adjacency(&self) -> &Adjacency {
        &self.adjacency
    }

    /// **S**: derived scores, from which the edges are computed.
    pub fn scores(&self) -> &Table {
        &self.scores
    }

    /// Whether source `j` has measured or estimated scores.
    pub fn is_known(&self, j: usize) -> bool {
        self.is_measured(j) || self.is_estimated(j)
    }

    fn is_measured(&self, j: usize) -> bool {
        self.measured.get(j).copied().unwrap_or(false)
    }

    /// Whether the scores of source `j` are estimates.
    pub fn is_estimated(&self, j: usize) -> bool {
        self.usable_estimate().is_some() && !self.is_measured(j)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Shares;
    use super::super::tests::document;
    use super::*;

    #[test]
    fn unmeasured_source_is_estimated_until_measured() {
        let mut partial = document();
        partial.table.row_mut(1)[1] = None;
        let mut graph = AttributionGraph::new(partial);
        graph.set_estimate(Some(Table::from_fn(2, 4, |_, _| Some(2.0))));
        let look = |graph: &AttributionGraph| Shares::new(Arc::new(graph.clone()), &[1]);
        // The estimate gives P2 a third of the row. The rest comes from G1, which depends only on P1.
        let share = look(&graph).total(1).unwrap();
        assert!((share - 1.0 / 3.0).abs() < 1e-12 && graph.is_estimated(1) && !graph.is_estimated(0));
        assert_eq!(look(&graph).graph().rectangle(Matrix::T)[1][1], None, "an estimate is not in the table");
        assert_eq!(look(&graph).to_document().table, graph.document().table);
        graph.set_estimate(Some(Table::from_fn(2, 3, |_, _| Some(2.0))));
        assert!(graph.is_estimated(1), "of another shape");
        graph.derive(Derivation { normalization: Normalization::None, ..Derivation::default() });
        assert_eq!((graph.is_estimated(1), look(&graph).total(1)), (false, None), "raw scores have another unit");
        graph.derive(Derivation::default());
        graph.fill_column(1, &[0.0, 0.5, -0.1, 0.01], [3, 3]);
        assert_eq!((graph.is_estimated(1), look(&graph).total(1)), (false, Some(0.5)));
        graph.set_estimate(None);
        assert_eq!(graph, AttributionGraph::new(document()));
    }
}
