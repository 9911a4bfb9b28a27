//! The service worker: registered as soon as a model of this site or of its storage is loaded, never for somebody who only reads
//! a link. A new version is offered.

use gloo::timers::future::TimeoutFuture;
use leptos::prelude::window;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ServiceWorkerContainer, ServiceWorkerRegistration};

const SCRIPT: &str = "./sw.js";
/// How often a page looks whether a version is installed.
const INSTALLING_MILLIS: u32 = 1_000;
/// What a waiting service worker understands.
const TAKE_OVER: &str = "take over";

/// Tells `report`, on a page that a service worker serves, whether a newer version waits, now and whenever that changes.
pub fn watch_for_updates(report: impl Fn(bool) + Clone + 'static) {
    let Some(container) = container().filter(|container| container.controller().is_some()) else { return };
    spawn_local(async move {
        if let Some(registration) = registration(&container).await {
            watch(report, &registration);
            // Browsers look by themselves when a page is opened, each at a time of its own. Without a network there is no answer.
            if let Ok(looked) = registration.update() {
                JsFuture::from(looked).await.ok();
            }
        }
    });
}

/// Calls `report` as soon as this version is kept for use without a network: at once, or after [`register`].
pub fn watch_for_offline(report: impl FnOnce() + 'static) {
    let Some(ready) = container().and_then(|container| container.ready().ok()) else { return };
    spawn_local(async move {
        if JsFuture::from(ready).await.is_ok() {
            report();
        }
    });
}

/// Keeps this version for use without a network. Where that is not possible, nothing changes.
pub fn register() {
    let Some(container) = container().filter(|container| container.controller().is_none()) else { return };
    spawn_local(async move {
        JsFuture::from(container.register(SCRIPT)).await.ok();
    });
}

/// Activates the version that waits: it serves the reloaded page.
pub fn activate_update() {
    let Some(container) = container() else { return };
    spawn_local(async move {
        let reload = || drop(window().location().reload());
        // Another tab may have activated it already.
        let Some(waiting) = registration(&container).await.and_then(|registration| registration.waiting()) else { return reload() };
        let on_change = Closure::<dyn Fn()>::new(reload);
        container.set_oncontrollerchange(Some(on_change.as_ref().unchecked_ref()));
        on_change.forget();
        // A worker that is gone needs no message: the next visit has it.
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
    // The browser may have found one before this page's code ran: then `updatefound` was fired already.
    follow();
    let found = Closure::<dyn Fn()>::new(follow);
    registration.set_onupdatefound(Some(found.as_ref().unchecked_ref()));
    found.forget();
}

/// A busy `WebKitGTK` 2.50 has been seen to fire no `statechange` when a worker was installed.
async fn look_when_installed(registration: ServiceWorkerRegistration, look: impl Fn(&ServiceWorkerRegistration)) {
    while registration.installing().is_some() {
        TimeoutFuture::new(INSTALLING_MILLIS).await;
    }
    look(&registration);
}

async fn registration(container: &ServiceWorkerContainer) -> Option<ServiceWorkerRegistration> {
    JsFuture::from(container.get_registration()).await.ok()?.dyn_into().ok()
}

/// Absent in insecure addresses and some private windows.
fn container() -> Option<ServiceWorkerContainer> {
    js_sys::Reflect::get(&window().navigator(), &"serviceWorker".into()).ok()?.dyn_into().ok()
}
