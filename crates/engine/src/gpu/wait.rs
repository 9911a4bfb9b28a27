//! Waits for GPU work.

use futures::channel::oneshot::Receiver;
use wgpu::SubmissionIndex;

/// GPU work that the caller can wait for.
pub struct Submission {
    pub index: SubmissionIndex,
    /// Receives the time when the work ended, in seconds since the device was opened.
    pub ended: Receiver<f64>,
}

/// Returns the value that a callback sends, or `None` if the callback will never run. The caller must poll the device first: natively,
/// callbacks run only then.
#[cfg(not(target_arch = "wasm32"))]
pub async fn await_callback<T>(_: &wgpu::Queue, mut receiver: Receiver<T>) -> Option<T> {
    receiver.try_recv().ok().flatten()
}

/// Returns the value that a callback sends, or `None` if the callback will never run. Firefox checks for finished work only every 100 ms
/// (Mozilla bug 1870699) and at every submission, so this makes empty submissions there.
#[cfg(target_arch = "wasm32")]
pub async fn await_callback<T>(queue: &wgpu::Queue, mut receiver: Receiver<T>) -> Option<T> {
    use futures::future::{Either, select};
    use gloo::timers::future::TimeoutFuture;

    if !is_gecko() {
        return receiver.await.ok();
    }
    loop {
        match select(receiver, TimeoutFuture::new(1)).await {
            Either::Left((value, _)) => return value.ok(),
            Either::Right(((), pending)) => receiver = pending,
        }
        queue.submit([]);
    }
}

/// Whether this runs in Firefox's engine. Other browsers say "like Gecko".
#[cfg(target_arch = "wasm32")]
fn is_gecko() -> bool {
    let get = |object: &_, name: &str| js_sys::Reflect::get(object, &name.into()).unwrap_or_default();
    let user_agent = get(&get(&js_sys::global(), "navigator"), "userAgent");
    user_agent.as_string().is_some_and(|text| text.contains("Gecko/"))
}
