//! Waiting for what the GPU has to say.

use futures::channel::oneshot::Receiver;
use wgpu::SubmissionIndex;

/// Work of the GPU that can be waited for.
pub struct Submission {
    pub index: SubmissionIndex,
    /// When it ended, in seconds since the device was opened.
    pub ended: Receiver<f64>,
}

/// What a callback says; `None` where it will never be called. Who asks has polled the device: natively, nothing comes after that.
#[cfg(not(target_arch = "wasm32"))]
pub async fn told<T>(_: &wgpu::Queue, mut told: Receiver<T>) -> Option<T> {
    told.try_recv().ok().flatten()
}

/// What a callback says; `None` where it will never be called. Firefox looks every 100 ms which work has ended (Mozilla's bug 1870699),
/// and at every submission: there, empty ones are made.
#[cfg(target_arch = "wasm32")]
pub async fn told<T>(queue: &wgpu::Queue, mut told: Receiver<T>) -> Option<T> {
    use futures::future::{Either, select};
    use gloo::timers::future::TimeoutFuture;

    if !is_gecko() {
        return told.await.ok();
    }
    loop {
        match select(told, TimeoutFuture::new(1)).await {
            Either::Left((told, _)) => return told.ok(),
            Either::Right(((), pending)) => told = pending,
        }
        queue.submit([]);
    }
}

/// Whether Firefox's engine runs us; others say "like Gecko".
#[cfg(target_arch = "wasm32")]
fn is_gecko() -> bool {
    let get = |object: &_, name: &str| js_sys::Reflect::get(object, &name.into()).unwrap_or_default();
    let user_agent = get(&get(&js_sys::global(), "navigator"), "userAgent");
    user_agent.as_string().is_some_and(|text| text.contains("Gecko/"))
}
