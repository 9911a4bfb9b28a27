//! How wide an element is, for what is laid out by hand.

use std::time::Duration;

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;

use super::resize::on_resize;

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
    on_resize(element, measure);
    // Before that is told, which is only when the browser draws.
    element.on_load(move |_| set_timeout(measure, Duration::ZERO));
    // The text view has laid out the page for paper by then: it is told first.
    let before_print = window_event_listener(ev::beforeprint, move |_| measure());
    let after_print = window_event_listener(ev::afterprint, move |_| measure());
    on_cleanup(move || {
        before_print.remove();
        after_print.remove();
    });
    width
}
