//! Connects the viewer with the embedding page: reads its messages, and reports what is on screen and its height.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, ResizeObserver, Window};

use super::protocol::{Explained, Incoming, Outgoing};
use crate::app::i18n::problem_text;
use crate::app::page::Page;
use crate::app::state::message::Message;

/// Sends to any origin. The viewer sends nothing about the explanation before the embedding page has sent a message.
const ANY_ORIGIN: &str = "*";

/// The page that embeds this one in a frame.
#[derive(Clone, Copy)]
pub struct Host {
    window: StoredValue<Window, LocalStorage>,
    /// Origin of the embedding page, as the browser reports it with each message. `None` before the first message.
    origin: RwSignal<Option<String>>,
    page: Page,
}

impl Host {
    /// The embedding page. `None` if this page is not in a frame.
    pub fn around(page: Page) -> Option<Self> {
        let own = window();
        let parent = own.parent().ok().flatten()?;
        let is_framed = !js_sys::Object::is(&parent, &own);
        is_framed.then(|| Self { window: StoredValue::new_local(parent), origin: RwSignal::new(None), page })
    }

    /// Starts to read and post messages.
    pub fn connect(self) {
        let on_message = window_event_listener(ev::message, move |event| self.on_message(&event));
        on_cleanup(move || on_message.remove());
        self.post(&Outgoing::Ready, ANY_ORIGIN);
        self.post_height();
        self.post_what_is_on_screen();
    }

    fn on_message(self, event: &MessageEvent) {
        if !self.window.with_value(|host| event.source().is_some_and(|source| js_sys::Object::is(&source, host))) {
            return;
        }
        let json = js_sys::JSON::stringify(&event.data()).ok().and_then(|json| json.as_string());
        let Some(incoming) = json.and_then(|json| Incoming::from_json(&json)) else { return };
        // A page that was opened from disk has the origin "null", which no message reaches.
        let origin = Some(if event.origin() == "null" { ANY_ORIGIN.into() } else { event.origin() });
        if self.origin.get_untracked() != origin {
            self.origin.set(origin);
        }
        if let Incoming::Asked(request) = incoming {
            self.page.send(Message::Host(request));
        }
    }

    /// Posts the height of the page, now and after each change.
    fn post_height(self) {
        let Some(body) = document().body() else { return };
        let measured = body.clone();
        let post = Closure::<dyn Fn()>::new(move || {
            let pixels = measured.get_bounding_client_rect().height().ceil().max(0.0) as u32;
            // The height is 0 while the frame is hidden, for example in another slide.
            if pixels > 0 {
                self.post(&Outgoing::Height { pixels }, ANY_ORIGIN);
            }
        });
        if let Ok(observer) = ResizeObserver::new(post.as_ref().unchecked_ref()) {
            observer.observe(&body);
        }
        // The closure lives as long as the page.
        post.forget();
    }

    fn post_what_is_on_screen(self) {
        let page = self.page;
        // Ignore the sentence under the pointer, because it is not selected.
        let explained = Memo::new(move |before: Option<&Option<Explained>>| {
            let has_preview = page.with(|state| state.explanation.preview.is_some());
            if has_preview { before.cloned().flatten() } else { page.attribution(Explained::of) }
        });
        let n_opened = Memo::new(move |_| page.with(|state| *state.n_opened));
        Effect::new(move |before: Option<_>| {
            let now = (n_opened.get(), self.origin.get());
            if let (Some(explained), Some(origin)) = (explained.get(), &now.1) {
                let is_new = before.as_ref() != Some(&now);
                self.post(&if is_new { Outgoing::Opened(explained) } else { Outgoing::Chosen(explained) }, origin);
            }
            now
        });
        Effect::new(move |_| {
            let problem = page.with(|state| state.problem.clone());
            if let (Some(problem), Some(origin)) = (problem, self.origin.get()) {
                self.post(&Outgoing::Refused { problem: problem_text(&problem) }, &origin);
            }
        });
    }

    fn post(self, message: &Outgoing, origin: &str) {
        let message = js_sys::JSON::parse(&message.to_json()).unwrap_or(JsValue::NULL);
        // Ignore errors: the embedding page may be gone.
        drop(self.window.with_value(|host| host.post_message(&message, origin)));
    }
}
