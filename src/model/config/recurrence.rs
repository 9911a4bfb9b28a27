//! Layers that have something else than attention.

use super::error::ConfigError;
use crate::model::arch::{Architecture, Recurrent};
use crate::model::gguf::{Metadata, Value};

/// The layers without attention, and what they have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Recurrence {
    /// Tokens that their convolution reads: a row's own and those right before it.
    pub taps: usize,
    /// By layer.
    pub layers: Vec<bool>,
}

/// Heads of keys and values, and which layers have any.
pub struct KvHeads {
    /// None where the file does not say it.
    pub n: Option<usize>,
    pub recurrence: Option<Recurrence>,
}

/// Most models have 3 or 4.
const MAX_TAPS: usize = 16;

impl KvHeads {
    /// In files of architectures with short convolutions a list by layer, where 0 stands for a convolution (llama.cpp,
    /// src/models/lfm2.cpp).
    pub fn read(metadata: &Metadata, architecture: &Architecture, n_layers: usize) -> Result<Self, ConfigError> {
        let key = |field: &str| format!("{}.{field}", architecture.name);
        let heads = key("attention.head_count_kv");
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let by_layer = match metadata.get(&heads) {
            Some(Value::Numbers(by_layer)) if architecture.recurrent == Recurrent::ShortConvolution => by_layer,
            _ => return Ok(Self { n: metadata.u64(&heads)?.map(size), recurrence: None }),
        };
        // At least one layer has attention, and all of them have as many heads.
        let n = by_layer.iter().copied().fold(0.0, f64::max);
        if by_layer.len() < n_layers || n < 1.0 || by_layer.iter().any(|&of_layer| of_layer != 0.0 && of_layer != n) {
            return Err(ConfigError::Setting(heads));
        }
        let taps = key("shortconv.l_cache");
        let recurrence = Recurrence {
            taps: metadata.u64(&taps)?.map(size).ok_or_else(|| ConfigError::Missing(taps.clone()))?,
            layers: by_layer[..n_layers].iter().map(|&of_layer| of_layer == 0.0).collect(),
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
    use crate::model::arch::by_name;

    fn read(heads: &[f64], taps: u64, n_layers: usize) -> Result<KvHeads, String> {
        let values = [("lfm2.attention.head_count_kv", Value::Numbers(heads.into())), ("lfm2.shortconv.l_cache", Value::U64(taps))];
        KvHeads::read(&Metadata::from_iter(values), by_name("lfm2").unwrap(), n_layers).map_err(|error| error.to_string())
    }

    #[test]
    fn layers_without_heads_of_keys_have_a_convolution() {
        let KvHeads { n, recurrence } = read(&[0.0, 8.0, 0.0, 8.0], 3, 3).unwrap();
        assert_eq!((n, recurrence), (Some(8), Some(Recurrence { taps: 3, layers: vec![true, false, true] })));
        assert_eq!(read(&[8.0, 8.0], 3, 2).unwrap().recurrence, None);
    }

    #[test]
    fn what_cannot_be_right_is_refused_by_its_key() {
        let heads = [&[0.0, 8.0][..], &[0.0, 0.0, 0.0], &[0.0, 8.0, 4.0], &[0.0, f64::NAN, 8.0], &[-8.0, 8.0, 0.0]];
        assert!(heads.iter().all(|heads| read(heads, 3, 3).is_err_and(|error| error.contains("lfm2.attention.head_count_kv"))));
        assert!([0, 17, u64::MAX].iter().all(|&taps| read(&[0.0, 8.0], taps, 2).is_err_and(|error| error.contains("l_cache"))));
    }
}
