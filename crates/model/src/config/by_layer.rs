//! Sizes that a file may state once, or for each layer.

use super::error::ConfigError;
use crate::gguf::{Metadata, Value};

/// A whole number that all layers share: one number, or a list of equal numbers. llama.cpp reads `feed_forward_length`,
/// `attention.head_count` and `attention.head_count_kv` in the same way (`get_key_or_arr` in `llama_model_base::load_hparams`). Layers
/// after the first `n_layers` are ignored, because they are not run.
///
/// Errors if layers differ.
pub fn of_all_layers(metadata: &Metadata, key: &str, n_layers: usize) -> Result<Option<u64>, ConfigError> {
    match metadata.get(key) {
        Some(Value::Numbers(list)) => match list.get(..n_layers).and_then(common).filter(|number| WHOLE.contains(number)) {
            Some(number) if number.fract() == 0.0 => Ok(Some(number as u64)),
            _ => Err(ConfigError::Setting(key.to_owned())),
        },
        _ => Ok(metadata.u64(key)?),
    }
}

/// The range in which f64 represents every whole number exactly.
const WHOLE: std::ops::RangeInclusive<f64> = 0.0..=9_007_199_254_740_992.0;

/// The number that all entries of a list share. `None` if they differ or the list is empty.
pub fn common(list: &[f64]) -> Option<f64> {
    let (first, rest) = list.split_first()?;
    rest.iter().all(|number| number == first).then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value, n_layers: usize) -> Result<Option<u64>, String> {
        of_all_layers(&Metadata::from_iter([("granite.feed_forward_length", value)]), "granite.feed_forward_length", n_layers)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_of_equal_numbers_is_that_number() {
        for (value, n_layers) in [(vec![512.0], 1), (vec![512.0; 3], 3), (vec![512.0, 512.0, 8.0], 2)] {
            assert_eq!(read(Value::Numbers(value), n_layers), Ok(Some(512)));
        }
        assert_eq!((read(Value::U64(512), 3), of_all_layers(&Metadata::default(), "a", 3).ok()), (Ok(Some(512)), Some(None)));
    }

    #[test]
    fn other_lists_are_refused_by_their_key() {
        for list in
            [vec![], vec![512.0], vec![512.0, 8.0], vec![-8.0; 2], vec![0.5; 2], vec![f64::NAN; 2], vec![f64::INFINITY; 2], vec![1e300; 2]]
        {
            assert!(read(Value::Numbers(list.clone()), 2).is_err_and(|error| error.contains("granite.feed_forward_length")), "{list:?}");
        }
    }
}
