//! How much memory rows take where a layer mixes them.

use super::kernels::padded;
use super::kernels::qkv_rope_cache::{cached_slot, qkv_width};
use crate::model::config::Config;

/// f32 of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixerSizes {
    /// What is projected of it: queries, keys and values, or what a convolution takes.
    pub projected: usize,
    /// What is mixed, with padding.
    pub mixed: usize,
    /// What is kept of it for the rows after it.
    pub slot: usize,
}

impl MixerSizes {
    /// In one layer.
    pub fn of(config: &Config, layer: usize) -> Self {
        if config.has_attention(layer) {
            let mixed = padded(config.n_heads * config.head_dim);
            Self { projected: qkv_width(config), mixed, slot: cached_slot(config) }
        } else {
            Self { projected: 3 * config.dim, mixed: padded(config.dim), slot: config.dim }
        }
    }

    /// The largest of all layers.
    pub fn largest(config: &Config) -> Self {
        let larger =
            |a: Self, b: Self| Self { projected: a.projected.max(b.projected), mixed: a.mixed.max(b.mixed), slot: a.slot.max(b.slot) };
        (1..config.n_layers).map(|layer| Self::of(config, layer)).fold(Self::of(config, 0), larger)
    }
}
