//! What the engine finds out about this device when the visitor asks it to measure.

use serde::{Deserialize, Serialize};

/// Facts and measurements for a bug report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceReport {
    /// The engine that computes: see [`LoadedModel::backend`](crate::request::LoadedModel::backend).
    pub engine: String,
    /// Name and tensor type of the model.
    pub model: String,
    pub quantization: String,
    pub speed: TokenSpeed,
    /// The GPU, even if it does not compute; `None` if the browser gives no access to one.
    pub gpu: Option<GpuReport>,
}

/// Speed of the engine with the loaded model, in tokens per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenSpeed {
    /// Reading a text.
    pub read: f64,
    /// Generating an answer.
    pub generated: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuReport {
    /// Empty if unknown.
    pub name: String,
    /// Whether it runs on the CPU.
    pub is_software: bool,
    /// Size of the largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Peak f32 operations, in 1e9 per second, and bytes read from memory, in 1e9 per second. `None` if memory did not suffice.
    pub gflops: Option<f64>,
    pub gigabytes_per_second: Option<f64>,
    /// Shapes of the kernels that have several; `None` if all GPUs of this kind use the same.
    pub shapes: Option<String>,
    /// Largest difference between the log-probabilities of GPU and CPU on a part of the model, in nats, and the largest that is accepted.
    /// `None` if that part is too large, or if a value was not finite.
    pub nats: Option<f64>,
    pub accepted_nats: f64,
    /// The error of each group of kernels.
    pub kernels: Vec<KernelError>,
}

/// The error of a group of kernels in the self-test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelError {
    /// Technical name of the kernels, which is the same in every language.
    pub what: String,
    /// Largest error, relative to the largest correct value. `None` if a value was not finite, or if an exact result differs.
    pub error: Option<f32>,
    /// Whether the error is accepted.
    pub is_right: bool,
}
