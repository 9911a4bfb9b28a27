//! Describes a GPU and its driver for measurements: properties, limits and optional features. Natively only.

use serde::Serialize;

use super::device::{Gpu, request_adapter};
use crate::lm::LmError;

/// Properties of the best available adapter, in the words of its driver.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    pub name: String,
    pub backend: String,
    pub kind: String,
    /// PCI identifiers of the vendor and the device.
    pub vendor: u32,
    pub device: u32,
    pub driver: String,
    pub driver_version: String,
    /// Smallest and largest number of invocations that run in lockstep.
    pub subgroup_sizes: [u32; 2],
    pub limits: Limits,
    /// Names of the optional features that the adapter has.
    pub features: Vec<String>,
}

/// Limits that kernels depend on, in bytes or invocations.
#[derive(Clone, Debug, Serialize)]
pub struct Limits {
    pub buffer_size: u64,
    pub storage_buffer_binding_size: u64,
    pub storage_buffers_per_shader_stage: u32,
    pub workgroup_storage_size: u32,
    pub invocations_per_workgroup: u32,
    pub workgroups_per_dimension: u32,
}

/// Describes the adapter that [`Gpu::open`] opens, without opening it.
pub async fn describe() -> Result<Description, LmError> {
    let adapter = request_adapter().await.ok_or(LmError::NoGpu)?;
    let (info, limits) = (adapter.get_info(), adapter.limits());
    Ok(Description {
        name: info.name,
        backend: info.backend.to_string(),
        kind: format!("{:?}", info.device_type),
        vendor: info.vendor,
        device: info.device,
        driver: info.driver,
        driver_version: info.driver_info,
        subgroup_sizes: [info.subgroup_min_size, info.subgroup_max_size],
        limits: Limits {
            buffer_size: limits.max_buffer_size,
            storage_buffer_binding_size: limits.max_storage_buffer_binding_size,
            storage_buffers_per_shader_stage: limits.max_storage_buffers_per_shader_stage,
            workgroup_storage_size: limits.max_compute_workgroup_storage_size,
            invocations_per_workgroup: limits.max_compute_invocations_per_workgroup,
            workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
        },
        features: adapter.features().iter_names().map(|(name, _)| name.to_owned()).collect(),
    })
}

/// Size of the buffers that fill the memory.
const PIECE_BYTES: u64 = 1 << 30;

/// Result of filling the memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Exhaustion {
    /// Bytes that could be allocated.
    pub allocated_bytes: u64,
    /// Whether a further allocation was refused.
    pub is_refused: bool,
}

impl Gpu {
    /// Allocates buffers until one is refused, or until there are `most` bytes. Then frees them.
    pub async fn exhaust_memory(&self, most: u64) -> Exhaustion {
        let piece = PIECE_BYTES.min(self.max_buffer_bytes).min(most).max(4) / 4 * 4;
        let mut pieces = Vec::new();
        let mut is_refused = false;
        while !is_refused && (pieces.len() as u64 + 1) * piece <= most {
            match self.try_allocate(|| self.buffer("piece", piece as usize / 4)).await {
                Ok(buffer) => pieces.push(buffer),
                Err(_) => is_refused = true,
            }
        }
        Exhaustion { allocated_bytes: pieces.len() as u64 * piece, is_refused }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::device::Options;

    #[tokio::test]
    async fn description_is_of_the_opened_adapter() {
        let (gpu, description) = (Gpu::open(&Options::default()).await.unwrap(), describe().await.unwrap());
        assert_eq!(description.name, gpu.adapter.name);
        assert_eq!(description.limits.buffer_size.min(description.limits.storage_buffer_binding_size), gpu.max_buffer_bytes);
        assert!(description.limits.workgroup_storage_size >= 16 << 10, "WebGPU guarantees as much: {description:?}");
    }

    #[tokio::test]
    async fn filled_memory_is_free_afterward() {
        let gpu = Gpu::open(&Options::default()).await.unwrap();
        let filled = gpu.exhaust_memory(3 << 20).await;
        assert_eq!((filled.allocated_bytes, filled.is_refused), (3 << 20, false));
        assert_eq!(gpu.stats.allocated_bytes.get(), 0);
        let buffer = gpu.buffer_with("small", &[7]);
        assert_eq!(gpu.read(&buffer, 1).await.unwrap(), [7]);
    }
}
