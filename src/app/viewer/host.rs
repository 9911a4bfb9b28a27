//! The page around the viewer: what it says is read, and it hears what is on screen and how much room that needs.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, ResizeObserver, Window};

use super::protocol::{Event, Explained, Said};
use crate::app::page::Page;
use crate::app::state::message::Message;

/// Whatever the origin: of what is in the explanation nothing is said before the page around has spoken.
const ANY_ORIGIN: &str = "*";

/// A page that has this one in a frame.
#[derive(Clone, Copy)]
pub struct Host {
    window: StoredValue<Window, LocalStorage>,
    /// Of the page around, as the browser tells it with each message; `None` until it has spoken.
    origin: RwSignal<Option<String>>,
    page: Page,
}

impl Host {
    /// The page around; `None` where this one is in no frame.
    pub fn around(page: Page) -> Option<Self> {
        let own = window();
        let parent = own.parent().ok().flatten()?;
        let is_framed = !js_sys::Object::is(&parent, &own);
        is_framed.then(|| Self { window: StoredValue::new_local(parent), origin: RwSignal::new(None), page })
    }

    /// Listens, and says what there is to say from now on.
    pub fn speak(self) {
        let on_message = window_event_listener(ev::message, move |event| self.hear(&event));
        on_cleanup(move || on_message.remove());
        self.post(&Event::Ready, ANY_ORIGIN);
        self.tell_height();
        self.tell_what_is_on_screen();
    }

    fn hear(self, event: &MessageEvent) {
        let is_host = self.window.with_value(|host| event.source().is_some_and(|source| js_sys::Object::is(&source, host)));
        let json = js_sys::JSON::stringify(&event.data()).ok().and_then(|json| json.as_string());
        let Some(said) = json.filter(|_| is_host).and_then(|json| Said::from_json(&json)) else { return };
        // A page without an origin, such as a file, is answered as "null" would not reach it.
        let origin = event.origin();
        self.origin.set(Some(if origin == "null" { ANY_ORIGIN.into() } else { origin }));
        if let Said::Asked(request) = said {
            self.page.send(Message::Host(request));
        }
    }

    /// Now and whenever it changes.
    fn tell_height(self) {
        let Some(body) = document().body() else { return };
        let measured = body.clone();
        let tell = Closure::<dyn Fn()>::new(move || {
            let pixels = measured.get_bounding_client_rect().height().ceil().max(0.0) as u32;
            self.post(&Event::Height { pixels }, ANY_ORIGIN);
        });
        if let Ok(observer) = ResizeObserver::new(tell.as_ref().unchecked_ref()) {
            observer.observe(&body);
        }
        // It lives as long as the page.
        tell.forget();
    }

    fn tell_what_is_on_screen(self) {
        let page = self.page;
        let explained = Memo::new(move |_| {
            let has_preview = page.with(|state| state.explanation.preview.is_some());
            (!has_preview).then(|| page.attribution(Explained::of)).flatten()
        });
        let shown = Memo::new(move |_| page.with(|state| state.explanation.shown.as_ref().map(|shown| shown.graph.document().clone())));
        Effect::new(move |before: Option<_>| {
            let now = (shown.get(), self.origin.get());
            if let (Some(explained), Some(origin)) = (explained.get(), &now.1) {
                let is_new = before.as_ref() != Some(&now);
                self.post(&if is_new { Event::Opened(explained) } else { Event::Chosen(explained) }, origin);
            }
            now
        });
        Effect::new(move |_| {
            let problem = page.with(|state| state.problem.as_ref().map(ToString::to_string));
            if let (Some(problem), Some(origin)) = (problem, self.origin.get()) {
                self.post(&Event::Refused { problem }, &origin);
            }
        });
    }

    fn post(self, event: &Event, origin: &str) {
        let message = js_sys::JSON::parse(&event.to_json()).unwrap_or(JsValue::NULL);
        // A page that has gone hears nothing.
        drop(self.window.with_value(|host| host.post_message(&message, origin)));
    }
}
