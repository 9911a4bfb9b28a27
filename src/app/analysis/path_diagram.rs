//! Lays out the diagram of the tab Path: which sentences to draw, where, and how wide the edges are.

use super::edge_style::EdgeStyle;
use super::number::listed;
use super::share_texts::{self, Amount};
use crate::app::i18n::t;
use crate::explanation::PlacedUnit;
use crate::graph::{self, Edge, LayeredDrawing, LayeredEdge, LayeredSpace, Pruned};
use crate::order::by_descending;
use crate::shares::{Role, Shares};

/// Maximum number of edges, because more are slow to draw.
const MAX_EDGES: usize = 600;

/// Maximum number of sentences shown by default, because more are unreadable. The button "Show all edges" draws all.
const MAX_SENTENCES: usize = 18;

/// Space next to three sentences for edges that pass them, in CSS pixels at the usual font size, as all lengths here.
const PASSING: f64 = 24.0;

/// Sizes for the available width.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Geometry {
    pub width: f64,
    pub node_width: f64,
    pub node_height: f64,
    /// Vertical space between the nodes of two layers.
    pub layer_gap: f64,
    gap: f64,
    thickness: f64,
}

impl Geometry {
    pub fn of(width: f64) -> Self {
        if width < 560.0 {
            let node_width = ((width - 2.0 * 6.0 - PASSING) / 3.0).clamp(84.0, 150.0);
            Self { width, node_width, node_height: 86.0, layer_gap: 40.0, gap: 6.0, thickness: 28.0 }
        } else {
            let node_width = ((width - 2.0 * 20.0 - PASSING) / 3.0).clamp(150.0, 240.0);
            Self { width, node_width, node_height: 70.0, layer_gap: 52.0, gap: 20.0, thickness: 40.0 }
        }
    }

    fn top(&self, layer: usize) -> f64 {
        layer as f64 * (self.node_height + self.layer_gap)
    }

    pub fn height(&self, n_layers: usize) -> f64 {
        (self.top(n_layers) - self.layer_gap).max(0.0)
    }
}

/// A sentence in the diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramNode {
    pub source: usize,
    pub label: String,
    pub text: String,
    /// 0-based row of a generated sentence. `None` for the prompt.
    pub generated: Option<usize>,
    pub is_output: bool,
    /// Total influence. `None` if it is not measured, or if it is zero and the sentence is explained.
    pub amount: Option<Amount>,
    pub strength: f64,
    /// "G5 depends on G4 (62%) and P4 (38%)". For the prompt: "P4 belongs to the prompt".
    pub origin: String,
    layer: usize,
    /// Position of the upper left corner.
    pub left: f64,
    pub top: f64,
}

/// An edge in the diagram.
#[derive(Clone, Debug, PartialEq)]
pub struct DiagramEdge {
    /// Both ends as source indices.
    pub from: usize,
    pub to: usize,
    /// The `d` attribute of an SVG path.
    pub path: String,
    pub width: f64,
    pub look: EdgeStyle,
    flow: f64,
}

/// The diagram: sentences in layers, with the explained ones at the bottom, and the edges between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathDiagram {
    /// Sentences in time order.
    pub nodes: Vec<DiagramNode>,
    pub edges: Vec<DiagramEdge>,
    pub height: f64,
    /// Number of hidden edges with flow worth counting.
    pub hidden: usize,
    /// Share of the total flow that the drawn edges carry.
    pub kept_share: f64,
}

/// Two sets of edges that carry `share` of the influence: at most `MAX_EDGES` edges, and of these the strongest that touch at most
/// `MAX_SENTENCES` sentences. Both sets also contain `on_paths`, the edges of the strongest paths.
pub fn kept(view: &Shares, share: f64, on_paths: &[Edge]) -> [Pruned; 2] {
    let all = view.prune(share).at_most(MAX_EDGES);
    let few = all.clone().touching_at_most(MAX_SENTENCES, view.n_prompt());
    [all, few].map(|pruned| pruned.with(on_paths))
}

