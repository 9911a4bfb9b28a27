//! Which layer each sentence is in, and the slots of the edges that pass it.

use std::collections::BTreeMap;

use super::drawing::{LayeredEdge, LayeredNode};

/// What stands in a layer.
#[derive(Clone, Debug)]
pub enum Slot {
    Node { source: usize },
    Passing,
}

/// A neighbor in the next layer, and the edge that leads there.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub slot: usize,
    pub edge: usize,
    pub flow: f64,
}

/// The slots of all layers, and how edges lead through them.
#[derive(Debug)]
pub struct Layers {
    pub slots: Vec<Slot>,
    /// For each slot, in the layers above and below.
    pub above: Vec<Vec<Link>>,
    pub below: Vec<Vec<Link>>,
    /// The slots of each layer, from left to right; the first layer is on top.
    pub rows: Vec<Vec<usize>>,
}

impl Layers {
    pub fn new(edges: &[LayeredEdge], outputs: &[usize], per_layer: usize) -> Self {
        let heights = heights(edges, outputs, per_layer);
        let top = heights.values().max().map_or(0, |&highest| highest + 1);
        let layer = |source: usize| top - 1 - heights[&source];
        let mut layers = Self { slots: Vec::new(), above: Vec::new(), below: Vec::new(), rows: vec![Vec::new(); top] };
        let node: BTreeMap<usize, usize> =
            heights.keys().map(|&source| (source, layers.add(Slot::Node { source }, layer(source)))).collect();
        for (e, edge) in edges.iter().enumerate() {
            let mut upper = node[&edge.from];
            for row in layer(edge.from) + 1..layer(edge.to) {
                let passing = layers.add(Slot::Passing, row);
                layers.link(upper, passing, e, edge.flow);
                upper = passing;
            }
            layers.link(upper, node[&edge.to], e, edge.flow);
        }
        layers
    }

    fn add(&mut self, slot: Slot, row: usize) -> usize {
        self.slots.push(slot);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
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

    /// The sentences at `x`, one for each slot, by source.
    pub fn nodes(&self, x: &[f64]) -> Vec<LayeredNode> {
        let of_layer = |(layer, row): (usize, &Vec<usize>)| {
            let node = move |&slot: &usize| match self.slots[slot] {
                Slot::Node { source } => Some(LayeredNode { source, layer, x: x[slot] }),
                Slot::Passing => None,
            };
            row.iter().filter_map(node).collect::<Vec<_>>()
        };
        let mut nodes: Vec<LayeredNode> = self.rows.iter().enumerate().flat_map(of_layer).collect();
        nodes.sort_by_key(|node| node.source);
        nodes
    }
}

/// How many layers above the lowest each source is. Latest first, each goes as low as what it leads to and the room in the layer
/// allow; what leads to nothing drawn is still above the output.
fn heights(edges: &[LayeredEdge], outputs: &[usize], per_layer: usize) -> BTreeMap<usize, usize> {
    let mut heights: BTreeMap<usize, usize> = BTreeMap::new();
    let mut count: Vec<usize> = Vec::new();
    let mut sources: Vec<usize> = edges.iter().flat_map(|edge| [edge.from, edge.to]).chain(outputs.iter().copied()).collect();
    sources.sort_unstable();
    sources.dedup();
    for source in sources.into_iter().rev() {
        let targets = edges.iter().filter(|edge| edge.from == source).map(|edge| heights[&edge.to] + 1);
        let lowest = targets.max().unwrap_or(usize::from(!outputs.contains(&source)));
        let height = (lowest..).find(|&height| count.get(height).is_none_or(|&n| n < per_layer)).unwrap_or(lowest);
        count.resize(count.len().max(height + 1), 0);
        count[height] += 1;
        heights.insert(source, height);
    }
    heights
}
