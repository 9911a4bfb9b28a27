//! Layers without attention.

use super::by_layer::of_all_layers;
use super::error::ConfigError;
use crate::arch::{Architecture, Recurrent};
use crate::gguf::{Metadata, Value};

/// The layers without attention, and their common sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Recurrence {
    /// Number of tokens that their convolution reads: the row's own and those right before it.
    pub taps: usize,
    /// For each layer, whether it has no attention.
    pub layers: Vec<bool>,
    /// Sizes of the DeltaNet after their convolution; `None` for a convolution alone.
    pub delta_net: Option<DeltaNet>,
}

/// Sizes of a DeltaNet and its recurrent state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaNet {
    /// Number of key heads and of query heads.
    pub n_key_heads: usize,
    /// A multiple of `n_key_heads`. Value head h uses key head `h % n_key_heads`.
    pub n_value_heads: usize,
    /// Width of a key head and of a value head.
    pub head_dim: usize,
}

impl DeltaNet {
    /// Width of all value heads together.
    pub fn value_width(&self) -> usize {
        self.n_value_heads * self.head_dim
    }

    /// Number of channels of the convolution: queries, keys and values.
    pub fn channels(&self) -> usize {
        2 * self.n_key_heads * self.head_dim + self.value_width()
    }

    /// Number of projected columns: the channels, and two rates per value head.
    pub fn columns(&self) -> usize {
        self.channels() + 2 * self.n_value_heads
    }
}

impl Recurrence {
    /// Reads the sizes of a DeltaNet. Keys: llama.cpp, src/models/qwen35.cpp.
    fn of_delta_net(metadata: &Metadata, architecture: &Architecture, n_layers: usize) -> Result<Self, ConfigError> {
        let key = |field: &str| format!("{}.{field}", architecture.name);
        let size = |field: &str, most: usize| match metadata.u64(&key(field))? {
            None => Err(ConfigError::Missing(key(field))),
            Some(number) if (1..=most as u64).contains(&number) => Ok(number as usize),
            Some(number) => Err(ConfigError::Absurd { key: key(field), value: number as f64 }),
        };
        let taps = size("ssm.conv_kernel", MAX_TAPS)?;
        let (n_key_heads, n_value_heads) = (size("ssm.group_count", MAX_HEADS)?, size("ssm.time_step_rank", MAX_HEADS)?);
        let net = DeltaNet { n_key_heads, n_value_heads, head_dim: size("ssm.state_size", MAX_HEAD_DIM)? };
        // The GPU reads four values at a time.
        if !net.head_dim.is_multiple_of(4) {
            return Err(ConfigError::Absurd { key: key("ssm.state_size"), value: net.head_dim as f64 });
        }
        if !n_value_heads.is_multiple_of(n_key_heads) {
            return Err(ConfigError::Absurd { key: key("ssm.time_step_rank"), value: n_value_heads as f64 });
        }
        if size("ssm.inner_size", MAX_HEADS * MAX_HEAD_DIM)? != net.value_width() {
            return Err(ConfigError::Setting(key("ssm.inner_size")));
        }
        let flags = key("attention.recurrent_layers");
        let layers = match metadata.numbers(&flags)? {
            Some(flags) if flags.len() >= n_layers => flags[..n_layers].iter().map(|&flag| flag != 0.0).collect(),
            Some(_) => return Err(ConfigError::Setting(flags)),
            None => {
                let interval = metadata.u64(&key("full_attention_interval"))?.unwrap_or(4).max(1);
                (0..n_layers as u64).map(|layer| !(layer + 1).is_multiple_of(interval)).collect()
            }
        };
        Ok(Self { taps, layers, delta_net: Some(net) })
    }
}

/// Number of heads of keys and values, and the layers without attention.
pub struct KvHeads {
    /// `None` if the file does not state it.
    pub n: Option<usize>,
    pub recurrence: Option<Recurrence>,
}

/// Most models have 3 or 4.
const MAX_TAPS: usize = 16;
/// Most models have 128.
const MAX_HEAD_DIM: usize = 256;
const MAX_HEADS: usize = 1024;

