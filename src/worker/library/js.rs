//! Promises of the browser, and what its errors are called.

use gloo::timers::future::TimeoutFuture;
use js_sys::{Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{WorkerGlobalScope, WorkerNavigator};

/// What the browser's storage refuses.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    #[error("the browser\u{2019}s storage for this site is full")]
    Full,
    #[error("another tab is using this model")]
    InUse,
    #[error("the browser does not let this page store files{0}")]
    Closed(String),
}

impl From<JsValue> for StorageError {
    fn from(error: JsValue) -> Self {
        match (error_name(&error).as_str(), text(&error, "message")) {
            ("QuotaExceededError", _) => Self::Full,
            ("NoModificationAllowedError", _) => Self::InUse,
            (_, message) if message.is_empty() => Self::Closed(message),
            (_, message) => Self::Closed(format!(" ({message})")),
        }
    }
}

/// What kind of error the browser calls it.
pub fn error_name(error: &JsValue) -> String {
    text(error, "name")
}

fn text(error: &JsValue, key: &str) -> String {
    Reflect::get(error, &key.into()).ok().and_then(|value| value.as_string()).unwrap_or_default()
}

/// What a promise comes to, as what it is known to be.
pub async fn settled<T: JsCast>(promise: Promise) -> Result<T, JsValue> {
    JsFuture::from(promise).await?.dyn_into()
}

pub fn scope() -> WorkerGlobalScope {
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
