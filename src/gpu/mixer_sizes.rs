//! How much memory rows take where a layer mixes them.

use super::kernels::delta_rule::{products_width, state_length};
use super::kernels::padded;
use super::kernels::qkv_rope_cache::{cached_slot, qkv_width};
use crate::model::config::Config;

/// f32 of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixerSizes {
    /// What is projected of it: queries, keys and values, or what a convolution takes.
    pub projected: usize,
    /// What is made of that before it is mixed, where it is not done in place, with padding.
    pub prepared: usize,
    /// What is mixed, with padding.
    pub mixed: usize,
    /// What tokens of a chunk owe to each other, where a memory takes them in.
    pub products: usize,
    /// What the rows after it read of it.
    pub slot: usize,
    /// Not of a row but of a text: what is remembered of it.
    pub memory: usize,
}

impl MixerSizes {
    /// In one layer.
    pub fn of(config: &Config, layer: usize) -> Self {
        let slot = config.dim;
        if config.has_attention(layer) {
            let (heads, qkv) = (config.n_heads * config.head_dim, qkv_width(config));
            let [gates, prepared] = if config.architecture.gates_attention { [heads, qkv] } else { [0, 0] };
            Self { projected: qkv + gates, prepared, mixed: padded(heads), products: 0, slot: cached_slot(config), memory: 0 }
        } else if let Some(net) = config.recurrence.as_ref().and_then(|recurrence| recurrence.delta_net) {
            let (slot, width) = (net.columns(), net.value_width());
            let products = products_width(net);
            Self { projected: slot + width, prepared: padded(slot), mixed: padded(width), products, slot, memory: state_length(net) }
        } else {
            Self { projected: 3 * config.dim, prepared: 0, mixed: padded(config.dim), products: 0, slot, memory: 0 }
        }
    }

    /// The largest of all layers.
    pub fn largest(config: &Config) -> Self {
        let larger = |a: Self, b: Self| Self {
            projected: a.projected.max(b.projected),
            prepared: a.prepared.max(b.prepared),
            mixed: a.mixed.max(b.mixed),
            products: a.products.max(b.products),
            slot: a.slot.max(b.slot),
            memory: a.memory.max(b.memory),
        };
        (1..config.n_layers).map(|layer| Self::of(config, layer)).fold(Self::of(config, 0), larger)
    }

    /// f32 of the largest slot, of layers with a memory or of the others.
    pub fn largest_slot(config: &Config, has_memory: bool) -> usize {
        let sizes = (0..config.n_layers).map(|layer| Self::of(config, layer));
        sizes.filter(|sizes| (sizes.memory > 0) == has_memory).map(|sizes| sizes.slot).max().unwrap_or(0)
    }
}