impl PathDiagram {
    /// Draws the `kept` edges and the sentences at their ends.
    pub fn new(view: &Shares, kept: &Pruned, geometry: &Geometry) -> Self {
        let n_prompt = view.n_prompt();
        let &Pruned { edges: ref kept, hidden, kept_share, .. } = kept;
        let edge = |edge: &Edge| {
            let flow = view.scale().part(view.per_output(edge.flow)).abs();
            LayeredEdge { from: edge.from, to: n_prompt + edge.to, flow }
        };
        let edges: Vec<LayeredEdge> = kept.iter().map(edge).collect();
        let outputs: Vec<usize> = view.output().iter().map(|i| n_prompt + i).collect();
        let Geometry { width, node_width, gap, thickness, .. } = *geometry;
        let drawing = graph::layered(&edges, &outputs, &LayeredSpace { width, node_width, gap, thickness });
        Self {
            nodes: nodes(view, &drawing, kept, geometry),
            edges: kept.iter().zip(&edges).enumerate().map(|(e, (kept, edge))| drawn(view, kept, edge, &drawing, e, geometry)).collect(),
            height: geometry.height(drawing.n_layers),
            hidden,
            kept_share,
        }
    }

    /// The sentence that a key moves to from `source`. Up follows the strongest edge into it, Down the strongest edge out of it. Left and
    /// Right move to the neighbors in the layer, Home and End to the first and the last sentence.
    pub fn after_key(&self, source: usize, key: &str) -> Option<usize> {
        let strongest =
            |is_one: &dyn Fn(&DiagramEdge) -> bool| self.edges.iter().filter(|edge| is_one(edge)).max_by(|a, b| a.flow.total_cmp(&b.flow));
        let here = self.nodes.iter().find(|node| node.source == source)?;
        let beside = |is_further: &dyn Fn(&DiagramNode) -> bool| {
            let in_layer = self.nodes.iter().filter(|node| node.layer == here.layer && is_further(node));
            in_layer.min_by(|a, b| (a.left - here.left).abs().total_cmp(&(b.left - here.left).abs())).map(|node| node.source)
        };
        match key {
            "ArrowUp" => strongest(&|edge| edge.to == source).map(|edge| edge.from),
            "ArrowDown" => strongest(&|edge| edge.from == source).map(|edge| edge.to),
            "ArrowLeft" => beside(&|node| node.left < here.left),
            "ArrowRight" => beside(&|node| node.left > here.left),
            "Home" => self.nodes.first().map(|node| node.source),
            "End" => self.nodes.last().map(|node| node.source),
            _ => None,
        }
    }
}

fn nodes(view: &Shares, drawing: &LayeredDrawing, kept: &[Edge], geometry: &Geometry) -> Vec<DiagramNode> {
    let n_prompt = view.n_prompt();
    let node = |node: &graph::LayeredNode| {
        let source = node.source;
        let is_output = view.role(source) == Role::Output;
        let [total, _] = share_texts::amounts(view, source);
        DiagramNode {
            source,
            label: view.document().label(source),
            text: view.document().source(source).trim().to_owned(),
            generated: source.checked_sub(n_prompt),
            is_output,
            amount: total.filter(|amount| !is_output || amount.part != 0.0),
            strength: view.total(source).map_or(0.0, |influence| view.strength(influence).abs()),
            origin: origin(view, source, kept),
            layer: node.layer,
            left: node.x - geometry.node_width / 2.0,
            top: geometry.top(node.layer),
        }
    };
    let drawn = |unit: PlacedUnit| drawing.nodes.iter().find(|drawn| drawn.source == unit.source).map(node);
    view.document().units_in_order().into_iter().filter_map(drawn).collect()
}

/// Names the sources of a sentence among the drawn edges, strongest first.
fn origin(view: &Shares, source: usize, kept: &[Edge]) -> String {
    let label = view.document().label(source);
    let Some(row) = source.checked_sub(view.n_prompt()) else {
        return t!("{label} belongs to the prompt", label);
    };
    let into: Vec<&Edge> = kept.iter().filter(|edge| edge.to == row).collect();
    let into = by_descending(&into, |edge| edge.weight.abs());
    if into.is_empty() {
        return t!("{label}: no source is drawn", label);
    }
    let from = |edge: &&Edge| {
        t!("{label} ({figure})", label = view.document().label(edge.from), figure = share_texts::figure(view.scale(), edge.weight))
    };
    t!("{label} depends on {sources}", label, sources = listed(&into.iter().map(from).collect::<Vec<_>>()))
}

