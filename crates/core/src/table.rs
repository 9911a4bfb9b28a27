//! The matrix shape of the method: every generated sentence against everything before it.

use glasscage_message::ToMessage;
use serde::{Deserialize, Serialize};

/// Rows are the `m` generated sentences. Columns are the `n + m` sources: the `n` prompt sentences, then the generated ones. Row `i` has
/// `n + i` cells, for the sentences before it. Other cells do not exist, so the shape guarantees causality.
#[derive(Clone, Debug, PartialEq)]
pub struct CausalMatrix<T> {
    n_prompt: usize,
    rows: Vec<Vec<T>>,
}

/// The attribution table **T**: raw, signed scores (nats for Pert.). `None` marks a cell that was not measured, as in a stopped run.
pub type Table = CausalMatrix<Option<f64>>;

/// Why rows do not form a causal matrix.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum ShapeError {
    #[error("the table has no rows")]
    Empty,
    #[error("row {row} of the table has {found} cells where {expected} belong")]
    RowLength { row: usize, found: usize, expected: usize },
    #[error("row {row} of the table has a number at column {column}, at or after its own sentence")]
    NotCausal { row: usize, column: usize },
    #[error("row {row} of the table has a number that is not finite")]
    NotFinite { row: usize },
}

impl<T> CausalMatrix<T> {
    /// The matrix whose cell (`i`, `j`) is `cell(i, j)`.
    pub fn from_fn(n_prompt: usize, n_generated: usize, mut cell: impl FnMut(usize, usize) -> T) -> Self {
        let rows = (0..n_generated).map(|i| (0..n_prompt + i).map(|j| cell(i, j)).collect()).collect();
        Self { n_prompt, rows }
    }

    /// The matrix with these rows.
    ///
    /// # Panics
    /// Panics if row `i` does not have `n_prompt + i` cells. Use `Table::try_from` for untrusted rows.
    pub fn from_rows(n_prompt: usize, rows: Vec<Vec<T>>) -> Self {
        rows.iter().enumerate().for_each(|(i, row)| assert_eq!(row.len(), n_prompt + i, "cells of row {i}"));
        Self { n_prompt, rows }
    }

    /// `n`, the number of prompt sentences.
    pub fn n_prompt(&self) -> usize {
        self.n_prompt
    }

    /// `m`, the number of generated sentences.
    pub fn n_generated(&self) -> usize {
        self.rows.len()
    }

    /// `n + m`.
    pub fn n_sources(&self) -> usize {
        self.n_prompt + self.rows.len()
    }

    /// The `n + i` cells of generated sentence `i`.
    pub fn row(&self, i: usize) -> &[T] {
        &self.rows[i]
    }

    /// The `n + i` cells of generated sentence `i`, mutable.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.rows[i]
    }

    /// All rows, in time order.
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// The cell, or `None` if `j` is not before generated sentence `i`.
    pub fn get(&self, i: usize, j: usize) -> Option<&T> {
        self.rows.get(i)?.get(j)
    }

    /// The whole `m x (n + m)` rectangle, with `fill` in place of missing cells.
    pub fn to_rectangle(&self, fill: T) -> Vec<Vec<T>>
    where
        T: Clone,
    {
        let mut rows = self.rows.clone();
        rows.iter_mut().for_each(|row| row.resize(self.n_sources(), fill.clone()));
        rows
    }
}

impl Table {
    /// A table without any measured cell.
    pub fn unmeasured(n_prompt: usize, n_generated: usize) -> Self {
        Self::from_fn(n_prompt, n_generated, |_, _| None)
    }

    /// Stores the scores of source `column` on each generated sentence after it.
    pub fn set_column(&mut self, column: usize, scores: &[f64]) {
        let first_row = self.n_generated() - scores.len();
        for (row, &score) in self.rows[first_row..].iter_mut().zip(scores) {
            row[column] = Some(score);
        }
    }

    /// The rows of the generated sentences that source `column` can influence: those after it.
    pub fn rows_after(&self, column: usize) -> std::ops::Range<usize> {
        (column + 1).saturating_sub(self.n_prompt)..self.n_generated()
    }

    /// Whether all cells of source `column` are measured.
    pub fn is_measured(&self, column: usize) -> bool {
        self.rows_after(column).all(|i| self.rows[i][column].is_some())
    }

    /// `derived`, a matrix computed from this table, as an `m x (n + m)` rectangle. Only the columns of measured sources have values.
    pub fn measured_rectangle(&self, derived: &CausalMatrix<f64>) -> Vec<Vec<Option<f64>>> {
        let is_measured: Vec<bool> = (0..self.n_sources()).map(|j| self.is_measured(j)).collect();
        let cell = |i: usize, j: usize| derived.get(i, j).filter(|_| is_measured[j]).copied();
        (0..self.n_generated()).map(|i| (0..self.n_sources()).map(|j| cell(i, j)).collect()).collect()
    }

