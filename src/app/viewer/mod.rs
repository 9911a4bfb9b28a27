//! The viewer: shows one explanation in other people's pages and in standalone files. It has no engine, no worker, no storage and no
//! history.
//!
//! ```text
//!   the embedding page ── postMessage ──► host ── Message::Host ──► update ──► state ◄── views
//!                      ◄── postMessage ── host ◄── opened, chosen, height
//! ```
//!
//! The explanation comes from the viewer's own page (`explanation.html`, the standalone file), from the fragment of its address
//! (`embed.html`), or from the embedding page (`docs/embedding.md`).

mod host;
mod protocol;
mod update;
mod view;

use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;

use super::focus::Focus;
use super::page::{EffectHandler, Page};
use super::state::State;
use super::state::message::{Effect, HostRequest, Message};
use super::{browser, language};
use host::Host;
use view::ViewerView;

/// Id of the element that contains the page's own document as JSON.
const OWN_DOCUMENT: &str = "document";
/// Selector of the link to the full page, if one is served with the viewer.
const HOME: &str = "link[rel=home]";

/// Shows the explanation from this page, from its address or from the embedding page.
pub fn start() {
    console_error_panic_hook::set_once();
    browser::hide_parts();
    browser::set_theme_of_address();
    let own = browser::text_of_element(OWN_DOCUMENT);
    // A standalone file must not fetch anything, so it is in English.
    let tag = if own.is_some() { String::from("en") } else { language::tag_without_storage() };
    language::load(&tag, move |_| {
        mount_to_body(move || view! { <Root own=own.clone() /> });
    });
}

#[component]
fn Root(own: Option<String>) -> impl IntoView {
    let handler = EffectHandler { run: Rc::new(run), register: Rc::new(|_| Vec::new()), focus: Focus::follow() };
    let page = Page::new(State::viewer(), update::update, handler);
    provide_context(page);
    match own {
        Some(json) => page.send(Message::Host(HostRequest::Open(json))),
        None => {
            let open = move || {
                let fragment = browser::fragment();
                if fragment.len() > 1 {
                    page.send(Message::Host(HostRequest::Open(fragment)));
                }
            };
            open();
            let on_change = window_event_listener(ev::hashchange, move |_| open());
            on_cleanup(move || on_change.remove());
        }
    }
    if let Some(host) = Host::around(page) {
        host.connect();
    }
    view! { <ViewerView glasscage=browser::attribute_of(HOME, "href") /> }
}

/// Carries out an effect. The viewer can only save tables.
fn run(page: Page, effect: Effect) {
    if let Effect::SaveFile { name, media_type, bytes } = effect
        && browser::download(&name, media_type, &bytes).is_none()
    {
        page.send(Message::SaveRefused);
    }
}
