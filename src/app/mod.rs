//! The page. It renders explanation documents, wherever they come from, and asks the worker for new ones.
//!
//! [`state::Page`] holds the signals; `asking`, `beside` and `opening` are what a visitor can do to them; `reading`,
//! `run`, `selection`, `settings`, `sharing` and others are plain structs with all the logic; `components` only draw.

mod asking;
mod beside;
mod browser;
mod check;
mod choice;
mod comparison;
mod components;
mod copy;
mod derivation;
mod download;
mod examples;
mod gallery;
mod library;
mod masked;
mod number;
mod offline;
mod opening;
mod reading;
mod reproduction;
mod run;
mod scale;
mod selection;
mod settings;
mod sharing;
mod speed;
mod state;
mod trial;
mod words;

use leptos::ev;
use leptos::prelude::*;

use components::{DropZone, Editor, Explanation, Header, ModelsDialog, ProblemBox, StatusBar, UpdateBar, Welcome};
use state::Page;

/// Replaces the static first paint of `index.html` by the living page.
pub fn start() {
    console_error_panic_hook::set_once();
    if let Some(first_paint) = document().get_element_by_id("first-paint") {
        first_paint.remove();
    }
    mount_to_body(App);
}

#[component]
fn App() -> impl IntoView {
    let page = Page::new();
    provide_context(page);
    page.open_fragment();
    page.watch_for_updates();
    let on_hash = window_event_listener(ev::hashchange, move |_| page.open_fragment());
    let on_key = window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" {
            page.escape();
        }
    });
    on_cleanup(move || {
        on_hash.remove();
        on_key.remove();
    });
    view! {
        <Header />
        <main>
            <UpdateBar />
            <ProblemBox />
            <Editor />
            <StatusBar />
            <Explanation />
            <Welcome />
        </main>
        <ModelsDialog />
        <DropZone />
    }
}
