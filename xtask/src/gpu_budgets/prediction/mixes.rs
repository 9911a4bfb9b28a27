//! Instruction mixes of the kernels, as compilers for real GPUs made them. Stored, so that a prediction needs no compilers.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::super::measured::Measured;
pub use super::super::measured::Mix;
use super::models::TENSOR_TYPES;

/// `cargo xtask gpu-budgets --write` writes this file.
pub const FILE: &str = "xtask/src/gpu_budgets/prediction/mixes.json";
const STORED: &str = include_str!("mixes.json");

/// The kernels that predictions depend on.
const KERNELS: [&str; 2] = ["matmul_tiles", "matvec_shared"];

#[derive(Debug, PartialEq)]
pub struct Mixes {
    /// Keys and values that attention reads, relative to those that each row and head attends to.
    pub keys_read: f64,
    /// By kernel and tensor type, as in `matmul_tiles.Q4_K`.
    kernels: BTreeMap<String, Mix>,
}

impl Mixes {
    /// The stored mixes.
    pub fn stored() -> Result<Self> {
        Self::read(&serde_json::from_str(STORED)?)
    }

    /// The mixes of kernels that were just compiled.
    pub fn of_measured(measured: &Measured) -> Result<Self> {
        let mix = |name: String| {
            let Mix { of_all, of_vector, shared_bytes } = measured.mix(&name).with_context(|| format!("{name} was not compiled"))?;
            let [of_all, of_vector, shared_bytes] = [of_all, of_vector, shared_bytes].map(rounded);
            Ok((name, Mix { of_all, of_vector, shared_bytes }))
        };
        let keys = measured.counted("keys and values");
        Ok(Self {
            keys_read: rounded(keys.first().context("keys and values were not counted")?.1),
            kernels: names().map(mix).collect::<Result<_>>()?,
        })
    }

    pub fn of(&self, kernel: &str, tensor_type: &str) -> Mix {
        self.kernels[&format!("{kernel}.{tensor_type}")]
    }

    fn read(stored: &Value) -> Result<Self> {
        let number = |value: &Value| value.as_f64().with_context(|| format!("{value} is no number"));
        let mix = |name: String| {
            let of = &stored["kernels"][&name];
            let [of_all, of_vector, shared_bytes] = ["of_all", "of_vector", "shared_bytes"].map(|key| number(&of[key]));
            Ok((name, Mix { of_all: of_all?, of_vector: of_vector?, shared_bytes: shared_bytes? }))
        };
        Ok(Self { keys_read: number(&stored["keys_read"])?, kernels: names().map(mix).collect::<Result<_>>()? })
    }

    /// The contents of the file.
    pub fn to_json(&self) -> String {
        let kernels: BTreeMap<&String, Value> = self
            .kernels
            .iter()
            .map(|(name, &Mix { of_all, of_vector, shared_bytes })| {
                (name, json!({ "of_all": of_all, "of_vector": of_vector, "shared_bytes": shared_bytes }))
            })
            .collect();
        let all = json!({ "kernels": kernels, "keys_read": self.keys_read });
        serde_json::to_string_pretty(&all).expect("numbers are JSON") + "\n"
    }
}

/// Four decimal places. The predictions show fewer.
fn rounded(number: f64) -> f64 {
    (1e4 * number).round() / 1e4
}

fn names() -> impl Iterator<Item = String> {
    KERNELS.into_iter().flat_map(|kernel| TENSOR_TYPES.map(|tensor_type| format!("{kernel}.{}", tensor_type.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_file_is_what_would_be_written() {
        let stored = Mixes::stored().unwrap();
        assert_eq!(stored.to_json(), STORED);
        let Mix { of_all, of_vector, shared_bytes } = stored.of("matmul_tiles", "Q4_K");
        assert!(of_all < of_vector && of_vector < 1.0 && shared_bytes < 1.1, "one of several multiply-adds is another instruction");
    }

    #[test]
    fn missing_kernel_is_error() {
        let mut stored: Value = serde_json::from_str(STORED).unwrap();
        stored["kernels"].as_object_mut().unwrap().remove("matvec_shared.F16");
        assert_eq!(Mixes::read(&stored).unwrap_err().to_string(), "null is no number");
    }
}
