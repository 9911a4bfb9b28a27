//! The page. It renders explanation documents, wherever they come from, and asks the workers for new ones.
//!
//! ```text
//!   views ── Message ──► update ──► Effect ──► effects ──► workers, storage, clipboard, history, timers
//!     ▲                        │                         │
//!     └───── read the state ───┘◄──────── Message ───────┘
//! ```
//!
//! `state` is plain data; `update` decides what a message changes in it, and what is to be done outside; `analysis` is
//! what the page says about a document; `views` draw and send messages; `effects` touch the browser.

mod analysis;
mod browser;
mod effects;
mod examples;
mod focus;
mod gallery;
mod i18n;
mod language;
mod page;
mod remote_fetch;
mod service_worker;
mod state;
mod update;
pub mod viewer;
mod views;
mod welcome;

use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;

use effects::{Effects, environment};
use focus::Focus;
use page::{Outside, Page};
use state::State;
use state::message::Message;
use state::storage_keys;
use update::update;
use views::App;

/// Replaces the static first paint of `index.html` by the living page.
pub fn start() {
    console_error_panic_hook::set_once();
    browser::hide_parts();
    language::load(&language::tag(), || {
        if let Some(first_paint) = document().get_element_by_id("first-paint") {
            first_paint.remove();
        }
        mount_to_body(Root);
    });
}

/// The page's state, in the context of all views, and the events of the window.
#[component]
fn Root() -> impl IntoView {
    let page = Page::new(State::new(environment()), update, |page| {
        let effects = Rc::new(Effects::new(move |message| page.send(message)));
        let registry = effects.clone();
        Outside {
            run: Rc::new(move |effect| effects.run(effect)),
            register: Rc::new(move |files| registry.register(files)),
            focus: Focus::follow(),
        }
    });
    provide_context(page);
    let visit = move || page.send(Message::Visited { entry: browser::entry(), fragment: browser::fragment() });
    let [was_loading, last_entry] = [storage_keys::LOADING, storage_keys::ENTRY].map(browser::remembered_in_tab);
    visit();
    browser::remember_entry(browser::entry().as_deref());
    last_entry.into_iter().for_each(|entry| page.send(Message::TabEnded(entry)));
    was_loading.into_iter().for_each(|name| page.send(Message::TabEndedWhileLoading(name)));
    // Who leaves or reloads the page has not lost it.
    let forget = || [storage_keys::LOADING, storage_keys::ENTRY].into_iter().for_each(|key| browser::remember_in_tab(key, ""));
    let on_hide = window_event_listener(ev::pagehide, move |_| forget());
    // A page that was left may come back as it was.
    let on_show = window_event_listener(ev::pageshow, |_| browser::remember_entry(browser::entry().as_deref()));
    let on_sight = window_event_listener(ev::visibilitychange, move |_| {
        if browser::is_hidden() {
            page.send(Message::Hidden);
        }
    });
    service_worker::watch_for_updates(move |waits| page.send(Message::UpdateWaits(waits)));
    service_worker::watch_for_offline(move || page.send(Message::KeptForOffline));
    // Back, Forward, and a link put into the address bar.
    let on_visit = window_event_listener(ev::popstate, move |_| visit());
    let on_key = window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" && browser::is_shortcut(&event) {
            page.send(Message::Escape);
        }
    });
    // A run would be lost; the browser asks in its own words. Otherwise Firefox needs to be told before the page is hidden: the next
    // page may read what is remembered before it knows what was written then.
    let on_leave = window_event_listener(ev::beforeunload, move |event| {
        if untrack(|| page.is_busy()) {
            event.prevent_default();
        } else {
            forget();
        }
    });
    on_cleanup(move || {
        on_hide.remove();
        on_show.remove();
        on_sight.remove();
        on_leave.remove();
        on_visit.remove();
        on_key.remove();
    });
    view! { <App /> }
}