fn drawn(view: &Shares, kept: &Edge, edge: &LayeredEdge, drawing: &LayeredDrawing, e: usize, geometry: &Geometry) -> DiagramEdge {
    let top_layer = drawing.nodes.iter().find(|node| node.source == edge.from).map_or(0, |node| node.layer);
    DiagramEdge {
        from: edge.from,
        to: edge.to,
        path: svg_path(&drawing.routes[e], top_layer, geometry),
        width: (edge.flow * geometry.thickness).max(1.25),
        look: EdgeStyle::new(view, kept),
        flow: edge.flow,
    }
}

/// Path from the bottom of a node to the top of another one. It curves between layers and runs straight through the layers on the way.
fn svg_path(route: &[f64], top_layer: usize, geometry: &Geometry) -> String {
    let mut path = String::new();
    for (k, pair) in route.windows(2).enumerate() {
        let (x0, x1) = (pair[0], pair[1]);
        let (y0, y1) = (geometry.top(top_layer + k) + geometry.node_height, geometry.top(top_layer + k + 1));
        let middle = (y0 + y1) / 2.0;
        let start = if k == 0 { 'M' } else { 'L' };
        path.push_str(&format!("{start}{x0:.1} {y0:.1}C{x0:.1} {middle:.1} {x1:.1} {middle:.1} {x1:.1} {y1:.1}"));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::shares;

    fn diagram() -> PathDiagram {
        let view = shares(&[1]);
        PathDiagram::new(&view, &view.prune(1.0), &Geometry::of(700.0))
    }

    #[test]
    fn sources_stand_above_what_they_lead_to() {
        let diagram = diagram();
        let labels: Vec<&str> = diagram.nodes.iter().map(|node| &*node.label).collect();
        assert_eq!(labels, ["P1", "P2", "G1", "G2"]);
        let top = |source: usize| diagram.nodes[source].top;
        assert!(top(0) < top(2) && top(2) < top(3) && top(1) == top(2));
        assert_eq!(diagram.height, 3.0 * 70.0 + 2.0 * 52.0);
        assert_eq!(diagram.nodes[3].origin, "G2 depends on P2 (50%) and G1 (50%)");
    }

    #[test]
    fn influence_into_step_leaves_it() {
        let diagram = diagram();
        let width =
            |is_counted: &dyn Fn(&&DiagramEdge) -> bool| diagram.edges.iter().filter(is_counted).map(|edge| edge.width).sum::<f64>();
        assert_eq!(width(&|edge| edge.to == 2), width(&|edge| edge.from == 2));
        assert_eq!(width(&|edge| edge.to == 3), 40.0);
    }

    #[test]
    fn arrow_keys_follow_the_edges() {
        let diagram = diagram();
        let after = |source: usize, key| diagram.after_key(source, key);
        assert_eq!([after(3, "ArrowUp"), after(0, "ArrowDown"), after(2, "ArrowDown")], [Some(2), Some(2), Some(3)]);
        let beside = [after(1, "ArrowLeft"), after(1, "ArrowRight")];
        assert!(beside.contains(&Some(2)) && beside.contains(&None));
        assert_eq!([after(1, "Home"), after(1, "End"), after(0, "ArrowUp"), after(9, "Home")], [Some(0), Some(3), None, None]);
    }

    #[test]
    fn paths_are_curves_between_layers_and_lines_through_them() {
        let geometry = Geometry::of(700.0);
        assert_eq!(svg_path(&[10.0, 20.0], 1, &geometry), "M10.0 192.0C10.0 218.0 20.0 218.0 20.0 244.0");
        assert_eq!(svg_path(&[10.0, 20.0, 30.0], 0, &geometry).matches('C').count(), 2);
    }
}
