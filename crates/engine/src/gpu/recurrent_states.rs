//! Recurrent states: of a text, and of passes that begin inside it.

use std::cell::Cell;

use super::batch::RUNNING;
use super::buffer::Buffer;
use super::device::Gpu;
use super::mixer_sizes::MixerSizes;
use glasscage_model::config::Config;

/// Recurrent states by index. [`RUNNING`] is the state of the text; the later ones belong to passes or infill spans.
#[derive(Default)]
pub struct RecurrentStates {
    /// `[states, state length]`, one buffer per layer; or a single buffer with the text's state of every layer, followed by the states of
    /// passes in one layer at a time.
    buffers: Vec<Buffer>,
    /// Number of recurrent layers before each layer, and in total. Empty if each layer has its own buffer.
    layers_before: Vec<usize>,
    /// Number of tokens in the running states, if passes begin inside the text: see [`super::replay`].
    pub running: Cell<usize>,
}

impl RecurrentStates {
    /// `numbers` states for each layer.
    pub fn of_each_layer(gpu: &Gpu, config: &Config, numbers: usize) -> Self {
        let length = |layer| (numbers * MixerSizes::of(config, layer).state).max(1);
        let layers = if MixerSizes::largest(config).state > 0 { config.n_layers } else { 1 };
        Self { buffers: (0..layers).map(|layer| gpu.buffer("recurrent states", length(layer))).collect(), ..Self::default() }
    }

    /// States of `passes` passes in one layer at a time, and the state of the text in every layer.
    pub fn of_passes(gpu: &Gpu, config: &Config, passes: usize) -> Self {
        let layers_before = (0..=config.n_layers).map(|layer| n_layers(config, layer)).collect();
        Self {
            buffers: vec![gpu.buffer("recurrent states", length_of_passes(config, passes).max(1) as usize)],
            layers_before,
            running: Cell::new(0),
        }
    }

    /// Buffer of a layer's states, `[slots, state length]`, and the slot of state `number`.
    pub fn of(&self, layer: usize, number: usize) -> (&Buffer, usize) {
        match (&self.layers_before[..], number) {
            ([], _) => (&self.buffers[layer.min(self.buffers.len() - 1)], number),
            (before, RUNNING) => (&self.buffers[0], before[layer]),
            (before, number) => (&self.buffers[0], before[before.len() - 1] + number - 1),
        }
    }
}

/// f32 values of the largest buffer of [`RecurrentStates::of_each_layer`], and of all of them. 64 bits, because the sum may exceed 32 bits.
pub fn lengths_of_each_layer(config: &Config, numbers: usize) -> (u64, u64) {
    let of_layer = numbers as u64 * MixerSizes::largest(config).state as u64;
    (of_layer, of_layer * n_layers(config, config.n_layers) as u64)
}

/// Number of recurrent layers among the first `layers`.
fn n_layers(config: &Config, layers: usize) -> usize {
    (0..layers).filter(|&layer| MixerSizes::of(config, layer).state > 0).count()
}

/// Length of the buffer of [`RecurrentStates::of_passes`], in f32 values. 64 bits, because the product may exceed 32 bits.
pub fn length_of_passes(config: &Config, passes: usize) -> u64 {
    (n_layers(config, config.n_layers) + passes) as u64 * MixerSizes::largest(config).state as u64
}
