//! A Web Lock, held until it is dropped. Ensures that only one tab works on a model.

use futures::channel::oneshot;
use futures::future::{Either, select};
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::{Closure, JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

use crate::worker::js::navigator;

/// A lock that this worker holds.
pub struct Lock {
    /// `None` if the browser offers no locks here, or denies them.
    release: Option<Function>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(release) = &self.release {
            // Resolving our own promise cannot fail.
            drop(release.call0(&JsValue::UNDEFINED));
        }
    }
}

impl Lock {
    /// The lock of this model. `None` if another tab, or another task of this one, holds it.
    ///
    /// Always granted if the browser has no locks (at an insecure address) or denies them (with storage blocked). Then only file handles
    /// keep tabs apart.
    pub async fn try_acquire(name: &str) -> Option<Self> {
        let locks = Reflect::get(&navigator(), &"locks".into()).ok().filter(JsValue::is_object);
        let Some(request) = locks.as_ref().and_then(|locks| Reflect::get(locks, &"request".into()).ok()?.dyn_into::<Function>().ok())
        else {
            return Some(Self::without_browser());
        };
        let (sender, granted) = oneshot::channel();
        let on_grant = Closure::once_into_js(move |lock: JsValue| -> JsValue {
            let mut release = None;
            let held = Promise::new(&mut |resolve, _| release = Some(resolve));
            let is_ours = !lock.is_null();
            // Sending fails if the download was given up and no longer waits for the lock.
            drop(sender.send(release.filter(|_| is_ours)));
            if is_ours { held.into() } else { JsValue::UNDEFINED }
        });
        let options = Object::new();
        Reflect::set(&options, &"ifAvailable".into(), &true.into()).ok()?;
        let requested = request.call3(&locks?, &format!("glasscage-model-{name}").into(), &options, &on_grant);
        let Some(ended) = requested.ok().and_then(|promise| promise.dyn_into::<Promise>().ok()) else {
            return Some(Self::without_browser());
        };
        // The promise ends when the lock is released. It rejects without a call of `on_grant` if the browser denies locks.
        let granted = match select(granted, JsFuture::from(ended)).await {
            Either::Left((granted, _)) => granted,
            Either::Right((Err(_), _)) => return Some(Self::without_browser()),
            Either::Right((Ok(_), granted)) => granted.await,
        };
        granted.ok().flatten().map(|release| Self { release: Some(release) })
    }

    fn without_browser() -> Self {
        Self { release: None }
    }
}
