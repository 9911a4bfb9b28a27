//! How wide an element is, for what is laid out by hand.

use std::time::Duration;

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::ResizeObserver;

/// The width of the content of `element` in CSS pixels, followed on screen and on paper; 0 while it is not laid out.
pub fn element_width(element: NodeRef<Div>) -> RwSignal<f64> {
    let width = RwSignal::new(0.0);
    let measure = move || {
        if let Some(element) = element.get_untracked() {
            let measured = f64::from(element.client_width());
            if width.get_untracked() != measured {
                width.set(measured);
            }
        }
    };
    let on_resize = Closure::<dyn FnMut()>::new(measure);
    let observer = ResizeObserver::new(on_resize.as_ref().unchecked_ref()).ok();
    let kept = StoredValue::new_local((observer, on_resize));
    element.on_load(move |element| {
        kept.with_value(|(observer, _)| observer.iter().for_each(|observer| observer.observe(&element)));
        // Before the observer, which speaks only when the browser draws.
        set_timeout(measure, Duration::ZERO);
    });
    // The text view has laid out the page for paper by then: it is told first.
    let before_print = window_event_listener(ev::beforeprint, move |_| measure());
    let after_print = window_event_listener(ev::afterprint, move |_| measure());
    on_cleanup(move || {
        before_print.remove();
        after_print.remove();
        // A resize seen until the element is gone must not reach what is disposed.
        kept.try_with_value(|(observer, _)| observer.iter().for_each(ResizeObserver::disconnect));
    });
    width
}
