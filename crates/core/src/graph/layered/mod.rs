//! Layered drawing of the graph (Sugiyama, Tagawa and Toda, 1981). Sources are above the sentences that depend on them.
//!
//! 1. `layers`: each sentence is one layer above its highest target, and the number of sentences per layer is limited (after Coffman and
//!    Graham, 1972). Long edges have a dummy node in each layer that they pass.
//! 2. `order`: nodes and dummy nodes of a layer are sorted by the mean position of their neighbors, in sweeps down and up. The order with
//!    the fewest crossings is kept.
//! 3. `position`: each node is placed as close to its neighbors as the others in its layer allow.
//!
//! The crates dagre and rust-sugiyama do not limit the width of a layer, which phones require.

mod drawing;
mod layers;
mod order;
mod position;

pub use drawing::{LayeredDrawing, LayeredEdge, LayeredNode, LayeredSpace};
use layers::Layers;

use crate::order::ascending;

/// Draws `edges` and `outputs`. Outputs are drawn even without edges. `edges` go from earlier to later sources. The result does not depend
/// on the order of `edges`.
pub fn layered(edges: &[LayeredEdge], outputs: &[usize], space: &LayeredSpace) -> LayeredDrawing {
    let n_sources = edges.iter().map(|edge| edge.to + 1).max().unwrap_or(0);
    let sorted = ascending(&edges.iter().map(|edge| (edge.from * n_sources + edge.to) as f64).collect::<Vec<f64>>());
    let in_order: Vec<LayeredEdge> = sorted.iter().map(|&e| edges[e]).collect();
    let mut layers = Layers::new(&in_order, outputs, space.per_layer());
    order::reduce_crossings(&mut layers);
    let x = position::positions(&layers, space);
    let mut routes = vec![Vec::new(); edges.len()];
    for (route, &e) in position::routes(&layers, &in_order, &x, space).into_iter().zip(&sorted) {
        routes[e] = route;
    }
    LayeredDrawing { n_layers: layers.rows.len(), nodes: layers.nodes(&x), routes }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: LayeredSpace = LayeredSpace { width: 320.0, node_width: 100.0, gap: 10.0, thickness: 40.0 };

    fn edge(from: usize, to: usize, flow: f64) -> LayeredEdge {
        LayeredEdge { from, to, flow }
    }

    fn layer_of(drawing: &LayeredDrawing, source: usize) -> usize {
        drawing.nodes.iter().find(|node| node.source == source).unwrap().layer
    }

    #[test]
    fn chain_is_drawn_as_straight_line_down() {
        let drawing = layered(&[edge(0, 2, 1.0), edge(2, 3, 0.5), edge(1, 3, 0.5)], &[3], &SPACE);
        assert_eq!((drawing.n_layers, layer_of(&drawing, 0), layer_of(&drawing, 1), layer_of(&drawing, 3)), (3, 0, 1, 2));
        let [x0, _, x2, _] = [0, 1, 2, 3].map(|source| drawing.nodes[source].x);
        assert!((x0 - x2).abs() < 1.0, "{x0} {x2}");
        assert!(drawing.routes.iter().all(|route| route.len() == 2));
    }

    #[test]
    fn no_layer_is_wider_than_its_room() {
        let many: Vec<LayeredEdge> = (0..9).map(|j| edge(j, 9, 1.0 / 9.0)).collect();
        let drawing = layered(&many, &[9], &SPACE);
        assert_eq!(drawing.n_layers, 4);
        assert_eq!((layer_of(&drawing, 8), layer_of(&drawing, 0)), (2, 0));
        assert!(drawing.nodes.iter().all(|node| (50.0..=270.0).contains(&node.x)));
    }

    #[test]
    fn edges_that_need_not_cross_do_not() {
        let drawing = layered(&[edge(0, 3, 0.5), edge(1, 2, 0.5), edge(2, 4, 0.5), edge(3, 4, 0.5)], &[4], &SPACE);
        let x = |source: usize| drawing.nodes[source].x;
        assert_eq!(x(0) < x(1), x(3) < x(2));
    }

    #[test]
    fn edges_at_a_node_lie_side_by_side() {
        let edges = [edge(0, 2, 0.75), edge(1, 2, 0.25)];
        let drawing = layered(&edges, &[2], &SPACE);
        let ends: Vec<f64> = drawing.routes.iter().map(|route| route[1]).collect();
        let x = |source: usize| drawing.nodes[source].x;
        // The edges are 30 and 10 wide, and centered on the node.
        let side = (x(0) - x(1)).signum();
        let apart = [ends[0] - x(2) - 5.0 * side, ends[1] - x(2) + 15.0 * side];
        assert!(apart.iter().all(|difference| difference.abs() < 1e-9), "{ends:?}");
    }

    #[test]
    fn an_output_without_edges_is_drawn() {
        let drawing = layered(&[], &[5], &SPACE);
        assert_eq!(drawing.nodes, [LayeredNode { source: 5, layer: 0, x: 160.0 }]);
        assert_eq!(layered(&[], &[], &SPACE), LayeredDrawing::default());
    }

    #[test]
    fn the_order_of_the_edges_does_not_matter() {
        let edges = [edge(0, 4, 0.2), edge(1, 3, 0.8), edge(3, 4, 0.6), edge(2, 4, 0.2), edge(0, 3, 0.1)];
        let reversed: Vec<LayeredEdge> = edges.iter().rev().copied().collect();
        let (forward, backward) = (layered(&edges, &[4], &SPACE), layered(&reversed, &[4], &SPACE));
        assert_eq!(forward.nodes, backward.nodes);
        assert!(forward.routes.iter().eq(backward.routes.iter().rev()));
    }

    #[test]
    fn edges_at_a_node_take_no_more_than_its_width() {
        let drawing = layered(&[edge(0, 2, 2.0), edge(1, 2, 2.0)], &[2], &SPACE);
        let mut ends: Vec<f64> = drawing.routes.iter().map(|route| route[1] - drawing.nodes[2].x).collect();
        ends.sort_by(f64::total_cmp);
        assert_eq!(ends, [-25.0, 25.0]);
    }

    #[test]
    fn only_what_has_edges_and_the_output_are_drawn() {
        let drawing = layered(&[edge(0, 3, 1.0)], &[3], &SPACE);
        assert_eq!(drawing.nodes.iter().map(|node| (node.source, node.layer)).collect::<Vec<_>>(), [(0, 0), (3, 1)]);
    }

    #[test]
    fn as_many_nodes_are_in_a_layer_as_fit() {
        let per_layer = |width| LayeredSpace { width, ..SPACE }.per_layer();
        assert_eq!([50.0, 209.0, 210.0, 319.0, 320.0].map(per_layer), [1, 1, 2, 2, 3]);
    }
}
