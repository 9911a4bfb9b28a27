//! Keeps the keyboard focus in a useful place. A visitor's action may remove, hide or disable the focused element.
//!
//! Then the focus moves to the nearest place that can take it. For each ancestor, innermost first, the places are: the elements that its
//! `data-then` (a CSS selector) matches, the ancestor itself, and the focusable elements inside it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use web_sys::{Element, NodeList};

use super::browser;

/// Selector of the elements that may take the focus.
const FOCUSABLE: &str = "a[href], button, input, select, textarea, summary, [tabindex]";
/// Frames to check after a change. A view may be drawn in parts, so that the focus is lost later.
const FRAMES: u8 = 8;
/// Frames before the first check, so that what replaces the focused element is drawn.
const DRAWN: u8 = 2;

/// Remembers the last place of the focus.
#[derive(Clone, Default)]
pub struct Focus {
    /// The element and its ancestors, innermost first. Empty if the visitor has clicked elsewhere.
    trail: Rc<RefCell<Vec<Element>>>,
    /// Frames until the last check. 0 if no check is pending.
    frames: Rc<Cell<u8>>,
}

impl Focus {
    /// Follows the focus for as long as the page lives.
    pub fn follow() -> Self {
        let focus = Self::default();
        let (taken, left) = (focus.trail.clone(), focus.trail.clone());
        let taken = window_event_listener(ev::focusin, move |event| {
            let mut trail = taken.borrow_mut();
            trail.clear();
            let mut next = Some(event_target::<Element>(&event));
            while let Some(element) = next {
                next = element.parent_element();
                trail.push(element);
            }
        });
        let left = window_event_listener(ev::pointerdown, move |_| left.borrow_mut().clear());
        // A button may change the page without a message.
        let clicked = focus.clone();
        let pressed = window_event_listener(ev::click, move |_| clicked.page_changes());
        on_cleanup(move || {
            taken.remove();
            left.remove();
            pressed.remove();
        });
        focus
    }

    /// The page calls this when it may change. Checks whether the focus is lost after the change is rendered.
    pub fn page_changes(&self) {
        let is_looking = self.frames.replace(FRAMES) > 0;
        if !is_looking {
            self.clone().wait();
        }
    }

    fn wait(self) {
        request_animation_frame(move || {
            let left = self.frames.get() - 1;
            self.frames.set(left);
            if left <= FRAMES - DRAWN {
                self.restore();
            }
            if left > 0 {
                self.wait();
            }
        });
    }

    fn restore(&self) {
        if !browser::is_focus_lost() {
            return;
        }
        let trail = self.trail.take();
        let is_restored = trail.iter().any(|element| {
            let is_named = element.get_attribute("data-then").is_some_and(|named| is_taken(document().query_selector_all(&named)));
            is_named || browser::take_focus(element) || is_taken(element.query_selector_all(FOCUSABLE))
        });
        if !is_restored {
            *self.trail.borrow_mut() = trail;
        }
    }
}

/// Focuses the first of `places` that takes the focus. Returns whether one does.
fn is_taken(places: Result<NodeList, JsValue>) -> bool {
    places.is_ok_and(|places| (0..places.length()).any(|i| places.item(i).is_some_and(|place| browser::take_focus(&place))))
}
