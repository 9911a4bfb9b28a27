//! Per-layer caches of a text.

use super::buffer::Buffer;
use super::device::Gpu;
use super::layer_caches::LayerCaches;
use super::recurrent_states::RecurrentStates;
use crate::lm::LmError;
use glasscage_model::config::Config;

/// Keys and values of the current text, and its convolution inputs.
#[derive(Default)]
pub struct TextCache {
    /// Empty until the first token.
    pub caches: LayerCaches,
    /// Recurrent states of the text, and of passes that begin inside it.
    pub recurrent_states: RecurrentStates,
    /// If parts of the text will be replaced: the number of passes whose states are kept at the same time.
    pub passes: Option<usize>,
    /// For each of [`Config::rotations`], `[capacity, rotated_dim / 2]` of (cos, sin).
    pub angles: Vec<Buffer>,
    /// Maximum number of tokens.
    pub capacity: usize,
    /// Number of tokens in the cache.
    pub length: usize,
}

impl TextCache {
    /// An empty cache for `capacity` tokens. `rotations` are the angles at position 1, in radians.
    pub async fn new(gpu: &Gpu, config: &Config, rotations: &[Vec<f64>], capacity: usize, passes: Option<usize>) -> Result<Self, LmError> {
        let recurrent_states = || match passes {
            Some(passes) => RecurrentStates::of_passes(gpu, config, passes),
            None => RecurrentStates::of_each_layer(gpu, config, 1),
        };
        let allocate = || Self {
            caches: LayerCaches::new(gpu, "text cache", config, capacity, config.taps(), passes.is_some()),
            recurrent_states: recurrent_states(),
            passes,
            angles: rotations.iter().map(|frequencies| gpu.buffer_with_f32("angles", &rope_angles(frequencies, capacity))).collect(),
            capacity,
            length: 0,
        };
        gpu.try_allocate(allocate).await
    }

    pub fn check_capacity(&self, tokens: usize) -> Result<(), LmError> {
        let limit = self.capacity;
        if tokens > limit { Err(LmError::TooLong { tokens, limit }) } else { Ok(()) }
    }
}

/// Cosine and sine of each rotation at positions `0..length`: `[length, rotated_dim / 2, 2]`.
fn rope_angles(frequencies: &[f64], length: usize) -> Vec<f32> {
    let angles = |position: usize| frequencies.iter().map(move |frequency| position as f64 * frequency);
    (0..length).flat_map(angles).flat_map(|angle| [angle.cos() as f32, angle.sin() as f32]).collect()
}