impl KvHeads {
    /// Reads the number of heads. In files of architectures with short convolutions, it is a list by layer in which 0 stands for a
    /// convolution (llama.cpp, src/models/lfm2.cpp).
    pub fn read(metadata: &Metadata, architecture: &Architecture, n_layers: usize) -> Result<Self, ConfigError> {
        let key = |field: &str| format!("{}.{field}", architecture.name);
        let heads = key("attention.head_count_kv");
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let by_layer = match metadata.get(&heads) {
            Some(Value::Numbers(by_layer)) if architecture.recurrent == Recurrent::ShortConvolution => by_layer,
            _ => {
                let has_delta_net = architecture.recurrent == Recurrent::DeltaNet;
                let recurrence = has_delta_net.then(|| Recurrence::of_delta_net(metadata, architecture, n_layers)).transpose()?;
                return Ok(Self { n: of_all_layers(metadata, &heads, n_layers)?.map(size), recurrence });
            }
        };
        // At least one layer has attention, and all layers with attention have the same number of heads.
        let n = by_layer.iter().copied().fold(0.0, f64::max);
        if by_layer.len() < n_layers || n < 1.0 || by_layer.iter().any(|&of_layer| of_layer != 0.0 && of_layer != n) {
            return Err(ConfigError::Setting(heads));
        }
        let taps = key("shortconv.l_cache");
        let recurrence = Recurrence {
            taps: metadata.u64(&taps)?.map(size).ok_or_else(|| ConfigError::Missing(taps.clone()))?,
            layers: by_layer[..n_layers].iter().map(|&of_layer| of_layer == 0.0).collect(),
            delta_net: None,
        };
        if !(1..=MAX_TAPS).contains(&recurrence.taps) {
            return Err(ConfigError::Absurd { key: taps, value: recurrence.taps as f64 });
        }
        Ok(Self { n: Some(n as usize), recurrence: Some(recurrence).filter(|recurrence| recurrence.layers.contains(&true)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::by_name;

    fn read(heads: &[f64], taps: u64, n_layers: usize) -> Result<KvHeads, String> {
        let values = [("lfm2.attention.head_count_kv", Value::Numbers(heads.into())), ("lfm2.shortconv.l_cache", Value::U64(taps))];
        KvHeads::read(&Metadata::from_iter(values), by_name("lfm2").unwrap(), n_layers).map_err(|error| error.to_string())
    }

    #[test]
    fn layers_without_heads_of_keys_have_a_convolution() {
        let KvHeads { n, recurrence } = read(&[0.0, 8.0, 0.0, 8.0], 3, 3).unwrap();
        assert_eq!((n, recurrence), (Some(8), Some(Recurrence { taps: 3, layers: vec![true, false, true], delta_net: None })));
        assert_eq!(read(&[8.0, 8.0], 3, 2).unwrap().recurrence, None);
    }

    #[test]
    fn other_architectures_have_as_many_heads_in_every_layer() {
        let read = |heads: &[f64]| {
            let metadata = Metadata::from_iter([("granite.attention.head_count_kv", Value::Numbers(heads.into()))]);
            KvHeads::read(&metadata, by_name("granite").unwrap(), 2).map(|heads| heads.n).map_err(|error| error.to_string())
        };
        assert_eq!(read(&[8.0, 8.0]), Ok(Some(8)));
        assert!(read(&[8.0, 0.0]).is_err_and(|error| error.contains("granite.attention.head_count_kv")));
    }

    fn delta_net(changes: &[(&str, Value)], n_layers: usize) -> Result<Recurrence, String> {
        let sizes = [("conv_kernel", 4), ("group_count", 2), ("time_step_rank", 6), ("state_size", 8), ("inner_size", 48)];
        let sizes = sizes.map(|(field, size)| (format!("qwen35.ssm.{field}"), Value::U64(size)));
        let changes = changes.iter().map(|(field, value)| (format!("qwen35.{field}"), value.clone()));
        let mut metadata = Metadata::default();
        sizes.into_iter().chain(changes).for_each(|(key, value)| metadata.set(&key, value));
        let read = KvHeads::read(&metadata, by_name("qwen35").unwrap(), n_layers).map_err(|error| error.to_string())?;
        Ok(read.recurrence.unwrap())
    }

    #[test]
    fn every_fourth_layer_has_attention_unless_the_file_says_otherwise() {
        let net = DeltaNet { n_key_heads: 2, n_value_heads: 6, head_dim: 8 };
        let usual = delta_net(&[], 5).unwrap();
        assert_eq!(usual, Recurrence { taps: 4, layers: vec![true, true, true, false, true], delta_net: Some(net) });
        assert_eq!((net.channels(), net.columns()), (80, 92));
        let layers = |changes: &[(&str, Value)]| delta_net(changes, 2).unwrap().layers;
        assert_eq!(layers(&[("full_attention_interval", Value::U64(2))]), [true, false]);
        assert_eq!(layers(&[("attention.recurrent_layers", Value::Numbers(vec![0.0, 1.0, 1.0]))]), [false, true]);
    }

    #[test]
    fn inconsistent_delta_net_sizes_are_rejected_by_key() {
        for (field, value) in [
            ("ssm.time_step_rank", Value::U64(5)),
            ("ssm.group_count", Value::U64(0)),
            ("ssm.state_size", Value::U64(1 << 40)),
            ("ssm.state_size", Value::U64(6)),
            ("ssm.inner_size", Value::U64(64)),
            ("ssm.conv_kernel", Value::U64(17)),
            ("attention.recurrent_layers", Value::Numbers(vec![1.0])),
        ] {
            let refused = delta_net(&[(field, value)], 2).unwrap_err();
            assert!(refused.contains(&format!("qwen35.{field}")), "{refused}");
        }
    }

    #[test]
    fn impossible_value_is_rejected_by_key() {
        let heads = [&[0.0, 8.0][..], &[0.0, 0.0, 0.0], &[0.0, 8.0, 4.0], &[0.0, f64::NAN, 8.0], &[-8.0, 8.0, 0.0]];
        assert!(heads.iter().all(|heads| { read(heads, 3, 3).is_err_and(|error| error.contains("lfm2.attention.head_count_kv")) }));
        assert!([0, 17, u64::MAX].iter().all(|&taps| read(&[0.0, 8.0], taps, 2).is_err_and(|error| error.contains("l_cache"))));
    }
}