    /// Number of cells that are not measured.
    pub fn n_unmeasured(&self) -> usize {
        self.rows.iter().flatten().filter(|cell| cell.is_none()).count()
    }
}

impl TryFrom<Vec<Vec<Option<f64>>>> for Table {
    type Error = ShapeError;

    /// Converts the `m x (n + m)` rectangle. A row must have no number at or right of its own sentence.
    fn try_from(mut rows: Vec<Vec<Option<f64>>>) -> Result<Self, ShapeError> {
        let n_sources = rows.first().ok_or(ShapeError::Empty)?.len().max(rows.len());
        if let Some((row, cells)) = rows.iter().enumerate().find(|(_, cells)| cells.len() != n_sources) {
            return Err(ShapeError::RowLength { row, found: cells.len(), expected: n_sources });
        }
        let n_prompt = n_sources - rows.len();
        for (i, row) in rows.iter_mut().enumerate() {
            if let Some(column) = (n_prompt + i..n_sources).find(|&j| row[j].is_some()) {
                return Err(ShapeError::NotCausal { row: i, column });
            }
            if row.iter().flatten().any(|score| !score.is_finite()) {
                return Err(ShapeError::NotFinite { row: i });
            }
            row.truncate(n_prompt + i);
        }
        Ok(Self { n_prompt, rows })
    }
}

impl Serialize for Table {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_rectangle(None).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_survives_json_as_rectangle_with_nulls() {
        let table = Table::from_fn(2, 2, |i, j| (j != 0).then_some((10 * i + j) as f64));
        let json = serde_json::to_string(&table).unwrap();
        assert_eq!(json, "[[null,1.0,null,null],[null,11.0,12.0,null]]");
        assert_eq!(serde_json::from_str::<Table>(&json).unwrap(), table);
    }

    #[test]
    fn rows_that_are_no_causal_table_are_refused() {
        let refused = |rows: &[&[Option<f64>]]| Table::try_from(rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap_err();
        let one = Some(1.0);
        assert_eq!(refused(&[]), ShapeError::Empty);
        assert_eq!(refused(&[&[one, None], &[one]]), ShapeError::RowLength { row: 1, found: 1, expected: 2 });
        assert_eq!(refused(&[&[one, None], &[one, one, None]]), ShapeError::RowLength { row: 1, found: 3, expected: 2 });
        assert_eq!(refused(&[&[one], &[one]]), ShapeError::RowLength { row: 0, found: 1, expected: 2 });
        assert_eq!(refused(&[&[one, one]]), ShapeError::NotCausal { row: 0, column: 1 });
        assert_eq!(refused(&[&[one, None, None], &[one, one, one]]), ShapeError::NotCausal { row: 1, column: 2 });
        assert_eq!(refused(&[&[Some(f64::NAN), None]]), ShapeError::NotFinite { row: 0 });
    }

    #[test]
    fn json_that_is_no_causal_table_says_why() {
        let read = |json: &str| serde_json::from_str::<Table>(json).unwrap_err().to_string();
        assert_eq!(read("[]"), "the table has no rows");
        assert_eq!(read("[[1,null],[1]]"), "row 1 of the table has 1 cells where 2 belong");
        assert_eq!(read("[[1,2]]"), "row 0 of the table has a number at column 1, at or after its own sentence");
    }

    #[test]
    fn a_column_reaches_only_the_sentences_after_it() {
        let mut table = Table::unmeasured(1, 3);
        assert_eq!(table.rows_after(0), 0..3);
        assert_eq!(table.rows_after(2), 2..3);
        table.set_column(2, &[0.5]);
        assert_eq!(table.row(2), [None, None, Some(0.5)]);
        assert_eq!(table.n_unmeasured(), 5);
        assert_eq!([0, 2, 3].map(|j| table.is_measured(j)), [false, true, true]);
    }

    #[test]
    fn measured_rectangle_hides_unmeasured_columns() {
        let mut table = Table::from_fn(1, 2, |_, _| Some(0.5));
        let derived = CausalMatrix::from_fn(1, 2, |i, j| (10 * i + j) as f64);
        assert_eq!(table.measured_rectangle(&derived), [[Some(0.0), None, None], [Some(10.0), Some(11.0), None]]);
        table.row_mut(1)[0] = None;
        assert_eq!(table.measured_rectangle(&derived), [[None, None, None], [None, Some(11.0), None]]);
    }
}
