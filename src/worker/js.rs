//! Awaits browser promises and converts browser errors.

use gloo::timers::future::TimeoutFuture;
use js_sys::{Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{DedicatedWorkerGlobalScope, WorkerNavigator};

use crate::library::errors::StorageError;

/// The storage error that a browser error stands for.
pub fn storage_error(error: JsValue) -> StorageError {
    match error_name(&error).as_str() {
        "QuotaExceededError" => StorageError::Full,
        "NoModificationAllowedError" => StorageError::InUse,
        _ => StorageError::Denied(text(&error, "message")),
    }
}

/// The `name` of a browser error, such as `NotFoundError`.
pub fn error_name(error: &JsValue) -> String {
    text(error, "name")
}

/// The text in a field of a browser error. Empty if the field is missing or not a text.
fn text(error: &JsValue, key: &str) -> String {
    Reflect::get(error, &key.into()).ok().and_then(|value| value.as_string()).unwrap_or_default()
}

/// Awaits a promise and casts its result to the expected type.
pub async fn await_as<T: JsCast>(promise: Promise) -> Result<T, JsValue> {
    JsFuture::from(promise).await?.dyn_into()
}

/// The global object of this worker.
pub fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

pub fn navigator() -> WorkerNavigator {
    scope().navigator()
}

pub fn now_millis() -> f64 {
    js_sys::Date::now()
}

pub async fn sleep(millis: u32) {
    TimeoutFuture::new(millis).await;
}
