//! What the layers keep of rows for those after them.

use super::buffer::Buffer;
use super::device::Gpu;
use super::mixer_sizes::MixerSizes;
use crate::model::config::Config;

/// Of a text, or of suffixes; one buffer a layer, or one for all layers in turn.
#[derive(Default)]
pub struct LayerCaches {
    /// Slots of rows: keys and values, or what a convolution reads.
    pub slots: Vec<Buffer>,
    /// Memories, each of a text or of a suffix; next to nothing where the layer has none.
    pub memories: Vec<Buffer>,
}

impl LayerCaches {
    /// For `slots` rows of `texts` texts. Layers with a memory have `ring` slots, which rows take in turn.
    pub fn new(gpu: &Gpu, label: &str, config: &Config, [slots, ring, texts]: [usize; 3]) -> Self {
        let sizes = |layer: usize| MixerSizes::of(config, layer);
        let of_layer = |layer: usize| if sizes(layer).memory > 0 { ring } else { slots };
        let layers_with_memories = if MixerSizes::largest(config).memory > 0 { config.n_layers } else { 1 };
        Self {
            slots: (0..config.n_layers).map(|layer| gpu.buffer(label, of_layer(layer) * sizes(layer).slot)).collect(),
            memories: (0..layers_with_memories).map(|layer| gpu.buffer("memories", (texts * sizes(layer).memory).max(1))).collect(),
        }
    }

    /// For one layer at a time.
    pub fn for_all_layers(gpu: &Gpu, label: &str, config: &Config, [slots, texts]: [usize; 2]) -> Self {
        let MixerSizes { slot, memory, .. } = MixerSizes::largest(config);
        Self { slots: vec![gpu.buffer(label, slots * slot)], memories: vec![gpu.buffer("memories", (texts * memory).max(1))] }
    }

    /// The layer's slots and memories.
    pub fn of(&self, layer: usize) -> [&Buffer; 2] {
        [&self.slots, &self.memories].map(|buffers| &buffers[layer.min(buffers.len() - 1)])
    }
}
