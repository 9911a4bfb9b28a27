//! Tells a pointer that moves from content that moves under a resting pointer. Browsers report both as `pointerenter`.

use std::cell::Cell;

use leptos::ev;
use leptos::prelude::*;

thread_local! {
    /// Position of the pointer on the screen, in CSS pixels.
    static POSITION: Cell<Option<[i32; 2]>> = const { Cell::new(None) };
}

/// Follows the pointer until the current owner is disposed of.
pub fn follow() {
    let listener = window_event_listener(ev::pointermove, |event| POSITION.set(Some(position(&event))));
    on_cleanup(move || listener.remove());
}

/// Whether the pointer itself has moved since the last event. Elements receive an event before the listener of [`follow`] does.
pub fn has_moved(event: &ev::PointerEvent) -> bool {
    POSITION.get() != Some(position(event))
}

fn position(event: &ev::PointerEvent) -> [i32; 2] {
    [event.screen_x(), event.screen_y()]
}
