//! What layers with a memory remember: of a text, and of passes that begin in it.

use std::cell::Cell;

use super::batch::RUNNING;
use super::buffer::Buffer;
use super::device::Gpu;
use super::mixer_sizes::MixerSizes;
use crate::model::config::Config;

/// States by number: [`RUNNING`] is that of the text, those after it are of passes, or of gaps.
#[derive(Default)]
pub struct Memories {
    /// `[numbers, state]` for each layer; or one with the text's of all layers, then those of passes, which are of one layer at a time.
    buffers: Vec<Buffer>,
    /// Layers with a memory before each one, and all; empty where each has a buffer.
    layers_before: Vec<usize>,
    /// Tokens in the running memories, where passes begin in the text: see [`super::replay`].
    pub running: Cell<usize>,
}

impl Memories {
    /// So many of each layer.
    pub fn of_each_layer(gpu: &Gpu, config: &Config, numbers: usize) -> Self {
        let length = |layer| (numbers * MixerSizes::of(config, layer).memory).max(1);
        let layers = if MixerSizes::largest(config).memory > 0 { config.n_layers } else { 1 };
        Self { buffers: (0..layers).map(|layer| gpu.buffer("memories", length(layer))).collect(), ..Self::default() }
    }

    /// Those of so many passes in one layer at a time, and of the text in all of them.
    pub fn of_passes(gpu: &Gpu, config: &Config, passes: usize) -> Self {
        let layers_before = (0..=config.n_layers).map(|layer| n_layers(config, layer)).collect();
        Self { buffers: vec![gpu.buffer("memories", length_of_passes(config, passes).max(1))], layers_before, running: Cell::new(0) }
    }

    /// Where a layer's states are, `[slots, state]`, and the slot of one of them.
    pub fn of(&self, layer: usize, number: usize) -> (&Buffer, usize) {
        match (&self.layers_before[..], number) {
            ([], _) => (&self.buffers[layer.min(self.buffers.len() - 1)], number),
            (before, RUNNING) => (&self.buffers[0], before[layer]),
            (before, number) => (&self.buffers[0], before[before.len() - 1] + number - 1),
        }
    }
}

/// f32 of the largest buffer of [`Memories::of_each_layer`], and of all of them.
pub fn lengths_of_each_layer(config: &Config, numbers: usize) -> (usize, usize) {
    let of_layer = numbers * MixerSizes::largest(config).memory;
    (of_layer, of_layer * n_layers(config, config.n_layers))
}

/// Layers with a memory among the first `layers`.
fn n_layers(config: &Config, layers: usize) -> usize {
    (0..layers).filter(|&layer| MixerSizes::of(config, layer).memory > 0).count()
}

/// f32 of [`Memories::of_passes`].
pub fn length_of_passes(config: &Config, passes: usize) -> usize {
    (n_layers(config, config.n_layers) + passes) * MixerSizes::largest(config).memory
}
