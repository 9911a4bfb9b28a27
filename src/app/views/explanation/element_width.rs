//! Tracks the width of an element for views that compute their own layout.

use std::time::Duration;

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;

use super::resize::on_resize;

/// Width of the ruler at the usual font size in CSS pixels: 100 rem.
const RULER: f64 = 1600.0;

/// Current inner width of `element` in sixteenths of a rem, on screen and in print: CSS pixels, unless the page has larger type. `ruler` is
/// an element that is 100 rem wide. 0 until both are laid out.
pub fn element_width(element: NodeRef<Div>, ruler: NodeRef<Div>) -> RwSignal<f64> {
    let width = RwSignal::new(0.0);
    let measure = move || {
        if let Some((element, ruler)) = element.get_untracked().zip(ruler.get_untracked()) {
            let measured = (f64::from(element.client_width()) * RULER / f64::from(ruler.client_width().max(1))).floor();
            if width.get_untracked() != measured {
                width.set(measured);
            }
        }
    };
    on_resize(element, measure);
    on_resize(ruler, measure);
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
