//! Tracks the width of an element for views that compute their own layout.

use std::time::Duration;

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;

use super::resize::on_resize;

/// Current inner width of `element` in CSS pixels, on screen and in print. 0 until the element is laid out.
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
    on_resize(element, measure);
    // Measure early, because the first resize event comes only when the browser draws.
    element.on_load(move |_| set_timeout(measure, Duration::ZERO));
    // The text view has already changed the layout for paper, because its listener was registered first.
    let before_print = window_event_listener(ev::beforeprint, move |_| measure());
    let after_print = window_event_listener(ev::afterprint, move |_| measure());
    on_cleanup(move || {
        before_print.remove();
        after_print.remove();
    });
    width
}
