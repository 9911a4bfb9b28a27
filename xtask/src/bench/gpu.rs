//! Measures models of real size on a real GPU, and compares the results with the GPU's peak throughput.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::engine;
use super::table::shown;
use crate::gpu_budgets::prediction::JOB;
use crate::gpu_budgets::prediction::models::models;
use crate::gpu_budgets::prediction::work::Job;
use crate::random_model;
use crate::setup::Tools;

/// Measurements of each model. Empty if the GPU is emulated in software.
pub fn measure(native: &Tools, target: &Path, native_gpu: &Value) -> Result<Value> {
    if native_gpu.pointer("/adapter/is_software").and_then(Value::as_bool) != Some(false) {
        return Ok(json!([]));
    }
    let Job { tokens, sentences, generated } = JOB;
    let models = models().into_iter().map(|model| {
        let (shape, quant) = (model.name, model.tensor_type.name);
        let file = random_model::make(native, shape, quant)?;
        Ok(json!({"shape": shape, "quant": quant, "numbers": engine::native(target, &file, "gpu", [tokens, sentences, generated])?}))
    });
    Ok(Value::Array(models.collect::<Result<_>>()?))
}

/// Throughput that one model reached, relative to the GPU's peak.
pub struct Reached<'a> {
    pub shape: &'a str,
    quant: &'a str,
    /// Share of the peak arithmetic that the matrices of a prefill reach, in [0, 1].
    pub arithmetic: f64,
    /// Share of the peak memory bandwidth that reading weights during decoding reaches, in [0, 1].
    pub bandwidth: f64,
    /// Time of the job, divided by the time of its matrices at peak arithmetic.
    pub to_ideal: f64,
    /// Time of the job, divided by the time to generate its answer.
    pub to_answer: f64,
    job_seconds: f64,
    decode_per_second: f64,
}

/// Results of each measured model.
pub fn reached(report: &Value) -> Vec<Reached<'_>> {
    report["gpu"].as_array().into_iter().flatten().filter_map(Reached::of).collect()
}

impl<'a> Reached<'a> {
    fn of(measured: &'a Value) -> Option<Self> {
        let number = |path: &str| measured["numbers"].pointer(path).and_then(Value::as_f64);
        Some(Self {
            shape: measured["shape"].as_str()?,
            quant: measured["quant"].as_str()?,
            arithmetic: number("/reached/arithmetic")?,
            bandwidth: number("/reached/bandwidth")?,
            to_ideal: number("/reached/job_to_ideal")?,
            to_answer: number("/reached/job_to_answer")?,
            job_seconds: number("/job/shared_prefix/wall_seconds")?,
            decode_per_second: number("/decode/per_second")?,
        })
    }

    fn row(&self) -> String {
        let cells =
            [self.decode_per_second, 100.0 * self.bandwidth, 100.0 * self.arithmetic, self.job_seconds, self.to_ideal, self.to_answer];
        format!("| {} {} | {} |\n", self.shape, self.quant, cells.map(shown).join(" | "))
    }
}

/// A row per model, and the peak throughput of the GPU. Empty without a real GPU.
pub fn table(report: &Value) -> String {
    let reached = reached(report);
    if reached.is_empty() {
        return String::new();
    }
    let ceiling = |key: &str| report.pointer(&format!("/native_gpu/ceilings/{key}")).and_then(Value::as_f64).map_or(String::new(), shown);
    let mut text = format!(
        "\nThis GPU's ceilings: {} GFLOP/s in f32, {} GB/s. Job of {} tokens in {} sentences, {} of them generated.\n\n",
        ceiling("gflops"),
        ceiling("gigabytes_per_second"),
        JOB.tokens,
        JOB.sentences,
        JOB.generated,
    );
    text += "| model | decode, tokens/s | % of bandwidth | mat-mat, % of f32 | job, s | job : ideal | job : answer |\n";
    text += "| --- | --- | --- | --- | --- | --- | --- |\n";
    reached.iter().for_each(|model| text += &model.row());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_row_for_each_measured_model() {
        let numbers = json!({
            "reached": {"arithmetic": 0.3, "bandwidth": 0.6, "job_to_ideal": 2.4, "job_to_answer": 3.75},
            "decode": {"per_second": 50.0},
            "job": {"shared_prefix": {"wall_seconds": 12.0}},
        });
        let report = json!({"gpu": [{"shape": "1b", "quant": "Q8_0", "numbers": numbers}, {"shape": "1b", "quant": "F16"}]});
        let [model] = &reached(&report)[..] else { panic!("one model was measured") };
        assert_eq!((model.shape, model.arithmetic, model.bandwidth), ("1b", 0.3, 0.6));
        assert!(table(&report).contains("| 1b Q8_0 | 50.0 | 60.0 | 30.0 | 12.0 | 2.40 | 3.75 |"));
    }
}
