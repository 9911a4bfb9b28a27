//! Input and output of a layered drawing.

/// The available space, in any unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredSpace {
    pub width: f64,
    pub node_width: f64,
    /// Gap between two nodes of a layer.
    pub gap: f64,
    /// Thickness of an edge with flow 1. The edges at a node are thinner if they would not fit its width.
    pub thickness: f64,
}

impl LayeredSpace {
    /// Number of nodes that fit next to each other.
    pub(super) fn per_layer(&self) -> usize {
        (((self.width + self.gap) / (self.node_width + self.gap)) as usize).max(1)
    }
}

/// One edge to draw, from source `from` (0..n+m) to a later one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredEdge {
    pub from: usize,
    pub to: usize,
    /// Flow along the edge, at least 0.
    pub flow: f64,
}

/// Position of a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredNode {
    pub source: usize,
    /// 0-based layer, counted from the top.
    pub layer: usize,
    /// x of the middle of the node.
    pub x: f64,
}

/// Positions of sentences and edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayeredDrawing {
    pub n_layers: usize,
    /// Sorted by source.
    pub nodes: Vec<LayeredNode>,
    /// For each edge, x of its middle at the bottom of its source, in the layers that it passes, and at the top of its target: one x per
    /// layer.
    pub routes: Vec<Vec<f64>>,
}
