//! Computes the positions of slots in their layers, and the ports where edges touch sentences.

use super::drawing::{LayeredEdge, LayeredSpace};
use super::layers::{Layers, Link};
use crate::order::ascending;

const SWEEPS: usize = 16;
/// Minimum width of a passing edge, as a multiple of the gap between nodes.
const PASSING_GAPS: f64 = 0.75;

/// x of the middle of each slot.
pub fn positions(layers: &Layers, space: &LayeredSpace) -> Vec<f64> {
    let rooms: Vec<Vec<f64>> = layers.rows.iter().map(|row| room(layers, row, space)).collect();
    let mut x = vec![space.width / 2.0; layers.slots.len()];
    let n = layers.rows.len();
    for sweep in 0..SWEEPS {
        let rows: Vec<usize> = if sweep % 2 == 0 { (0..n).collect() } else { (0..n).rev().collect() };
        for row in rows {
            let wanted: Vec<f64> = layers.rows[row].iter().map(|&slot| mean_of_neighbors(layers, slot, &x)).collect();
            let placed = place(&wanted, &rooms[row], space.width);
            layers.rows[row].iter().zip(placed).for_each(|(&slot, at)| x[slot] = at);
        }
    }
    x
}

/// Width of each slot of a layer, including gaps. Nodes have a fixed width. Passing edges get their thickness plus a margin, or share the
/// remaining space if the layer is full.
fn room(layers: &Layers, row: &[usize], space: &LayeredSpace) -> Vec<f64> {
    let nodes = row.iter().filter(|&&slot| layers.is_node(slot)).count();
    let left = (space.width + space.gap - nodes as f64 * (space.node_width + space.gap)).max(0.0);
    let wanted = |slot: usize| {
        let flow: f64 = layers.above[slot].iter().map(|link| link.flow).sum();
        PASSING_GAPS * space.gap + flow * space.thickness
    };
    let all: f64 = row.iter().filter(|&&slot| !layers.is_node(slot)).map(|&slot| wanted(slot)).sum();
    let part = (left / all).min(1.0);
    row.iter().map(|&slot| if layers.is_node(slot) { space.node_width + space.gap } else { wanted(slot) * part }).collect()
}

/// Mean x of the neighbors above and below, weighted by flow. The slot's own x if it has no neighbors.
fn mean_of_neighbors(layers: &Layers, slot: usize, x: &[f64]) -> f64 {
    let links = || layers.above[slot].iter().chain(&layers.below[slot]);
    let weight = |link: &Link| link.flow + 1e-6;
    let total: f64 = links().map(weight).sum();
    if total == 0.0 { x[slot] } else { links().map(|link| weight(link) * x[link.slot]).sum::<f64>() / total }
}

/// Positions in the given order and within the width, no closer to each other than `rooms` allows. Minimizes the sum of squared distances
/// from `wanted` by isotonic regression, which merges neighbors that are too close (Ayer et al., 1955).
fn place(wanted: &[f64], rooms: &[f64], width: f64) -> Vec<f64> {
    let mut offset = 0.0;
    let offsets: Vec<f64> = rooms
        .iter()
        .map(|room| {
            offset += room;
            offset - room / 2.0
        })
        .collect();
    let mut blocks: Vec<(f64, usize)> = Vec::new(); // sum, count
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut block = (wanted - offset, 1);
        while let Some(&(sum, count)) = blocks.last()
            && sum / count as f64 > block.0 / block.1 as f64
        {
            block = (block.0 + sum, block.1 + count);
            blocks.pop();
        }
        blocks.push(block);
    }
    // If the layer is full, half a gap on either side is outside the width.
    let slack = width - offset;
    let (low, high) = if slack > 0.0 { (0.0, slack) } else { (slack / 2.0, slack / 2.0) };
    let shifts = blocks.iter().flat_map(|&(sum, count)| std::iter::repeat_n((sum / count as f64).clamp(low, high), count));
    shifts.zip(&offsets).map(|(shift, offset)| shift + offset).collect()
}

