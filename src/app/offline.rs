//! The service worker: kept as soon as a model of this site or of its storage is loaded, never for somebody who only reads a link. A new version is offered.

use leptos::prelude::{Set, window};
use leptos::task::spawn_local;
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ServiceWorkerContainer, ServiceWorkerRegistration};

use super::state::Page;

const SCRIPT: &str = "./sw.js";
/// What a waiting service worker understands.
const TAKE_OVER: &str = "take over";

impl Page {
    /// Looks, on a page that a service worker serves, whether a newer version waits.
    pub fn watch_for_updates(&self) {
        let Some(container) = container().filter(|container| container.controller().is_some()) else { return };
        let page = *self;
        spawn_local(async move {
            if let Ok(registration) = JsFuture::from(container.get_registration()).await
                && let Ok(registration) = registration.dyn_into::<ServiceWorkerRegistration>()
            {
                page.watch(&registration);
            }
        });
    }

    /// Keeps this version for use without a network. Where that is not possible, nothing changes.
    pub fn keep_for_offline(&self) {
        let Some(container) = container().filter(|container| container.controller().is_none()) else { return };
        spawn_local(async move {
            JsFuture::from(container.register(SCRIPT)).await.ok();
        });
    }

    fn watch(&self, registration: &ServiceWorkerRegistration) {
        let page = *self;
        let look = move |registration: &ServiceWorkerRegistration| page.update_waits.set(registration.waiting().is_some());
        look(registration);
        let found = {
            let registration = registration.clone();
            Closure::<dyn Fn()>::new(move || {
                let Some(coming) = registration.installing() else { return };
                let registration = registration.clone();
                let changed = Closure::<dyn Fn()>::new(move || look(&registration));
                coming.set_onstatechange(Some(changed.as_ref().unchecked_ref()));
                // Both live as long as the page.
                changed.forget();
            })
        };
        registration.set_onupdatefound(Some(found.as_ref().unchecked_ref()));
        found.forget();
    }

    /// Takes the version that waits: it serves the reloaded page.
    pub fn take_update(&self) {
        let Some(container) = container() else { return };
        spawn_local(async move {
            let Ok(registration) = JsFuture::from(container.get_registration()).await else { return };
            let Ok(registration) = registration.dyn_into::<ServiceWorkerRegistration>() else { return };
            let reload = Closure::<dyn Fn()>::new(|| drop(window().location().reload()));
            container.set_oncontrollerchange(Some(reload.as_ref().unchecked_ref()));
            reload.forget();
            if let Some(waiting) = registration.waiting() {
                // A worker that is gone needs no message: the next visit has it.
                drop(waiting.post_message(&JsValue::from(TAKE_OVER)));
            }
        });
    }
}

/// Absent in insecure addresses and some private windows.
fn container() -> Option<ServiceWorkerContainer> {
    js_sys::Reflect::get(&window().navigator(), &"serviceWorker".into()).ok()?.dyn_into().ok()
}
