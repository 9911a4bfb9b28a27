//! Memory per row in the token-mixing part of a layer.

use super::kernels::delta_rule::{products_width, state_length};
use super::kernels::padded;
use super::kernels::qkv_rope_cache::{cached_slot, qkv_width};
use glasscage_model::config::Config;

/// Sizes in f32 values per row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixerSizes {
    /// Output of the input projection: queries, keys and values, or the inputs of a convolution.
    pub projected: usize,
    /// Prepared inputs of the mixer with padding, 0 if they are prepared in place.
    pub prepared: usize,
    /// Output of the mixer with padding.
    pub mixed: usize,
    /// Products between the tokens of a chunk, for DeltaNet layers.
    pub products: usize,
    /// Cached values of the row, which later rows read.
    pub slot: usize,
    /// Length of the recurrent state: per text, not per row. 0 if the layer has none.
    pub state: usize,
}

impl MixerSizes {
    /// The sizes in one layer.
    pub fn of(config: &Config, layer: usize) -> Self {
        let slot = config.dim;
        if config.has_attention(layer) {
            let (heads, qkv) = (config.n_heads * config.head_dim, qkv_width(config));
            let [gates, prepared] = if config.architecture.gates_attention { [heads, qkv] } else { [0, 0] };
            Self { projected: qkv + gates, prepared, mixed: padded(heads), products: 0, slot: cached_slot(config), state: 0 }
        } else if let Some(net) = config.recurrence.as_ref().and_then(|recurrence| recurrence.delta_net) {
            let (slot, width) = (net.columns(), net.value_width());
            let products = products_width(net);
            Self { projected: slot + width, prepared: padded(slot), mixed: padded(width), products, slot, state: state_length(net) }
        } else {
            Self { projected: 3 * config.dim, prepared: 0, mixed: padded(config.dim), products: 0, slot, state: 0 }
        }
    }

    /// The maximum of each size over all layers.
    pub fn largest(config: &Config) -> Self {
        let larger = |a: Self, b: Self| Self {
            projected: a.projected.max(b.projected),
            prepared: a.prepared.max(b.prepared),
            mixed: a.mixed.max(b.mixed),
            products: a.products.max(b.products),
            slot: a.slot.max(b.slot),
            state: a.state.max(b.state),
        };
        (1..config.n_layers).map(|layer| Self::of(config, layer)).fold(Self::of(config, 0), larger)
    }

    /// Largest slot of the recurrent layers, or of the other layers, in f32 values.
    pub fn largest_slot(config: &Config, is_recurrent: bool) -> usize {
        let sizes = (0..config.n_layers).map(|layer| Self::of(config, layer));
        sizes.filter(|sizes| (sizes.state > 0) == is_recurrent).map(|sizes| sizes.slot).max().unwrap_or(0)
    }
}
