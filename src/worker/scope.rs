//! A worker's end of the conversation with the page; [`super::client`] is the other.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, File, MessageEvent};

use super::envelope::Envelope;
use super::role::{INCOMPATIBLE, LISTENING};

/// Hands every request, and the local files beside it, to `on_request` for as long as the worker lives.
pub fn listen<Request: DeserializeOwned>(on_request: impl Fn(Envelope<Request>, Vec<File>) + 'static) {
    let listener = Closure::<dyn Fn(MessageEvent)>::new(move |message: MessageEvent| {
        let message: js_sys::Array = message.data().into();
        match serde_wasm_bindgen::from_value(message.get(0)) {
            Ok(request) => on_request(request, files(message.get(1))),
            // The page is of another version.
            Err(_) => say(INCOMPATIBLE),
        }
    });
    scope().set_onmessage(Some(listener.as_ref().unchecked_ref()));
    listener.forget();
    say(LISTENING);
}

/// Sends an event to the page.
pub fn post<Event: Serialize>(event: &Envelope<Event>) {
    say(&event.to_json());
}

/// The name that the page gave this worker.
pub fn name() -> String {
    scope().name()
}

fn say(message: &str) {
    scope().post_message(&message.into()).expect("a worker can post a string");
}

fn files(list: JsValue) -> Vec<File> {
    let list = list.dyn_into::<js_sys::Array>().unwrap_or_default();
    list.iter().filter_map(|file| file.dyn_into().ok()).collect()
}

fn scope() -> DedicatedWorkerGlobalScope {
    JsValue::from(js_sys::global()).unchecked_into()
}
