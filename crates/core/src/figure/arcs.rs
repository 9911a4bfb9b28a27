//! Draws the arcs of the graph next to the lines of the text.

use super::element::{Anchor, Look, Outline};
use super::picture::{NOTE_SIZE, Painter};
use super::text_width::width;
use crate::graph::{self, Edge, Pruned};

/// Maximum number of edges. With more, the diagram would be unreadable.
const MAX_EDGES: usize = 500;
const WIDEST: f64 = 7.0;

impl Painter<'_> {
    /// The edges that carry the requested share of the influence, and the edges of the strongest paths.
    fn wanted_edges(&self) -> Pruned {
        self.shares.prune(self.options.edge_share).with(&self.shares.edges_of_strongest_paths())
    }

    /// Draws nodes at these heights, one for each shown source, and the edges between them, weakest first, so that strong edges are on top.
    /// The sentences of a folded thinking section share one node and have no edges among themselves.
    pub fn arcs(&mut self, nodes: &[f64]) {
        let mut places = vec![None; self.shares.n_sources()];
        self.shown.iter().enumerate().for_each(|(place, &j)| places[j] = Some(place));
        let at = |j: usize| places.get(j).copied().flatten();
        let n_prompt = self.shares.n_prompt();
        let ends = |edge: &Edge| Some((at(edge.from)?, at(n_prompt + edge.to)?)).filter(|(from, to)| nodes[*from] != nodes[*to]);
        let pruned = self.wanted_edges().only(|edge| ends(edge).is_some()).at_most(MAX_EDGES);
        let mut drawn: Vec<(&Edge, (usize, usize))> = pruned.edges.iter().filter_map(|edge| Some((edge, ends(edge)?))).collect();
        drawn.reverse();
        let ends: Vec<(usize, usize)> = drawn.iter().map(|(_, ends)| *ends).collect();
        let (spine, palette) = (self.frame.spine, self.palette);
        let arcs = graph::arcs(&ends, nodes, self.frame.reach);
        for ((edge, _), arc) in drawn.iter().zip(&arcs) {
            let flow = self.shares.per_output(edge.flow);
            let strength = self.shares.strength(flow).abs();
            let color = if flow < 0.0 { palette.edge_minus } else { palette.edge_strong.over(palette.edge_weak, strength) };
            let [from, to] = [edge.from, n_prompt + edge.to].map(|j| self.document.label(j));
            let title = format!("{from} \u{2192} {to}: {}", self.figure(flow));
            self.canvas.path(&arc.path(spine), color, 1.25 + (WIDEST - 1.25) * strength, flow < 0.0, &title);
        }
        let strength_of = |j: usize| self.shares.total(j).map_or(0.0, |amount| self.shares.strength(amount).abs());
        let shown: Vec<(usize, f64)> = self.shown.iter().copied().zip(nodes.iter().copied()).collect();
        for at_node in shown.chunk_by(|(_, a), (_, b)| a == b) {
            let (j, y) = at_node[0];
            let strength = at_node.iter().map(|(j, _)| strength_of(*j)).fold(0.0, f64::max);
            let (radius, fill, color, width) = match self.shares.is_output(j) {
                true => (5.0, palette.paper, palette.accent, 2.5),
                false => (3.0, palette.edge_strong.over(palette.edge_weak, strength), palette.paper, 1.5),
            };
            self.canvas.circle(spine, y, radius, fill, &Outline { color, width, is_dashed: false });
        }
        for ((edge, _), arc) in drawn.iter().zip(&arcs) {
            let (x, y) = arc.apex(spine);
            if let Some(mark) = self.mark(edge) {
                let half = width(mark, NOTE_SIZE) / 2.0;
                self.canvas.rectangle([x - half - 2.0, y - 8.0, 2.0 * half + 4.0, 16.0], 3.0, palette.paper, None);
                self.write(mark, x, y, NOTE_SIZE, palette.ink, Look::Plain, Anchor::Middle);
            }
        }
        self.drawn = pruned;
    }

    /// Label for the joint effect of an edge's source and another one: either is enough, or only both together.
    fn mark(&self, edge: &Edge) -> Option<&'static str> {
        let effects = || self.document.joint.iter().filter(|effect| effect.target == edge.to && effect.sources.contains(&edge.from));
        let or = effects().any(|effect| effect.either_is_enough.is_some());
        let and = effects().any(|effect| effect.only_together.is_some());
        let labels = self.labels();
        match (or, and) {
            (false, false) => None,
            (true, false) => Some(labels.or),
            (false, true) => Some(labels.and),
            (true, true) => Some(labels.or_and),
        }
    }
}
