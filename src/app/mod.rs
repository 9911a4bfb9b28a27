//! The page: renders explanation documents from any origin, and asks the workers for new ones.
//!
//! ```text
//!   views ── Message ──► update ──► Effect ──► effects ──► workers, storage, clipboard, history, timers
//!     ▲                        │                         │
//!     └───── read the state ───┘◄──────── Message ───────┘
//! ```
//!
//! Events of workers are not messages: `worker_updates` decodes and handles them, in code that the browser fetches with the first worker.
//!
//! `state` is data, and its fields notify the views that read them. `update` decides how a message changes the state and which effects
//! follow. A part of the state handles alone what concerns only itself (`Editor::update`); methods of `State` handle what concerns several
//! parts. `analysis` derives what the page shows about a document. `views` render the state and send messages. `effects` call the browser.

mod analysis;
mod browser;
mod effects;
mod examples;
mod focus;
mod gallery;
mod i18n;
mod language;
mod opener;
mod page;
mod remote_fetch;
mod service_worker;
mod state;
mod update;
pub mod viewer;
mod views;
mod welcome;
mod worker_updates;

use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::app::state::message::ExplanationMessage;
use effects::{Effects, environment};
use focus::Focus;
use opener::OpenedLink;
use page::{EffectHandler, Page};
use state::State;
use state::message::Message;
use state::storage_keys;
use update::update;
use views::App;

/// Replaces the static first paint of `index.html` with the interactive page.
pub fn start() {
    console_error_panic_hook::set_once();
    browser::hide_parts();
    language::load(&language::tag(), |lacks_language| {
        spawn_local(async move {
            // Open the link of the address first, so that the start page does not appear and disappear.
            let linked = opener::opened_address().await;
            if let Some(first_paint) = document().get_element_by_id("first-paint") {
                first_paint.remove();
            }
            mount_to_body(move || root(lacks_language, linked));
        });
    });
}

/// Provides the page to all views and handles the events of the window.
fn root(lacks_language: bool, linked: Option<OpenedLink>) -> impl IntoView {
    let effects = Rc::new(Effects::new(linked));
    let registry = effects.clone();
    let handler = EffectHandler {
        run: Rc::new(move |page, effect| effects.run(page, effect)),
        register: Rc::new(move |files| registry.register(files)),
        focus: Focus::follow(),
    };
    let page = Page::new(State::new(environment()), update, handler);
    provide_context(page);
    let visit = move || page.send(Message::Visited { entry: browser::entry(), fragment: browser::fragment() });
    let [was_loading, last_entry] = [storage_keys::LOADING, storage_keys::ENTRY].map(browser::remembered_in_tab);
    visit();
    browser::remember_entry(browser::entry().as_deref());
    last_entry.into_iter().for_each(|entry| page.send(Message::TabEnded(entry)));
    was_loading.into_iter().for_each(|name| page.send(Message::TabEndedWhileLoading(name)));
    if lacks_language {
        page.send(Message::LanguageMissing);
    }
    // Leaving or reloading is not a crash, so clear the crash markers.
    let forget = || [storage_keys::LOADING, storage_keys::ENTRY].into_iter().for_each(|key| browser::remember_in_tab(key, ""));
    let on_hide = window_event_listener(ev::pagehide, move |_| forget());
    // The browser may show a left page again without loading it, so store its entry again.
    let on_show = window_event_listener(ev::pageshow, |_| browser::remember_entry(browser::entry().as_deref()));
    let on_visibility_change = window_event_listener(ev::visibilitychange, move |_| {
        if browser::is_hidden() {
            page.send(Message::MayEnd);
        }
    });
    service_worker::watch_for_updates(move |waits| page.send(Message::UpdateWaits(waits)));
    service_worker::watch_for_offline(move || page.send(Message::KeptForOffline));
    // Handles Back, Forward, and links entered in the address bar.
    let on_visit = window_event_listener(ev::popstate, move |_| visit());
    let on_key = window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" && browser::is_shortcut(&event) {
            page.send(ExplanationMessage::Escape);
        }
    });
    // During a run, let the browser ask, because leaving ends the run. Store the measurements now: Chromium drops changes of the history
    // entry that a page makes on `pagehide`. Otherwise clear the markers now: in Firefox, the next page may read the storage before it sees
    // a change made on `pagehide`.
    let on_leave = window_event_listener(ev::beforeunload, move |event| {
        if untrack(|| page.is_busy()) {
            event.prevent_default();
            page.send(Message::MayEnd);
        } else {
            forget();
        }
    });
    on_cleanup(move || {
        on_hide.remove();
        on_show.remove();
        on_visibility_change.remove();
        on_leave.remove();
        on_visit.remove();
        on_key.remove();
    });
    view! { <App /> }
}
