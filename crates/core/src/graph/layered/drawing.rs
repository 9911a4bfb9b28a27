//! What is drawn, where there is room for it, and where it goes.

/// The room there is, in any unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredSpace {
    pub width: f64,
    pub node_width: f64,
    /// Between two nodes of a layer.
    pub gap: f64,
    /// Of an edge that carries 1; the edges at a node share its width where they would not fit.
    pub thickness: f64,
}

impl LayeredSpace {
    /// How many nodes fit beside one another.
    pub(super) fn per_layer(&self) -> usize {
        (((self.width + self.gap) / (self.node_width + self.gap)) as usize).max(1)
    }
}

/// One edge to draw, from source `from` (0..n+m) to a later one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredEdge {
    pub from: usize,
    pub to: usize,
    /// What it carries, at least 0.
    pub flow: f64,
}

/// Where a sentence goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayeredNode {
    pub source: usize,
    /// From the top, 0-based.
    pub layer: usize,
    /// Of its middle.
    pub x: f64,
}

/// Where sentences and edges go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayeredDrawing {
    pub n_layers: usize,
    /// By source.
    pub nodes: Vec<LayeredNode>,
    /// For each edge: its middle at the lower end of its source, at the layers that it passes, and at the upper end of its target, one x
    /// for each layer from its source's to its target's.
    pub routes: Vec<Vec<f64>>,
}
