//! Measurements of real GPUs: the lines that `gpu_run.sh` writes to `bench.jsonl`, added to a file of the repository after each run.

use std::fs;
use std::io::ErrorKind;

use anyhow::{Context, Result};
use serde_json::Value;

use super::gpus::Gpu;
use super::models::Model;
use crate::command::root;

/// Does not exist until a GPU was measured.
pub const FILE: &str = "docs/results/real-gpus.jsonl";

pub struct Measurements(Vec<Value>);

/// Measured speed of one model on one GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// Tokens per second.
    pub prefill: f64,
    pub decode: f64,
    pub job_seconds: f64,
}

impl Measurements {
    pub fn stored() -> Result<Self> {
        match fs::read_to_string(root().join(FILE)) {
            Ok(lines) => Self::read(&lines),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::read(""),
            Err(error) => Err(error).with_context(|| FILE),
        }
    }

    pub fn read(lines: &str) -> Result<Self> {
        Ok(Self(lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?))
    }

    /// The last measurement of this model on this GPU.
    pub fn of(&self, gpu: &Gpu, model: &Model) -> Option<Measurement> {
        let is_of = |line: &&Value| {
            let name = line["adapter"]["name"].as_str().unwrap_or_default();
            name.contains(gpu.adapter) && line["model"]["file"] == model.file().as_str()
        };
        let line = self.0.iter().rev().find(is_of)?;
        let number = |path: &str| line.pointer(path).and_then(Value::as_f64);
        Some(Measurement {
            prefill: number("/prefill/per_second")?,
            decode: number("/decode/per_second")?,
            job_seconds: number("/job/shared_prefix/wall_seconds")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::gpus::GPUS;
    use super::super::models::models;
    use super::*;

    #[test]
    fn last_line_of_gpu_and_model_counts() {
        let line = |adapter: &str, prefill: f64| {
            json!({"adapter": {"name": adapter}, "model": {"file": "random-0.6b-Q8_0.gguf"}, "prefill": {"per_second": prefill},
                   "decode": {"per_second": 5.0}, "job": {"shared_prefix": {"wall_seconds": 0.5}}})
        };
        let lines = ["NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3"].iter().zip([1.0, 2.0, 3.0]);
        let text: String = lines.map(|(adapter, prefill)| line(adapter, prefill).to_string() + "\n").collect();
        let (measurements, models) = (Measurements::read(&text).unwrap(), models());
        let of = |adapter: &str, model| measurements.of(GPUS.iter().find(|gpu| gpu.adapter == adapter).unwrap(), model);
        assert_eq!(of("H100", &models[0]), Some(Measurement { prefill: 3.0, decode: 5.0, job_seconds: 0.5 }));
        assert_eq!(of("H200", &models[0]).map(|measured| measured.prefill), Some(1.0));
        assert_eq!((of("H100", &models[1]), of("Apple M2", &models[0])), (None, None));
    }
}
