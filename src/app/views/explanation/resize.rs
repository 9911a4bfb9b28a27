//! Watches the size of an element.

use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::ResizeObserver;

/// Calls `measure` when `element` is first drawn and whenever its size changes, until the reactive owner is cleaned up.
pub fn on_resize(element: NodeRef<Div>, measure: impl Fn() + 'static) {
    let measure = Closure::<dyn FnMut()>::new(measure);
    let observer = ResizeObserver::new(measure.as_ref().unchecked_ref()).ok();
    let kept = StoredValue::new_local((observer, measure));
    element.on_load(move |element| {
        kept.with_value(|(observer, _)| observer.iter().for_each(|observer| observer.observe(&element)));
    });
    on_cleanup(move || {
        // The owner drops the closure. Disconnect first, because a later resize must not call it.
        kept.try_with_value(|(observer, _)| observer.iter().for_each(ResizeObserver::disconnect));
    });
}
