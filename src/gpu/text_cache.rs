//! The key-value cache of a text.

use super::buffer::Buffer;
use super::device::Gpu;
use super::layer_caches::LayerCaches;
use super::memories::Memories;
use crate::lm::LmError;
use crate::model::config::Config;

/// Keys and values of the text so far, and what convolutions read of it.
#[derive(Default)]
pub struct TextCache {
    /// Empty until the first token.
    pub caches: LayerCaches,
    /// Of the text, and of passes that begin in it.
    pub memories: Memories,
    /// How many passes that begin in it are remembered at once, where parts of it are to be replaced.
    pub passes: Option<usize>,
    /// Of each of [`Config::rotations`], `[capacity, rotated_dim / 2]` of (cos, sin).
    pub angles: Vec<Buffer>,
    /// Tokens that it has room for.
    pub capacity: usize,
    /// Tokens in it.
    pub length: usize,
}

impl TextCache {
    /// An empty cache for `capacity` tokens; `rotations` in radians at position 1.
    pub async fn new(gpu: &Gpu, config: &Config, rotations: &[Vec<f64>], capacity: usize, passes: Option<usize>) -> Result<Self, LmError> {
        let memories = || match passes {
            Some(passes) => Memories::of_passes(gpu, config, passes),
            None => Memories::of_each_layer(gpu, config, 1),
        };
        let allocate = || Self {
            caches: LayerCaches::new(gpu, "text cache", config, capacity, config.taps(), passes.is_some()),
            memories: memories(),
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
