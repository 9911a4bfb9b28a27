//! Computes A from T (`eq:normalize`): clips negative scores to 0 and divides each row by its sum.

use serde::{Deserialize, Serialize};

use crate::table::{CausalMatrix, Table};

/// **A**: cell (i, j) is the weight of the edge from source j to generated sentence i.
pub type Adjacency = CausalMatrix<f64>;

/// How raw scores become edge weights. All variants except `Full` are ablations (paper, `sec:ablation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normalization {
    /// Non-negative, each row sums to 1 (the method).
    #[default]
    Full,
    /// Clips negative scores to 0, without dividing rows.
    NonNegative,
    /// The raw scores.
    None,
}

/// `A = Φ(T) / Σ_j Φ(T)`, `Φ(x) = max(x, 0)` under `Full`. Rows without a positive score stay zero, because any weight in them would be
/// invented. An unmeasured cell counts as 0.
pub fn normalize(table: &Table, normalization: Normalization) -> Adjacency {
    CausalMatrix::from_rows(table.n_prompt(), table.rows().map(|row| normalize_row(row, normalization)).collect())
}

fn normalize_row(row: &[Option<f64>], normalization: Normalization) -> Vec<f64> {
    let scores = row.iter().map(|score| score.unwrap_or(0.0));
    match normalization {
        Normalization::None => scores.collect(),
        Normalization::NonNegative => scores.map(|score| score.max(0.0)).collect(),
        Normalization::Full => {
            // Divide by the largest score first, so that the sum of huge scores stays finite.
            let largest = scores.clone().fold(0.0, f64::max);
            let scaled: Vec<f64> = scores.map(|score| if largest > 0.0 { score.max(0.0) / largest } else { 0.0 }).collect();
            let sum: f64 = scaled.iter().sum();
            if sum > 0.0 { scaled.iter().map(|score| score / sum).collect() } else { scaled }
        }
    }
}

/// Like [`normalize`] under `Full`, for a run in progress. An unmeasured cell gets its share of the row of `estimate`, a table of scores in
/// any unit, and the measured cells divide the rest. A fully measured row is the same as in `normalize`.
pub fn normalize_with_estimate(table: &Table, estimate: &Table) -> Adjacency {
    let [measured, estimate] = [table, estimate].map(|scores| normalize(scores, Normalization::Full));
    let rows = table.rows().zip(measured.rows()).zip(estimate.rows());
    Adjacency::from_rows(table.n_prompt(), rows.map(|((scores, measured), estimate)| blend_row(scores, measured, estimate)).collect())
}

/// One row of [`normalize_with_estimate`]. If only one of the two rows has weight, it gets everything.
fn blend_row(scores: &[Option<f64>], measured: &[f64], estimate: &[f64]) -> Vec<f64> {
    let estimated: f64 = scores.iter().zip(estimate).filter(|(score, _)| score.is_none()).map(|(_, weight)| weight).sum();
    let whole = if measured.iter().any(|&weight| weight > 0.0) || estimated == 0.0 { 1.0 } else { estimated };
    let blend = |((score, measured), estimate): ((&Option<f64>, &f64), &f64)| match score {
        Some(_) => measured * (1.0 - estimated),
        None => estimate / whole,
    };
    scores.iter().zip(measured).zip(estimate).map(blend).collect()
}

/// The generated sentences on which no source has weight: they have "no measurable influence".
pub fn zero_rows(adjacency: &Adjacency) -> Vec<usize> {
    (0..adjacency.n_generated()).filter(|&i| adjacency.row(i).iter().all(|&weight| weight == 0.0)).collect()
}

/// Evidence for a row before normalization scales the row to 100 %: the sum of its positive scores, in the unit of the table (nats per
/// token for Pert.).
pub fn positive_mass(row: &[Option<f64>]) -> f64 {
    row.iter().flatten().map(|score| score.max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let rows = [[Some(1.0), Some(-2.0), None, None], [Some(-1.0), Some(0.0), Some(-3.0), None]];
        Table::try_from(rows.map(Vec::from).to_vec()).unwrap()
    }

    #[test]
    fn negatives_are_cut_and_rows_sum_to_one() {
        let adjacency = normalize(&table(), Normalization::Full);
        assert_eq!(adjacency.row(0), [1.0, 0.0]);
        let huge = normalize(&Table::from_fn(2, 1, |_, _| Some(f64::MAX)), Normalization::Full);
        assert_eq!((huge.row(0), zero_rows(&huge)), (&[0.5, 0.5][..], vec![]));
    }

    #[test]
    fn a_row_without_positive_score_stays_zero_and_is_reported() {
        let adjacency = normalize(&table(), Normalization::Full);
        assert_eq!(adjacency.row(1), [0.0, 0.0, 0.0]);
        assert_eq!(zero_rows(&adjacency), [1]);
    }

    #[test]
    fn unmeasured_source_gets_estimated_share() {
        let rows: [&[Option<f64>]; 2] = [&[Some(3.0), Some(1.0), None], &[None, Some(-1.0), None, None]];
        let (table, estimate) = (Table::from_fn(3, 2, |i, j| rows[i][j]), Table::from_fn(3, 2, |_, j| Some([1.0, 4.0, 1.0, 2.0][j])));
        let adjacency = normalize_with_estimate(&table, &estimate);
        assert_eq!(adjacency.row(1), [0.25, 0.0, 0.25, 0.5]);
        let is_close = |row: &[f64], exact: &[f64]| row.iter().zip(exact).all(|(weight, exact)| (weight - exact).abs() < 1e-12);
        assert!(is_close(adjacency.row(0), &[0.625, 5.0 / 24.0, 1.0 / 6.0]));
        let nothing = normalize_with_estimate(&Table::unmeasured(3, 2), &estimate);
        assert!(is_close(nothing.row(1), normalize(&estimate, Normalization::Full).row(1)));
        assert_eq!(normalize_with_estimate(&estimate, &table), normalize(&estimate, Normalization::Full));
    }

    #[test]
    fn the_ablations_keep_magnitudes() {
        assert_eq!(normalize(&table(), Normalization::NonNegative).row(0), [1.0, 0.0]);
        assert_eq!(normalize(&table(), Normalization::None).row(1), [-1.0, 0.0, -3.0]);
    }
}
