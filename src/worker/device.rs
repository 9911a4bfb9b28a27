//! What the browser says about this device.

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use super::js::navigator;
use super::storage::stored_models::storage_status;
use crate::library::preview::{DeviceFacts, GpuFacts};

pub async fn facts() -> DeviceFacts {
    DeviceFacts { gpu: gpu().await, memory: memory(), storage: storage_status().await }
}

/// The GPU that the engine would use (`GPUAdapter` of the WebGPU specification). Does not open it. `None` if the browser offers none.
async fn gpu() -> Option<GpuFacts> {
    let gpu = get(&navigator(), "gpu")?;
    let request_adapter: Function = get(&gpu, "requestAdapter")?.dyn_into().ok()?;
    let options = Object::new();
    Reflect::set(&options, &"powerPreference".into(), &"high-performance".into()).ok()?;
    let adapter: Promise = request_adapter.call1(&gpu, &options).ok()?.dyn_into().ok()?;
    let adapter = JsFuture::from(adapter).await.ok()?;
    let limits = get(&adapter, "limits")?;
    let limit = |name: &str| get(&limits, name)?.as_f64();
    let is_fallback = get(&adapter, "info").and_then(|info| get(&info, "isFallbackAdapter"));
    Some(GpuFacts {
        is_software: is_fallback.is_some_and(|is_fallback| is_fallback.is_truthy()),
        // A kernel binds whole buffers.
        max_buffer: limit("maxStorageBufferBindingSize")?.min(limit("maxBufferSize")?) as u64,
    })
}

/// Number of logical processors.
pub fn cores() -> u64 {
    navigator().hardware_concurrency() as u64
}

/// Main memory in bytes, if the browser reports it.
pub fn memory() -> Option<u64> {
    let gibibytes = get(&navigator(), "deviceMemory")?.as_f64()?;
    Some((gibibytes * f64::from(1 << 30)) as u64)
}

/// A property of a browser object. `None` if the object lacks it, or is null.
fn get(object: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(object, &name.into()).ok().filter(|value| !value.is_undefined())
}
