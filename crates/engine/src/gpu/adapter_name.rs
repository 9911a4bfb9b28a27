//! The name of the GPU. Natively, wgpu knows it. In a browser, wgpu reads only the description, which most browsers leave empty. So we
//! read the vendor and the architecture ourselves (`GPUAdapterInfo` of the WebGPU specification).

/// For example "nvidia ampere" or "llvmpipe (LLVM 15.0.6, 256 bits)"; empty if unknown.
pub async fn adapter_name(info: &wgpu::AdapterInfo) -> String {
    match info.name.is_empty() {
        true => name_from_browser().await.unwrap_or_default(),
        false => info.name.clone(),
    }
}

#[cfg(not(target_arch = "wasm32"))]
async fn name_from_browser() -> Option<String> {
    None
}

#[cfg(target_arch = "wasm32")]
async fn name_from_browser() -> Option<String> {
    use js_sys::{Function, Object, Promise, Reflect};
    use wasm_bindgen::{JsCast, JsValue};

    let get = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).ok().filter(|value| !value.is_undefined());
    let gpu = get(&get(&js_sys::global(), "navigator")?, "gpu")?;
    let request_adapter: Function = get(&gpu, "requestAdapter")?.dyn_into().ok()?;
    let options = Object::new();
    Reflect::set(&options, &"powerPreference".into(), &"high-performance".into()).ok()?;
    let adapter: Promise = request_adapter.call1(&gpu, &options).ok()?.dyn_into().ok()?;
    let adapter = wasm_bindgen_futures::JsFuture::from(adapter).await.ok()?;
    let info = get(&adapter, "info")?;
    let words = ["vendor", "architecture"].map(|field| get(&info, field).and_then(|value| value.as_string()).unwrap_or_default());
    Some(words.join(" ").trim().to_owned())
}
