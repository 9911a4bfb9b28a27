//! Computes Y from A (`eq:all_at_once`), and the attributions that Y contains.

use std::ops::Range;

use super::Adjacency;
use crate::table::CausalMatrix;

/// **Y** = A (I - A)^-1 by forward substitution, rows in time order: `Y[i] = A[i] + Σ_k A[i][k] Y[k]`.
/// Time: O(m² (n + m)). [`node_influence`] needs only O(m (n + m)) to compute attributions.
pub fn total_influence(adjacency: &Adjacency) -> CausalMatrix<f64> {
    let n_prompt = adjacency.n_prompt();
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(adjacency.n_generated());
    for direct in adjacency.rows() {
        let mut row = direct.to_vec();
        for (k, earlier) in rows.iter().enumerate() {
            let weight = direct[n_prompt + k];
            row.iter_mut().zip(earlier).for_each(|(total, via)| *total += weight * via);
        }
        rows.push(row);
    }
    CausalMatrix::from_rows(n_prompt, rows)
}

/// Influence of each of the `n + m` sources on `output`: `v = Σ_{i in O} Y[i]`, computed without building Y. Weight flows back from the
/// output, latest sentence first. `output` lists generated sentences (0-based rows); duplicates count once.
pub fn node_influence(adjacency: &Adjacency, output: &[usize]) -> Vec<f64> {
    influence_past(adjacency, output, &(0..0))
}

/// Like [`node_influence`], but ignores all edges into the sentences of `group` (0-based rows).
pub(super) fn influence_past(adjacency: &Adjacency, output: &[usize], group: &Range<usize>) -> Vec<f64> {
    let mut influence = vec![0.0; adjacency.n_sources()];
    let is_output = mask(adjacency, output);
    for i in (0..adjacency.n_generated()).rev().filter(|i| !group.contains(i)) {
        let arriving = arriving(adjacency, &is_output, &influence, i);
        if arriving != 0.0 {
            influence.iter_mut().zip(adjacency.row(i)).for_each(|(total, weight)| *total += arriving * weight);
        }
    }
    influence
}

/// For each generated sentence, whether it is in `output`. Ignores rows that do not exist.
pub(super) fn mask(adjacency: &Adjacency, output: &[usize]) -> Vec<bool> {
    let mut is_output = vec![false; adjacency.n_generated()];
    output.iter().for_each(|&i| is_output.get_mut(i).into_iter().for_each(|flag| *flag = true));
    is_output
}

/// Weight that generated sentence `i` passes to its sources: its influence on the output, plus 1 if `i` is an output sentence according to
/// the [`mask`].
pub(super) fn arriving(adjacency: &Adjacency, is_output: &[bool], influence: &[f64], i: usize) -> f64 {
    influence[adjacency.n_prompt() + i] + f64::from(u8::from(is_output[i]))
}

/// a^O, the context attribution (`eq:context_attribution`): the prompt columns of the sum of Y's rows in O.
/// The attribution sums to |O| if no ancestor row is zero.
pub fn context_attribution(adjacency: &Adjacency, output: &[usize]) -> Vec<f64> {
    let mut influence = node_influence(adjacency, output);
    influence.truncate(adjacency.n_prompt());
    influence
}

/// The sum of A's rows in O, for all `n + m` sources. It counts only direct edges, not paths through earlier sentences.
pub fn direct_influence(adjacency: &Adjacency, output: &[usize]) -> Vec<f64> {
    let weight = |i: usize, j: usize| adjacency.get(i, j).copied().unwrap_or(0.0);
    (0..adjacency.n_sources()).map(|j| output.iter().map(|&i| weight(i, j)).sum()).collect()
}

/// Row attribution, the baseline: the prompt columns of the sum of A's rows in O.
pub fn row_attribution(adjacency: &Adjacency, output: &[usize]) -> Vec<f64> {
    let mut influence = direct_influence(adjacency, output);
    influence.truncate(adjacency.n_prompt());
    influence
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P1 -> G1 (1), P2 -> G2 (.5), G1 -> G2 (.5).
    fn chain() -> Adjacency {
        CausalMatrix::from_rows(2, vec![vec![1.0, 0.0], vec![0.0, 0.5, 0.5]])
    }

    #[test]
    fn influence_through_an_earlier_step_reaches_the_prompt() {
        assert_eq!(context_attribution(&chain(), &[1]), [0.5, 0.5]);
        assert_eq!(row_attribution(&chain(), &[1]), [0.0, 0.5]);
        assert_eq!(direct_influence(&chain(), &[1]), [0.0, 0.5, 0.5, 0.0]);
        assert_eq!(total_influence(&chain()).row(1), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn nested_outputs_count_twice_as_in_the_paper() {
        assert_eq!(context_attribution(&chain(), &[0, 1]), [1.5, 0.5]);
    }
}
