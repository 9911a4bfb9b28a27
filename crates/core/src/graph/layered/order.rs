//! Orders the slots within their layers to reduce crossings.

use super::layers::{Layers, Link};
use crate::order::ascending;

const SWEEPS: usize = 24;

/// Sorts each layer by the mean position of its neighbors in the layer before it, in sweeps down and up. Keeps the best order found.
pub fn reduce_crossings(layers: &mut Layers) {
    let mut best = layers.rows.clone();
    let mut fewest = crossings(layers);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let n = layers.rows.len();
        if sweep % 2 == 0 {
            (1..n).for_each(|row| sort_row(layers, row, row - 1));
        } else {
            (0..n - 1).rev().for_each(|row| sort_row(layers, row, row + 1));
        }
        let now = crossings(layers);
        if now < fewest {
            (fewest, best) = (now, layers.rows.clone());
        }
    }
    layers.rows = best;
}

/// Sorts layer `row` by the neighbors in layer `fixed`. A slot without a neighbor there is sorted by its current position.
fn sort_row(layers: &mut Layers, row: usize, fixed: usize) {
    let place = places(layers, fixed);
    let links = if fixed < row { &layers.above } else { &layers.below };
    let mean = |(at, &slot): (usize, &usize)| {
        let neighbors: &[Link] = &links[slot];
        let sum: usize = neighbors.iter().map(|link| place[link.slot]).sum();
        if neighbors.is_empty() { at as f64 } else { sum as f64 / neighbors.len() as f64 }
    };
    let means: Vec<f64> = layers.rows[row].iter().enumerate().map(mean).collect();
    layers.rows[row] = ascending(&means).into_iter().map(|at| layers.rows[row][at]).collect();
}

/// The position of each slot of a layer.
fn places(layers: &Layers, row: usize) -> Vec<usize> {
    let mut places = vec![0; layers.slots.len()];
    layers.rows[row].iter().enumerate().for_each(|(place, &slot)| places[slot] = place);
    places
}

/// Number of crossings of edges between adjacent layers.
fn crossings(layers: &Layers) -> usize {
    (1..layers.rows.len())
        .map(|row| {
            let place = places(layers, row);
            let upper = layers.rows[row - 1].iter().enumerate();
            let ends: Vec<(usize, usize)> =
                upper.flat_map(|(at, &slot)| layers.below[slot].iter().map(move |link| (at, link.slot))).collect();
            inversions(&ends.into_iter().map(|(at, slot)| (at, place[slot])).collect::<Vec<_>>())
        })
        .sum()
}

/// Number of pairs whose second numbers are in the opposite order. `ends` ascends by its first numbers.
fn inversions(ends: &[(usize, usize)]) -> usize {
    let mut ends = ends.to_vec();
    // Sort by the second number too, because edges from the same slot do not cross.
    ends.sort_unstable();
    let mut before: Vec<usize> = Vec::with_capacity(ends.len());
    ends.into_iter()
        .map(|(_, second)| {
            let place = before.partition_point(|&other| other <= second);
            before.insert(place, second);
            before.len() - 1 - place
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_cross_where_their_ends_are_in_another_order() {
        assert_eq!(inversions(&[(0, 2), (0, 1), (1, 1), (1, 0), (2, 2)]), 3);
        let reversed: Vec<(usize, usize)> = (0..20).map(|i| (i, 19 - i)).collect();
        assert_eq!(inversions(&reversed), 20 * 19 / 2);
    }
}
