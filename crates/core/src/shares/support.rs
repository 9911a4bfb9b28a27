//! Support of generated sentences by the prompt, in absolute terms. Shares of a row add up to 100 % however small its scores are.

use crate::explanation::{Document, Model};
use crate::graph::{self, Normalization};

/// Below this support, in nats, nothing in the prompt supports a sentence. Fitted in `crates/core/tests/support.rs`.
pub const LITTLE_SUPPORT: f64 = 4.2;

/// [`LITTLE_SUPPORT`] for models that were trained on problems only. They know few possible answers, so a right one is likely even without
/// the prompt: `docs/reading-the-numbers.md` has the measurement.
const LITTLE_SUPPORT_OF_PROBLEMS: f64 = 2.0;

/// Names of models that were trained on problems only begin with this.
const TRAINED_ON_PROBLEMS: &str = "Glasscage ";

/// The support, in nats, below which nothing in the prompt supports a sentence of this model.
pub fn little_support(model: &Model) -> f64 {
    if model.name.starts_with(TRAINED_ON_PROBLEMS) { LITTLE_SUPPORT_OF_PROBLEMS } else { LITTLE_SUPPORT }
}

/// The support of each generated sentence, in nats: its own, and that of the earlier sentences that it depends on. Empty if the
/// document does not contain it.
///
/// ```text
/// s(i) = max(0, support(i)) + sum over generated sentences k < i of A[i][k] s(k)
/// ```
pub fn total_support(document: &Document) -> Vec<f64> {
    let mut total: Vec<f64> = Vec::with_capacity(document.support.len());
    if document.support.is_empty() {
        return total;
    }
    let adjacency = graph::normalize(&document.scores(), Normalization::Full);
    for (row, own) in adjacency.rows().zip(&document.support) {
        let through_steps: f64 = row[adjacency.n_prompt()..].iter().zip(&total).map(|(weight, support)| weight * support).sum();
        total.push(own.max(0.0) + through_steps);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::Passage;
    use crate::explanation::example::example;
    use crate::table::Table;

    #[test]
    fn support_flows_through_steps() {
        let rows: [&[f64]; 3] = [&[1.0, 0.0], &[1.0, 0.0, 3.0], &[0.0, 0.0, 1.0, 1.0]];
        let document = Document {
            generation: Passage::new("A. B. C.", &[0..3, 3..6, 6..8], vec![2; 3]).into(),
            table: Table::from_fn(2, 3, |i, j| Some(rows[i][j])),
            support: vec![2.0, 0.5, -1.0],
            ..example()
        };
        assert_eq!(total_support(&document), [2.0, 0.5 + 0.75 * 2.0, 0.5 * 2.0 + 0.5 * 2.0]);
        assert!(total_support(&example()).is_empty());
    }
}
