//! How much influence on the output bypasses, passes through, or starts in a group of generated sentences, such as a thinking section.

use std::ops::Range;

use super::influence::{arriving, influence_past, mask};
use super::{Adjacency, node_influence};

/// Parts of the influence on an output. They add up to the size of the output if no other row is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupInfluence {
    /// Influence of the prompt along paths that bypass the group.
    pub past_it: f64,
    /// Influence of the prompt along paths through the group.
    pub through_it: f64,
    /// Influence that starts in the group, at sentences without a source.
    pub from_it: f64,
}

/// Influence on `output` that bypasses, passes through, or starts in the generated sentences `group` (0-based rows). Each row of the graph
/// must sum to 1 or 0. Time: O(m (n + m)).
pub fn group_influence(adjacency: &Adjacency, output: &[usize], group: &Range<usize>) -> GroupInfluence {
    let n_prompt = adjacency.n_prompt();
    let influence = node_influence(adjacency, output);
    let from_prompt = |influence: &[f64]| influence[..n_prompt].iter().sum::<f64>();
    let past_it = from_prompt(&influence_past(adjacency, output, group));
    let is_output = mask(adjacency, output);
    // Rows sum to 1 or 0, except for rounding.
    let ending = |i: usize| arriving(adjacency, &is_output, &influence, i) * (1.0 - adjacency.row(i).iter().sum::<f64>()).max(0.0);
    let through_it = (from_prompt(&influence) - past_it).max(0.0);
    GroupInfluence { past_it, through_it, from_it: group.clone().map(ending).sum() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::CausalMatrix;

    #[test]
    fn a_thought_in_the_middle_divides_the_influence() {
        // P1 -> G1 (thought); nothing -> G2 (thought); P1, G1, G2 -> G3 with .2, .5, .3.
        let graph = CausalMatrix::from_rows(1, vec![vec![1.0], vec![0.0, 0.0], vec![0.2, 0.5, 0.3]]);
        let GroupInfluence { past_it, through_it, from_it } = group_influence(&graph, &[2], &(0..2));
        for (found, exact) in [(past_it, 0.2), (through_it, 0.5), (from_it, 0.3)] {
            assert!((found - exact).abs() < 1e-12);
        }
    }

    /// A row-stochastic graph in which about one row in five is zero.
    fn graphs() -> impl Strategy<Value = Adjacency> {
        (1..5_usize, 2..9_usize).prop_flat_map(|(n, m)| {
            let row = |i: usize| (prop::collection::vec(0.0..1.0_f64, n + i), 0..5_u8);
            (0..m).map(row).collect::<Vec<_>>().prop_map(move |rows| {
                let normalized = rows.into_iter().map(|(row, zero)| {
                    let sum: f64 = row.iter().sum();
                    row.iter().map(|weight| if zero == 0 || sum == 0.0 { 0.0 } else { weight / sum }).collect()
                });
                CausalMatrix::from_rows(n, normalized.collect())
            })
        })
    }

    /// (I - A)^-1 of the whole graph, sources in time order, by Gauss-Jordan elimination. The rows in `without` are zero, so those nodes
    /// propagate nothing.
    fn dense_inverse(graph: &Adjacency, without: &Range<usize>) -> Vec<Vec<f64>> {
        let (n, size) = (graph.n_prompt(), graph.n_prompt() + graph.n_generated());
        let unit = |k: usize| (0..size).map(move |j| f64::from(u8::from(j == k)));
        let mut rows: Vec<Vec<f64>> = (0..size)
            .map(|k| {
                let weight = |j: usize| match k.checked_sub(n) {
                    Some(i) if !without.contains(&i) => graph.get(i, j).copied().unwrap_or(0.0),
                    _ => 0.0,
                };
                unit(k).enumerate().map(|(j, one)| one - weight(j)).chain(unit(k)).collect()
            })
            .collect();
        for pivot in 0..size {
            let scale = rows[pivot][pivot];
            rows[pivot].iter_mut().for_each(|cell| *cell /= scale);
            let pivot_row = rows[pivot].clone();
            for (k, row) in rows.iter_mut().enumerate().filter(|(k, _)| *k != pivot) {
                let factor = row[pivot];
                debug_assert!(k < size);
                row.iter_mut().zip(&pivot_row).for_each(|(cell, other)| *cell -= factor * other);
            }
        }
        rows.into_iter().map(|row| row[size..].to_vec()).collect()
    }

    proptest! {
        #[test]
        fn it_is_what_a_dense_inverse_says(graph in graphs(), from in 0..8_usize, length in 1..8_usize) {
            let (n, m) = (graph.n_prompt(), graph.n_generated());
            let group = from.min(m - 1)..(from + length).min(m - 1).max(from.min(m - 1));
            let output = m - 1;
            let found = group_influence(&graph, &[output], &group);
            let nothing = 0..0;
            let [whole, cut] = [&nothing, &group].map(|without| dense_inverse(&graph, without));
            let prompt = |inverse: &[Vec<f64>]| inverse[n + output][..n].iter().sum::<f64>();
            let ends = |i: usize| whole[n + output][n + i] * (1.0 - graph.row(i).iter().sum::<f64>());
            prop_assert!((found.past_it - prompt(&cut)).abs() < 1e-9);
            prop_assert!((found.past_it + found.through_it - prompt(&whole)).abs() < 1e-9);
            prop_assert!((found.from_it - group.clone().map(ends).sum::<f64>()).abs() < 1e-9);
            let others = (0..m).filter(|i| !group.contains(i)).map(ends).sum::<f64>();
            prop_assert!((found.past_it + found.through_it + found.from_it + others - 1.0).abs() < 1e-9);
        }
    }
}
