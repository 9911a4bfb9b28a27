use leptos::prelude::*;

use super::edge_path::EdgePath;
use super::row_positions::RowPositions;
use crate::app::analysis::attribution_view::{AttributionView, Role};
use crate::app::analysis::edge_look::EdgeLook;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::graph::{self, Edge};

/// Room between the line of nodes and the text.
const SPINE_MARGIN: f64 = 9.0;
const WIDEST: f64 = 7.0;

/// The graph: its nodes are the text lines in time order, its edges arcs beside them. Time flows down.
#[component]
pub fn ArcDiagram(positions: RwSignal<RowPositions>) -> impl IntoView {
    let page = use_page();
    let edges = Memo::new(move |_| {
        let share = page.with(|state| *state.explanation.edge_share);
        positions.with(|positions| page.attribution(|attribution| drawn_edges(attribution, share, positions))).unwrap_or_default()
    });
    let nodes = Memo::new(move |_| {
        positions.with(|positions| page.attribution(|attribution| drawn_nodes(attribution, positions))).unwrap_or_default()
    });
    let label = move || {
        page.attribution(|attribution| {
            t!("Graph of what led to {label}; the same numbers are in the text and in the table", label = attribution.output_label())
        })
    };
    let touches = move |from: usize, to: usize| page.with(|state| *state.explanation.focus).map(|focus| focus == from || focus == to);
    let paths = move || {
        let path = |DrawnEdge { path, look, from, to, .. }: DrawnEdge| {
            let width = 1.25 + (WIDEST - 1.25) * look.strength;
            let is_lit = Signal::derive(move || touches(from, to) == Some(true));
            let is_faint = Signal::derive(move || touches(from, to) == Some(false));
            view! { <EdgePath path width look is_lit is_faint /> }
        };
        edges.get().into_iter().map(path).collect_view()
    };
    let marks = move || {
        let mark = |(word, x, y): (&'static str, f64, f64)| view! { <text x=x y=y>{word}</text> };
        edges.get().into_iter().filter_map(|edge| edge.mark).map(mark).collect_view()
    };
    let dots = move || {
        let dot = |DrawnNode { x, y, is_output, strength }: DrawnNode| {
            let radius = if is_output { 5.0 } else { 3.0 };
            view! { <circle cx=x cy=y r=radius class:output=is_output style=format!("--strength:{strength:.3}") /> }
        };
        nodes.get().into_iter().map(dot).collect_view()
    };
    view! {
        <svg class="arcs" data-testid="graph" role="img" aria-label=label>
            <g class="edges">{paths}</g>
            <g class="nodes">{dots}</g>
            <g class="marks" data-testid="marks">{marks}</g>
        </svg>
    }
}

#[derive(Clone, Debug, PartialEq)]
struct DrawnEdge {
    path: String,
    look: EdgeLook,
    /// Both as sources.
    from: usize,
    to: usize,
    /// What the source does with another one, and where that is written.
    mark: Option<(&'static str, f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
struct DrawnNode {
    x: f64,
    y: f64,
    is_output: bool,
    strength: f64,
}

/// More than this is a black gutter, and slow.
pub const MOST_EDGES: usize = 2000;

/// Weakest first, so that strong edges lie on top.
fn drawn_edges(attribution: &AttributionView, share: f64, RowPositions { y, gutter_width }: &RowPositions) -> Vec<DrawnEdge> {
    let n_prompt = attribution.graph().n_prompt();
    let mut edges = attribution.prune(share).at_most(MOST_EDGES).edges;
    // Rows that are not laid out yet have no place.
    edges.retain(|edge| edge.from < y.len() && n_prompt + edge.to < y.len());
    edges.reverse();
    let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, n_prompt + edge.to)).collect();
    let spine = gutter_width - SPINE_MARGIN;
    let arcs = graph::arcs(&ends, y, (spine - WIDEST).max(1.0));
    let draw = |((edge, arc), (from, to)): ((&Edge, graph::Arc), (usize, usize))| {
        let look = EdgeLook::new(attribution, edge);
        let (x, y) = arc.apex(spine);
        DrawnEdge { path: arc.path(spine), mark: look.mark.map(|word| (word, x, y)), look, from, to }
    };
    edges.iter().zip(arcs).zip(ends).map(draw).collect()
}

fn drawn_nodes(attribution: &AttributionView, RowPositions { y, gutter_width }: &RowPositions) -> Vec<DrawnNode> {
    let node = |(j, &y): (usize, &f64)| DrawnNode {
        x: gutter_width - SPINE_MARGIN,
        y,
        is_output: attribution.role(j) == Role::Output,
        strength: attribution.via_steps(j).map_or(0.0, |influence| attribution.strength(influence).abs()),
    };
    y.iter().enumerate().map(node).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::analysis::attribution_graph::{AttributionGraph, tests::document};

    fn attribution() -> AttributionView {
        AttributionView::new(Arc::new(AttributionGraph::new(document())), &[1])
    }

    #[test]
    fn strong_edges_lie_on_top_and_are_named() {
        let positions = RowPositions { y: (0..6).map(|k| 30.0 * k as f64).collect(), gutter_width: 90.0 };
        let edges = drawn_edges(&attribution(), 1.0, &positions);
        assert_eq!(edges.len(), 3);
        assert!(edges.is_sorted_by(|a, b| a.look.strength <= b.look.strength));
        assert!(edges.iter().any(|edge| edge.look.title == "P2 \u{2192} G2 carries 50% (50% of G2 is due to P2)"));
    }

    #[test]
    fn nothing_is_drawn_where_rows_have_no_place_yet() {
        assert!(drawn_edges(&attribution(), 1.0, &RowPositions::default()).is_empty());
        let three = RowPositions { y: vec![0.0, 30.0, 60.0], gutter_width: 90.0 };
        assert_eq!(drawn_edges(&attribution(), 1.0, &three).len(), 1);
        assert_eq!(drawn_nodes(&attribution(), &three).len(), 3);
    }
}