/// For each edge, one x per layer that it touches.
pub fn routes(layers: &Layers, edges: &[LayeredEdge], x: &[f64], space: &LayeredSpace) -> Vec<Vec<f64>> {
    let mut routes: Vec<Vec<f64>> = vec![Vec::new(); edges.len()];
    for row in &layers.rows {
        for &slot in row {
            let (arriving, leaving) = (ports(&layers.above[slot], slot, x, space), ports(&layers.below[slot], slot, x, space));
            if layers.is_node(slot) {
                arriving.into_iter().chain(leaving).for_each(|(edge, at)| routes[edge].push(at));
            } else {
                layers.above[slot].iter().for_each(|link| routes[link.edge].push(x[slot]));
            }
        }
    }
    routes
}

/// Where the edges on one side touch a node. The ports are centered on the node, without gaps, in the order of their other ends.
fn ports(links: &[Link], slot: usize, x: &[f64], space: &LayeredSpace) -> Vec<(usize, f64)> {
    let sorted = ascending(&links.iter().map(|link| x[link.slot]).collect::<Vec<f64>>());
    let flow: f64 = links.iter().map(|link| link.flow).sum();
    let thickness = if flow > 0.0 { space.thickness.min(space.node_width / flow) } else { 0.0 };
    let mut left = x[slot] - flow * thickness / 2.0;
    let port = |k: usize| {
        let width = links[k].flow * thickness;
        left += width;
        (links[k].edge, left - width / 2.0)
    };
    sorted.into_iter().map(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_placed_near_wanted_positions() {
        for (wanted, placed) in [
            (&[20.0, 80.0][..], &[20.0, 80.0][..]),
            (&[50.0, 50.0], &[45.0, 55.0]),
            (&[10.0, 60.0, 40.0, 90.0], &[10.0, 45.0, 55.0, 90.0]),
            (&[60.0, 30.0, 30.0], &[30.0, 40.0, 50.0]),
            // Positions stay within the width.
            (&[0.0, 0.0], &[5.0, 15.0]),
            (&[90.0, 100.0], &[85.0, 95.0]),
        ] {
            assert_eq!(place(wanted, &vec![10.0; wanted.len()], 100.0), placed, "{wanted:?}");
        }
        assert_eq!(place(&[50.0, 50.0], &[10.0, 30.0], 100.0), [40.0, 60.0]);
        assert_eq!(place(&[10.0, 90.0], &[60.0, 60.0], 100.0), [20.0, 80.0], "there is not enough room");
    }

    const SPACE: LayeredSpace = LayeredSpace { width: 320.0, node_width: 100.0, gap: 10.0, thickness: 40.0 };

    fn layers(edges: &[(usize, usize, f64)], output: usize) -> Layers {
        let edges: Vec<LayeredEdge> = edges.iter().map(|&(from, to, flow)| LayeredEdge { from, to, flow }).collect();
        Layers::new(&edges, &[output], SPACE.per_layer())
    }

    #[test]
    fn passing_edges_use_free_space_of_layer() {
        let layers = layers(&[(0, 1, 0.75), (0, 2, 0.25), (1, 2, 0.75)], 2);
        let rooms = |width| room(&layers, &layers.rows[1], &LayeredSpace { width, ..SPACE });
        assert_eq!(rooms(320.0), [110.0, 7.5 + 10.0]);
        assert_eq!((rooms(105.0), rooms(90.0)), (vec![110.0, 5.0], vec![110.0, 0.0]));
    }

    #[test]
    fn a_slot_is_drawn_to_its_neighbors_by_what_flows() {
        let mean = |flows: [f64; 2]| mean_of_neighbors(&layers(&[(0, 2, flows[0]), (1, 2, flows[1])], 2), 2, &[0.0, 100.0, 70.0]);
        assert!((mean([0.75, 0.25]) - 25.0).abs() < 1e-3);
        assert!((mean([0.0, 0.0]) - 50.0).abs() < 1e-9);
        assert_eq!(mean_of_neighbors(&layers(&[], 0), 0, &[70.0]), 70.0);
    }
}
