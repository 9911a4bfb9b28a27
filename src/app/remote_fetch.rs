//! Fetches a file from another site. Gives up after silence, limits size and media type, and follows redirects within the site's host.

use gloo::timers::callback::Timeout;
use js_sys::{IteratorNext, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, ReadableStreamDefaultReader, ReferrerPolicy, Request, RequestCredentials, RequestInit, RequestMode, Response,
};

use super::state::remote::RemoteFailure;
use crate::library::address::is_on_same_host;

const MAX_BYTES: usize = 8 << 20;
/// Give up after this long without any bytes. A slow connection may take longer for the whole file.
const SILENT_MILLIS: u32 = 20_000;
/// Prefixes of the accepted media types: those of explanations, and generic ones.
const MEDIA_TYPES: [&str; 5] = ["application/json", "application/octet-stream", "text/", "image/svg+xml", "image/png"];

/// Fetches the file at this address, until `controller` aborts. Sends no cookies and no referrer.
pub async fn fetch(address: &str, controller: Option<AbortController>) -> Result<Vec<u8>, RemoteFailure> {
    let controller = controller.ok_or(RemoteFailure::NotReached)?;
    let signal = controller.signal();
    let silence = || {
        let abort = controller.clone();
        Timeout::new(SILENT_MILLIS, move || abort.abort())
    };
    // Dropping it stops the timer.
    let mut _silence = silence();
    // An aborted request was silent, or nobody waits for it: the other aborts below return errors of their own.
    let lost = |_| if signal.aborted() { RemoteFailure::TooSlow } else { RemoteFailure::NotReached };
    let init = RequestInit::new();
    init.set_signal(Some(&signal));
    init.set_mode(RequestMode::Cors);
    init.set_credentials(RequestCredentials::Omit);
    init.set_referrer_policy(ReferrerPolicy::NoReferrer);
    let request = Request::new_with_str_and_init(address, &init).map_err(|_| RemoteFailure::NotReached)?;
    let response: Response = JsFuture::from(window().fetch_with_request(&request)).await.map_err(lost)?.unchecked_into();
    // The visitor agreed to this host. A page learns where a redirect leads only after the browser has followed it.
    if !is_on_same_host(address, &response.url()) {
        controller.abort();
        return Err(RemoteFailure::NotReached);
    }
    check(&response).inspect_err(|_| controller.abort())?;
    let Some(body) = response.body() else { return Ok(Vec::new()) };
    let reader: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    let mut bytes = Vec::new();
    loop {
        let read: IteratorNext = JsFuture::from(reader.read()).await.map_err(lost)?.unchecked_into();
        _silence = silence();
        if read.done() {
            return Ok(bytes);
        }
        bytes.extend(read.value().unchecked_into::<Uint8Array>().to_vec());
        if bytes.len() > MAX_BYTES {
            controller.abort();
            return Err(RemoteFailure::TooLarge);
        }
    }
}

fn check(response: &Response) -> Result<(), RemoteFailure> {
    if !response.ok() {
        return Err(RemoteFailure::Status(response.status()));
    }
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let media_type = header("content-type").map(|value| value.to_ascii_lowercase());
    if let Some(other) = media_type.filter(|own| !MEDIA_TYPES.iter().any(|known| own.starts_with(known))) {
        return Err(RemoteFailure::MediaType(other));
    }
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > MAX_BYTES) { Err(RemoteFailure::TooLarge) } else { Ok(()) }
}
