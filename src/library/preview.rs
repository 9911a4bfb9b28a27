//! What is known of a model before it is downloaded.

use serde::{Deserialize, Serialize};

use super::download_spec::DownloadSpec;
use super::stored_models::StorageStatus;

/// What a download costs, and whether the model will run here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelPreview {
    /// With the lengths that the server states.
    pub spec: DownloadSpec,
    /// Whether an interrupted download can be resumed: whether the server serves ranges.
    pub resumable: bool,
    pub facts: ModelFacts,
    pub device: DeviceFacts,
    /// Downloaded by an earlier attempt.
    pub bytes_here: u64,
}

/// What the header of the file states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    pub architecture: String,
    /// As the file calls itself.
    pub name: Option<String>,
    pub license: Option<String>,
    pub parameters: Option<u64>,
    /// The longest text that the model was made for, in tokens.
    pub context_length: u64,
    /// f32 keys and values of one token, in bytes.
    pub bytes_per_token: u64,
}

/// What this device has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub gpu: Option<GpuFacts>,
    /// Main memory in bytes, as coarsely as the browser states it.
    pub memory: Option<u64>,
    pub storage: StorageStatus,
}

/// The GPU that the browser gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuFacts {
    /// WebGPU is there, but in software, on the CPU.
    pub is_software: bool,
    /// The largest buffer, in bytes.
    pub max_buffer: u64,
}
