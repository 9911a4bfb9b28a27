//! How much memory rows take where a layer mixes them.

use super::kernels::delta_rule::state_length;
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
    /// What is kept of it for the rows after it.
    pub slot: usize,
    /// Not of a row but of a text: what is remembered of it.
    pub memory: usize,
}

impl MixerSizes {
    /// In one layer.
    pub fn of(config: &Config, layer: usize) -> Self {
        let slot = config.kept(layer);
        if config.has_attention(layer) {
            let (heads, qkv) = (config.n_heads * config.head_dim, qkv_width(config));
            let [gates, prepared] = if config.architecture.gates_attention { [heads, qkv] } else { [0, 0] };
            Self { projected: qkv + gates, prepared, mixed: padded(heads), slot: cached_slot(config), memory: 0 }
        } else if let Some(net) = config.recurrence.as_ref().and_then(|recurrence| recurrence.delta_net) {
            let width = net.value_width();
            Self { projected: slot + width, prepared: padded(slot), mixed: padded(width), slot, memory: state_length(net) }
        } else {
            Self { projected: 3 * config.dim, prepared: 0, mixed: padded(config.dim), slot, memory: 0 }
        }
    }

    /// The largest of all layers.
    pub fn largest(config: &Config) -> Self {
        let larger = |a: Self, b: Self| Self {
            projected: a.projected.max(b.projected),
            prepared: a.prepared.max(b.prepared),
            mixed: a.mixed.max(b.mixed),
            slot: a.slot.max(b.slot),
            memory: a.memory.max(b.memory),
        };
        (1..config.n_layers).map(|layer| Self::of(config, layer)).fold(Self::of(config, 0), larger)
    }
}
