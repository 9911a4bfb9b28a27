//! Per-layer caches of rows that later rows read.

use super::buffer::Buffer;
use super::device::Gpu;
use super::kernels::padded;
use super::mixer_sizes::MixerSizes;
use glasscage_model::config::Config;

/// Caches of a text or of suffixes. Has one buffer per layer, or one buffer that all layers use in turn. Recurrent states are in
/// [`super::recurrent_states`].
#[derive(Default)]
pub struct LayerCaches {
    /// Slots of rows: keys and values, or the inputs of a convolution.
    slots: Vec<Buffer>,
    /// Number of slots in recurrent layers. Rows reuse them in turn.
    pub ring: usize,
    /// `[slots, padded dim]` for recurrent layers: inputs of the projection, if parts of the text will be replaced. Otherwise `None`.
    inputs: Vec<Option<Buffer>>,
}

impl LayerCaches {
    /// Caches for `slots` rows.
    pub fn new(gpu: &Gpu, label: &str, config: &Config, slots: usize, ring: usize, keeps_inputs: bool) -> Self {
        let sizes: Vec<MixerSizes> = (0..config.n_layers).map(|layer| MixerSizes::of(config, layer)).collect();
        let keeps = |sizes: &MixerSizes| keeps_inputs && sizes.state > 0;
        Self {
            slots: sizes.iter().map(|sizes| gpu.buffer(label, if sizes.state > 0 { ring } else { slots } * sizes.slot)).collect(),
            ring,
            inputs: sizes.iter().map(|sizes| keeps(sizes).then(|| gpu.buffer("inputs", slots * padded(config.dim)))).collect(),
        }
    }

    /// One buffer for one layer at a time, whose rows come in order.
    pub fn for_all_layers(gpu: &Gpu, label: &str, config: &Config, slots: usize) -> Self {
        let (ring, largest) = (config.taps(), MixerSizes::largest(config));
        let length = (slots * MixerSizes::largest_slot(config, false)).max(ring * largest.slot);
        Self { slots: vec![gpu.buffer(label, length)], ring, inputs: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The slots of the layer.
    pub fn of(&self, layer: usize) -> &Buffer {
        &self.slots[layer.min(self.slots.len() - 1)]
    }

    pub fn inputs_of(&self, layer: usize) -> Option<&Buffer> {
        self.inputs.get(layer)?.as_ref()
    }
}
