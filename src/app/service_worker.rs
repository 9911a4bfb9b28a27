//! Manages the service worker. The page registers it after a model from this site or the browser's storage is loaded, never for visitors
//! who only read a link. The page offers new versions.

use gloo::timers::future::TimeoutFuture;
use leptos::prelude::window;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ServiceWorkerContainer, ServiceWorkerRegistration};

const SCRIPT: &str = "./sw.js";
/// Interval between checks whether a version is installed, in ms.
const INSTALLING_MILLIS: u32 = 1_000;
/// The message that makes a waiting service worker take over.
const TAKE_OVER: &str = "take over";

/// Calls `report` with whether a newer version is waiting, now and after each change. Does nothing if no service worker serves the page.
pub fn watch_for_updates(report: impl Fn(bool) + Clone + 'static) {
    let Some(container) = container().filter(|container| container.controller().is_some()) else { return };
    spawn_local(async move {
        if let Some(registration) = registration(&container).await {
            watch(report, &registration);
            // Check now, because browsers check for updates at different times. Without a network the check fails.
            if let Ok(looked) = registration.update() {
                JsFuture::from(looked).await.ok();
            }
        }
    });
}

/// Calls `report` once this version is available offline: at once, or after [`register`].
pub fn watch_for_offline(report: impl FnOnce() + 'static) {
    let Some(ready) = container().and_then(|container| container.ready().ok()) else { return };
    spawn_local(async move {
        if JsFuture::from(ready).await.is_ok() {
            report();
        }
    });
}

/// Registers the service worker, which makes this version available offline. Does nothing if that is not possible.
pub fn register() {
    let Some(container) = container().filter(|container| container.controller().is_none()) else { return };
    spawn_local(async move {
        JsFuture::from(container.register(SCRIPT)).await.ok();
    });
}

/// Activates the waiting version and reloads the page with it.
pub fn activate_update() {
    let Some(container) = container() else { return };
    spawn_local(async move {
        let reload = || drop(window().location().reload());
        // Another tab may have activated it already.
        let Some(waiting) = registration(&container).await.and_then(|registration| registration.waiting()) else { return reload() };
        let on_change = Closure::<dyn Fn()>::new(reload);
        container.set_oncontrollerchange(Some(on_change.as_ref().unchecked_ref()));
        on_change.forget();
        // If the worker is gone, the next visit gets the new version anyway.
        drop(waiting.post_message(&JsValue::from(TAKE_OVER)));
    });
}

fn watch(report: impl Fn(bool) + Clone + 'static, registration: &ServiceWorkerRegistration) {
    let look = move |registration: &ServiceWorkerRegistration| report(registration.waiting().is_some());
    look(registration);
    let follow = {
        let registration = registration.clone();
        move || {
            let Some(coming) = registration.installing() else { return };
            let changed = {
                let (registration, look) = (registration.clone(), look.clone());
                Closure::<dyn Fn()>::new(move || look(&registration))
            };
            coming.set_onstatechange(Some(changed.as_ref().unchecked_ref()));
            // Both closures live as long as the page.
            changed.forget();
            spawn_local(look_when_installed(registration.clone(), look.clone()));
        }
    };
    // The browser may have found a version before this code ran, and `updatefound` was then fired already.
    follow();
    let found = Closure::<dyn Fn()>::new(follow);
    registration.set_onupdatefound(Some(found.as_ref().unchecked_ref()));
    found.forget();
}

/// Checks repeatedly until the worker is installed, because a busy `WebKitGTK` 2.50 was observed to fire no `statechange`.
async fn look_when_installed(registration: ServiceWorkerRegistration, look: impl Fn(&ServiceWorkerRegistration)) {
    while registration.installing().is_some() {
        TimeoutFuture::new(INSTALLING_MILLIS).await;
    }
    look(&registration);
}

async fn registration(container: &ServiceWorkerContainer) -> Option<ServiceWorkerRegistration> {
    JsFuture::from(container.get_registration()).await.ok()?.dyn_into().ok()
}

/// The service worker API. `None` at insecure addresses and in some private windows.
fn container() -> Option<ServiceWorkerContainer> {
    js_sys::Reflect::get(&window().navigator(), &"serviceWorker".into()).ok()?.dyn_into().ok()
}
