//! Influence of the parts of a source, such as its words.

use super::influence::{arriving, mask};
use super::{Normalization, node_influence, normalize};
use crate::table::Table;

/// Influence on `output` of a part of source `j` that was perturbed alone. Its edge weights are propagated through the generated sentences
/// like those of a source:
///
/// `v = Σ_i w[i] (v_i + [i in O])`, `w[i] = max(t[i], 0) / Σ_j max(T[i][j], 0)`
///
/// Here t = `scores` are the scores of the part on the generated sentences after the source (the last ones), T = `table` is the table of
/// the whole graph, and `v_i` is [`node_influence`].
///
/// The row is divided by its own sum, which does not include the part. So a part with the same effect as its source gets the influence of
/// the source, and the influences of parts need not add up to that of the source. The ablations do not divide, and `None` does not clip.
/// Time: O(m (n + m)).
pub fn part_influence(table: &Table, normalization: Normalization, scores: &[f64], output: &[usize]) -> f64 {
    let adjacency = normalize(table, normalization);
    let influence = node_influence(&adjacency, output);
    let is_output = mask(&adjacency, output);
    let first = table.n_generated() - scores.len();
    let rows = (first..table.n_generated()).zip(scores);
    rows.map(|(i, &score)| edge_weight(table.row(i), normalization, score) * arriving(&adjacency, &is_output, &influence, i)).sum()
}

fn edge_weight(row: &[Option<f64>], normalization: Normalization, score: f64) -> f64 {
    match normalization {
        Normalization::None => score,
        Normalization::NonNegative => score.max(0.0),
        Normalization::Full => {
            let sum = super::positive_mass(row);
            if sum > 0.0 { score.max(0.0) / sum } else { 0.0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P1 -> G1; P2 and G1 -> G2 half each.
    fn table() -> Table {
        let rows: [&[f64]; 2] = [&[2.0, 0.0], &[-1.0, 0.5, 0.5]];
        Table::from_fn(2, 2, |i, j| Some(rows[i][j]))
    }

    #[test]
    fn part_with_source_effect_has_source_influence() {
        for normalization in [Normalization::Full, Normalization::NonNegative, Normalization::None] {
            let influence = node_influence(&normalize(&table(), normalization), &[1]);
            for (j, column) in [vec![2.0, -1.0], vec![0.0, 0.5], vec![0.5]].iter().enumerate() {
                assert_eq!(part_influence(&table(), normalization, column, &[1]), influence[j], "{normalization:?} {j}");
            }
        }
    }

    #[test]
    fn part_reaches_output_through_steps() {
        // The part has half of P1's effect on G1, and G1 has half of the weight on G2.
        assert_eq!(part_influence(&table(), Normalization::Full, &[1.0, 0.0], &[1]), 0.25);
        // The part has twice the effect of the whole sentence, because parts may counteract each other.
        assert_eq!(part_influence(&table(), Normalization::Full, &[4.0, 0.0], &[1]), 1.0);
        assert_eq!(part_influence(&table(), Normalization::Full, &[-4.0, 0.0], &[1]), 0.0);
    }

    #[test]
    fn nothing_flows_into_a_row_without_positive_score() {
        let zero = Table::from_fn(1, 1, |_, _| Some(-1.0));
        assert_eq!(part_influence(&zero, Normalization::Full, &[3.0], &[0]), 0.0);
    }
}
