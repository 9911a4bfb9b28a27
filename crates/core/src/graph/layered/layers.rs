//! Assigns sentences to layers, and adds dummy nodes to the layers that edges pass.

use super::drawing::{LayeredEdge, LayeredNode};

/// A node or a dummy node.
#[derive(Clone, Debug)]
pub enum Slot {
    Node { source: usize },
    Dummy,
}

/// A neighbor in an adjacent layer, and the edge that leads there.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub slot: usize,
    pub edge: usize,
    pub flow: f64,
}

/// The nodes and dummy nodes of all layers, and the links between them.
#[derive(Debug)]
pub struct Layers {
    pub slots: Vec<Slot>,
    /// For each slot, its links to the layer above. `below` has those to the layer below.
    pub above: Vec<Vec<Link>>,
    pub below: Vec<Vec<Link>>,
    /// The slots of each layer, from left to right. The first layer is at the top.
    pub rows: Vec<Vec<usize>>,
    /// The layer of each slot.
    layer_of: Vec<usize>,
}

impl Layers {
    pub fn new(edges: &[LayeredEdge], outputs: &[usize], per_layer: usize) -> Self {
        let heights = heights(edges, outputs, per_layer);
        let top = heights.iter().flatten().max().map_or(0, |&highest| highest + 1);
        let rows = vec![Vec::new(); top];
        let mut layers = Self { slots: Vec::new(), above: Vec::new(), below: Vec::new(), rows, layer_of: Vec::new() };
        let mut node = vec![0; heights.len()];
        for (source, height) in heights.iter().enumerate() {
            if let Some(height) = height {
                node[source] = layers.add(Slot::Node { source }, top - 1 - height);
            }
        }
        for (e, edge) in edges.iter().enumerate() {
            let mut upper = node[edge.from];
            for row in layers.layer_of[upper] + 1..layers.layer_of[node[edge.to]] {
                let dummy = layers.add(Slot::Dummy, row);
                layers.link(upper, dummy, e, edge.flow);
                upper = dummy;
            }
            layers.link(upper, node[edge.to], e, edge.flow);
        }
        layers
    }

    fn add(&mut self, slot: Slot, row: usize) -> usize {
        self.slots.push(slot);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        self.layer_of.push(row);
        self.rows[row].push(self.slots.len() - 1);
        self.slots.len() - 1
    }

    fn link(&mut self, upper: usize, lower: usize, edge: usize, flow: f64) {
        self.below[upper].push(Link { slot: lower, edge, flow });
        self.above[lower].push(Link { slot: upper, edge, flow });
    }

    pub fn is_node(&self, slot: usize) -> bool {
        matches!(self.slots[slot], Slot::Node { .. })
    }

    /// The nodes at positions `x` (one per slot), sorted by source.
    pub fn nodes(&self, x: &[f64]) -> Vec<LayeredNode> {
        let node = |(slot, kind): (usize, &Slot)| match *kind {
            Slot::Node { source } => Some(LayeredNode { source, layer: self.layer_of[slot], x: x[slot] }),
            Slot::Dummy => None,
        };
        self.slots.iter().enumerate().filter_map(node).collect()
    }
}

/// For each drawn source, the number of layers below it. Sources are placed latest first, each as low as its targets and the room in the
/// layer allow. A source without drawn targets is placed above the lowest layer, unless it is an output.
fn heights(edges: &[LayeredEdge], outputs: &[usize], per_layer: usize) -> Vec<Option<usize>> {
    let n_sources = edges.iter().map(|edge| edge.to).chain(outputs.iter().copied()).max().map_or(0, |last| last + 1);
    let mut heights: Vec<Option<usize>> = vec![None; n_sources];
    let mut count: Vec<usize> = Vec::new();
    for source in (0..n_sources).rev() {
        let is_output = outputs.contains(&source);
        if !is_output && !edges.iter().any(|edge| edge.from == source || edge.to == source) {
            continue;
        }
        let targets = edges.iter().filter(|edge| edge.from == source).filter_map(|edge| heights[edge.to]);
        let lowest = targets.max().map_or(usize::from(!is_output), |highest| highest + 1);
        let height = (lowest..).find(|&height| count.get(height).is_none_or(|&n| n < per_layer)).unwrap_or(lowest);
        count.resize(count.len().max(height + 1), 0);
        count[height] += 1;
        heights[source] = Some(height);
    }
    heights
}
