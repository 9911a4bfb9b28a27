//! The worker's end of the communication with the page. [`super::client`] is the page's end.

use js_sys::Promise;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, MessageChannel, MessageEvent};

use super::envelope::Envelope;
use super::js::scope;
use super::role::{INCOMPATIBLE, LISTENING};

/// Passes every request with its local files to `on_request` until the worker is terminated.
pub fn listen<Request: DeserializeOwned>(on_request: impl Fn(Envelope<Request>, Vec<File>) + 'static) {
    listen_to_values(move |message| {
        let message: js_sys::Array = message.into();
        match serde_wasm_bindgen::from_value(message.get(0)) {
            Ok(request) => on_request(request, files(message.get(1))),
            // The page has another version.
            Err(_) => post_text(INCOMPATIBLE),
        }
    });
}

/// Passes every message to `on_message` until the worker is terminated.
pub fn listen_to_values(on_message: impl Fn(JsValue) + 'static) {
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| on_message(message.data()));
    scope().set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    post_text(LISTENING);
}

/// Yields until pending messages have been handled. A timer would take four milliseconds.
pub async fn let_messages_in() {
    let Ok(channel) = MessageChannel::new() else { return };
    let mut send = |resolve: js_sys::Function, _| {
        channel.port1().set_onmessage(Some(&resolve));
        channel.port2().post_message(&JsValue::NULL).expect("a port takes a message");
    };
    // The promise never rejects.
    drop(JsFuture::from(Promise::new(&mut send)).await);
    channel.port1().close();
}

/// Sends an event to the page.
pub fn post<Event: Serialize>(event: &Envelope<Event>) {
    post_text(&event.to_json());
}

/// The name that the page gave this worker.
pub fn name() -> String {
    scope().name()
}

/// Sends numbers to the creator of this worker.
pub fn post_numbers(numbers: &[f64]) {
    scope().post_message(&js_sys::Float64Array::from(numbers)).expect("a worker can post numbers");
}

/// URL of this worker's script.
pub fn script() -> String {
    scope().location().href()
}

/// Size of this worker's WebAssembly memory in bytes. It never shrinks, so this is also the peak.
pub fn heap_bytes() -> u64 {
    let memory: js_sys::WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let buffer: js_sys::ArrayBuffer = memory.buffer().unchecked_into();
    buffer.byte_length().into()
}

fn post_text(message: &str) {
    scope().post_message(&message.into()).expect("a worker can post a string");
}

fn files(list: JsValue) -> Vec<File> {
    let list = list.dyn_into::<js_sys::Array>().unwrap_or_default();
    list.iter().filter_map(|file| file.dyn_into().ok()).collect()
}
