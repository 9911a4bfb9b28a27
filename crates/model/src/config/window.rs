//! Sliding windows: layers whose rows see only the last keys.

use super::error::ConfigError;
use super::settings;
use crate::arch::Architecture;
use crate::gguf::{Metadata, Value};

/// The layers with a window, and their common settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Number of keys that a row sees, including its own.
    pub keys: usize,
    /// Base of the rotary frequencies in these layers. Their positions are not scaled.
    pub rope_base: f64,
    /// For each layer, whether it has a window.
    pub layers: Vec<bool>,
}

impl Window {
    /// `None` if no layer has a window. Keys and defaults: llama.cpp, src/models/gemma3.cpp, and `set_swa_pattern` in
    /// src/llama-hparams.cpp.
    pub fn read(metadata: &Metadata, architecture: &Architecture, n_layers: usize) -> Result<Option<Self>, ConfigError> {
        const PATTERN: &str = "attention.sliding_window_pattern";
        let key = |field: &str| format!("{}.{field}", architecture.name);
        if architecture.unwindowed_every == 0 {
            return Ok(None);
        }
        let keys = metadata.u64(&key("attention.sliding_window"))?.unwrap_or(0);
        let every = |n: u64| (0..n_layers).map(|layer| n == 0 || !(layer as u64 + 1).is_multiple_of(n)).collect();
        let layers: Vec<bool> = match metadata.get(&key(PATTERN)) {
            None => every(architecture.unwindowed_every as u64),
            Some(&Value::U64(n)) => every(n),
            Some(Value::Numbers(flags)) if flags.len() >= n_layers => flags[..n_layers].iter().map(|&flag| flag != 0.0).collect(),
            Some(_) => return Err(ConfigError::Setting(key(PATTERN))),
        };
        let window = Self {
            keys: usize::try_from(keys).unwrap_or(usize::MAX).min(u32::MAX as usize),
            rope_base: settings::window_rope_base(metadata, architecture.name)?,
            layers,
        };
        Ok(Some(window).filter(|window| window.keys > 0 && window.layers.contains(&true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::by_name;

    fn layers(pairs: &[(&str, Value)], n_layers: usize) -> Option<Vec<bool>> {
        let metadata = Metadata::from_iter(pairs.iter().cloned());
        Window::read(&metadata, by_name("gemma3").unwrap(), n_layers).unwrap().map(|window| window.layers)
    }

    #[test]
    fn window_skips_every_sixth_layer_by_default() {
        let window = ("gemma3.attention.sliding_window", Value::U64(512));
        let pattern = |value| ("gemma3.attention.sliding_window_pattern", value);
        let of_six = [true, true, true, true, true, false, true];
        assert_eq!(layers(std::slice::from_ref(&window), 7), Some(of_six.into()));
        assert_eq!(layers(&[window.clone(), pattern(Value::U64(2))], 3), Some(vec![true, false, true]));
        assert_eq!(layers(&[window.clone(), pattern(Value::Numbers(vec![0.0, 1.0]))], 2), Some(vec![false, true]));
        assert_eq!(layers(&[window.clone(), pattern(Value::Numbers(vec![0.0, 0.0]))], 2), None);
        assert_eq!(layers(&[], 7), None);
        let short = Metadata::from_iter([window, pattern(Value::Numbers(vec![1.0]))]);
        assert!(Window::read(&short, by_name("gemma3").unwrap(), 2).is_err());
    }
}
