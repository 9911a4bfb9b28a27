//! Keeps the focus of the keyboard in a useful place. What has it may be removed, hidden or disabled by what the visitor does with it.
//!
//! Then the focus goes to the nearest place around that can take it: to what an element names in `data-then` (a CSS selector), else to the
//! first element in it that takes the focus.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;
use web_sys::Element;

use super::browser;

/// Elements that may take the focus.
const FOCUSABLE: &str = "a[href], button, input, select, textarea, summary, [tabindex]";
/// Browsers take the focus from what is hidden or disabled after the next frame.
const FRAMES: u8 = 2;

/// Where the focus was last.
#[derive(Clone, Default)]
pub struct Focus {
    /// The element and those around it, the innermost first; empty where the visitor pressed something else.
    trail: Rc<RefCell<Vec<Element>>>,
    /// Until the next look; 0 where nothing has changed.
    frames: Rc<Cell<u8>>,
}

impl Focus {
    /// Follows the focus for as long as the page lives.
    pub fn follow() -> Self {
        let focus = Self::default();
        let (taken, left, pressed) = (focus.clone(), focus.clone(), focus.clone());
        let taken = window_event_listener(ev::focusin, move |event| drop(taken.trail.replace(around(event_target(&event)))));
        let left = window_event_listener(ev::pointerdown, move |_| left.trail.borrow_mut().clear());
        let pressed = window_event_listener(ev::click, move |_| pressed.page_changes());
        on_cleanup(move || [taken, left, pressed].into_iter().for_each(|listener| listener.remove()));
        focus
    }

    /// Something may change on the page: looks whether the focus is lost when it is drawn.
    pub fn page_changes(&self) {
        let is_looking = self.frames.replace(FRAMES) > 0;
        if !is_looking {
            self.wait();
        }
    }

    fn wait(&self) {
        let focus = self.clone();
        request_animation_frame(move || {
            focus.frames.update(|frames| frames - 1);
            match focus.frames.get() {
                0 => focus.restore(),
                _ => focus.wait(),
            }
        });
    }

    fn restore(&self) {
        if !browser::is_focus_lost() {
            return;
        }
        for element in self.trail.take() {
            let named = element.get_attribute("data-then").map(|selector| document().query_selector_all(&selector));
            let places = named.into_iter().chain([element.query_selector_all(FOCUSABLE)]).flatten();
            let inside = places.flat_map(|places| (0..places.length()).filter_map(move |i| places.item(i)));
            let is_taken = |place: &wasm_bindgen::JsValue| {
                browser::focus_in_place(place);
                !browser::is_focus_lost()
            };
            if is_taken(&element) || inside.into_iter().any(|place| is_taken(&place)) {
                return;
            }
        }
    }
}

fn around(element: Element) -> Vec<Element> {
    std::iter::successors(Some(element), |element| element.parent_element()).collect()
}
