//! Shares of the prompt in a contrast, for one text and for the other.

use super::Adjacency;

/// For each prompt sentence its share \[for, against\] in a contrast. `effects` are signed, in any unit, one for each of the first
/// `n + k` sources. All shares together sum to 1 if an effect is not zero and no row on the way is zero.
///
/// ```text
/// r_j = e_j / Σ|e_j|                               the query row, the only signed row of the graph
/// s   = r_src + r_step (I - A_step)^-1 A_src       for the positive and the negative part of r separately, so that nothing cancels
/// ```
///
/// Rows of the graph from `k` on are not read. Time: O(k (n + k)).
pub fn signed_shares(adjacency: &Adjacency, effects: &[f64]) -> Vec<[f64; 2]> {
    let row = query_row(effects);
    let [supporting, opposing] = [1.0, -1.0].map(|sign| prompt_shares(adjacency, row.iter().map(|part| (sign * part).max(0.0)).collect()));
    supporting.into_iter().zip(opposing).map(<[f64; 2]>::from).collect()
}

/// `effects`, divided by the sum of their magnitudes. Effects that are all zero stay zero.
fn query_row(effects: &[f64]) -> Vec<f64> {
    // Divide by the largest magnitude first, so that the sum of huge effects stays finite.
    let largest = effects.iter().fold(0.0_f64, |largest, effect| largest.max(effect.abs()));
    let scaled: Vec<f64> = effects.iter().map(|effect| if largest > 0.0 { effect / largest } else { 0.0 }).collect();
    let sum: f64 = scaled.iter().map(|effect| effect.abs()).sum();
    if sum > 0.0 { scaled.iter().map(|effect| effect / sum).collect() } else { scaled }
}

/// The weights of a row that is not in the graph, with the weights of generated sentences passed back to the prompt, latest first.
fn prompt_shares(adjacency: &Adjacency, mut weights: Vec<f64>) -> Vec<f64> {
    let n_prompt = adjacency.n_prompt();
    let k = weights.len().saturating_sub(n_prompt).min(adjacency.n_generated());
    for i in (0..k).rev() {
        let passed = weights[n_prompt + i];
        weights.iter_mut().zip(adjacency.row(i)).for_each(|(total, weight)| *total += passed * weight);
    }
    weights.resize(n_prompt, 0.0);
    weights
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::total_influence;
    use super::*;
    use crate::table::CausalMatrix;

    #[test]
    fn effects_of_steps_reach_the_prompt_with_their_sign() {
        // P1 -> G1; P2 and G1 -> G2 half each.
        let graph = CausalMatrix::from_rows(2, vec![vec![1.0, 0.0], vec![0.0, 0.5, 0.5]]);
        assert_eq!(signed_shares(&graph, &[1.0, -1.0]), [[0.5, 0.0], [0.0, 0.5]]);
        assert_eq!(signed_shares(&graph, &[0.0, 1.0, -3.0]), [[0.0, 0.75], [0.25, 0.0]]);
        // The same prompt sentence may speak for both texts.
        assert_eq!(signed_shares(&graph, &[2.0, 0.0, 0.0, -2.0]), [[0.5, 0.25], [0.0, 0.25]]);
        assert_eq!(signed_shares(&graph, &[0.0; 3]), [[0.0; 2]; 2]);
        assert_eq!(signed_shares(&graph, &[1e308, -1e308]), [[0.5, 0.0], [0.0, 0.5]]);
    }

    /// A graph whose rows sum to 1, and effects of its first sources.
    fn contrasts() -> impl Strategy<Value = (Adjacency, Vec<f64>)> {
        (1..5_usize, 1..7_usize).prop_flat_map(|(n, m)| {
            let row = |length: usize| prop::collection::vec(0.01..1.0_f64, length);
            let rows = (0..m).map(|i| row(n + i)).collect::<Vec<_>>();
            let effects = (0..=m).prop_flat_map(move |k| prop::collection::vec(-5.0..5.0_f64, n + k));
            (rows, effects).prop_map(move |(rows, effects)| {
                let normalized = rows.into_iter().map(|row| {
                    let sum: f64 = row.iter().sum();
                    row.iter().map(|weight| weight / sum).collect()
                });
                (CausalMatrix::from_rows(n, normalized.collect()), effects)
            })
        })
    }

    proptest! {
        #[test]
        fn exchanged_texts_exchange_for_and_against((graph, effects) in contrasts()) {
            let negated: Vec<f64> = effects.iter().map(|effect| -effect).collect();
            let exchanged: Vec<[f64; 2]> = signed_shares(&graph, &negated).into_iter().map(|[a, b]| [b, a]).collect();
            prop_assert_eq!(signed_shares(&graph, &effects), exchanged);
        }

        #[test]
        fn shares_sum_to_one_without_zero_rows((graph, effects) in contrasts()) {
            prop_assume!(effects.iter().any(|effect| *effect != 0.0));
            let shares = signed_shares(&graph, &effects);
            prop_assert!(shares.iter().flatten().all(|share| *share >= 0.0));
            prop_assert!((shares.iter().flatten().sum::<f64>() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn difference_of_shares_follows_total_influence((graph, effects) in contrasts()) {
            let (n, row, total) = (graph.n_prompt(), query_row(&effects), total_influence(&graph));
            for (j, [supporting, opposing]) in signed_shares(&graph, &effects).into_iter().enumerate() {
                let steps: f64 = row[n..].iter().enumerate().map(|(k, weight)| weight * total.row(k)[j]).sum();
                prop_assert!((supporting - opposing - row[j] - steps).abs() < 1e-9);
            }
        }

        #[test]
        fn units_from_the_mark_on_change_nothing((graph, effects) in contrasts()) {
            let (n, k) = (graph.n_prompt(), effects.len() - graph.n_prompt());
            let before: Vec<Vec<f64>> = graph.rows().take(k).map(<[f64]>::to_vec).collect();
            prop_assert_eq!(signed_shares(&CausalMatrix::from_rows(n, before), &effects), signed_shares(&graph, &effects));
        }
    }
}
