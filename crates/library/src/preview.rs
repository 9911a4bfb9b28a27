//! Facts about a model before it is downloaded.

use serde::{Deserialize, Serialize};

use super::download_spec::DownloadSpec;
use super::stored_models::StorageStatus;

/// Size of a download, and facts that decide whether the model will run here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelPreview {
    /// With the lengths that the server reports.
    pub spec: DownloadSpec,
    /// Whether an interrupted download can be resumed: the server supports ranges, and versions of the files can be distinguished.
    pub resumable: bool,
    pub facts: ModelFacts,
    pub device: DeviceFacts,
    /// Bytes downloaded by an earlier attempt.
    pub bytes_here: u64,
}

/// Facts from the header of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelFacts {
    pub architecture: String,
    /// Name according to the file.
    pub name: Option<String>,
    pub license: Option<String>,
    pub parameters: Option<u64>,
    /// Context length of the model, in tokens.
    pub context_length: u64,
    /// f32 keys and values of one token, in bytes.
    pub bytes_per_token: u64,
}

/// Facts about this device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub gpu: Option<GpuFacts>,
    /// Main memory in bytes, as coarsely as the browser reports it.
    pub memory: Option<u64>,
    pub storage: StorageStatus,
}

/// The GPU that the browser offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuFacts {
    /// WebGPU runs in software, on the CPU.
    pub is_software: bool,
    /// The largest buffer, in bytes.
    pub max_buffer: u64,
}
