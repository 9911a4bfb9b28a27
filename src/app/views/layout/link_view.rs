//! The new link, and its encoder. A separate chunk of the page's code.

use leptos::ev;
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use super::icon::{Icon, IconView};
use super::lazy::split_off;
use super::link_actions::LinkActions;
use crate::app::analysis::shared_link::{Reach, SharedLink};
use crate::app::gallery::GalleryEntry;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::State;
use crate::app::state::message::Message;
use crate::explanation::to_fragment;
use crate::lesson;

split_off!(link, fetch_link => view as fn() -> AnyView);

/// The fragment of a link to the lesson or to the explanation on screen. `None` if nothing is on screen.
fn encoded(state: &State) -> Option<String> {
    match state.lesson() {
        Some(open) => Some(lesson::to_fragment(&open.lesson)),
        None => Some(to_fragment(&state.explanation.selected_document()?)),
    }
}

/// Encodes the link that is wanted, and shows it for copying by hand, with advice for its author.
fn view() -> AnyView {
    let page = use_page();
    Effect::new(move |_| {
        if page.with(|state| *state.explanation.is_encoding_link)
            && let Some(fragment) = untrack(|| page.with(encoded))
        {
            page.send(Message::LinkEncoded(fragment));
        }
    });
    let link = Memo::new(move |_| page.with(|state| state.explanation.link.clone()));
    let title = move || {
        link.with(|link| match link.as_ref().map(|link| (link.reach, link.is_copied)) {
            Some((Reach::BetterAsFile, _)) => t!("This explanation is long for a link"),
            Some((_, true)) => t!("Link copied"),
            _ => t!("Copy this link"),
        })
    };
    let reach = move || link.with(|link| link.as_ref().map(|link| link.reach));
    let advice = move || link.with(|link| link.as_ref().map(SharedLink::advice));
    let address = Signal::derive(move || link.with(|link| link.as_ref().map(|link| link.address.clone())).unwrap_or_default());
    let is_of_gallery =
        move || address.with(|address| address.split_once('#').is_some_and(|(_, fragment)| GalleryEntry::of_fragment(fragment).is_some()));
    let contents = move || match is_of_gallery() {
        true => t!("The link refers to an example in this site’s gallery. Nothing is uploaded."),
        false => t!("The link contains the whole text. Nothing is uploaded."),
    };
    let leaves_out = move || {
        let has_tokens = page.with(|state| state.explanation.document().is_some_and(|document| !document.tokens.is_empty()));
        (has_tokens && !is_of_gallery()).then(|| t!("The probabilities of tokens are only in the file, not in the link."))
    };
    view! {
        <section
            class="link-panel"
            class:warn=move || reach() == Some(Reach::BetterAsFile)
            aria-label=t!("Link to this explanation")
        >
            <div class="line">
                <strong>{title}</strong>
                <span>{advice}</span>
                <span>{contents}</span>
                <span>{leaves_out}</span>
                <button type="button" class="quiet close" aria-label=t!("Close") on:click=move |_| page.send(Message::CloseLink)>
                    <IconView icon=Icon::Close />
                </button>
            </div>
            // What the visitor opens here is not announced.
            <div class="line" aria-live="off">
                <input type="text" readonly data-testid="link-text" aria-label=t!("Link") prop:value=address on:focus=select_all />
                <Show when=move || reach() == Some(Reach::BetterAsFile)>
                    <button type="button" class="primary" on:click=move |_| page.send(Message::SaveDocument)>
                        {t!("Save JSON instead")}
                    </button>
                </Show>
                <LinkActions address />
            </div>
        </section>
    }
    .into_any()
}

fn select_all(event: ev::FocusEvent) {
    event_target::<HtmlInputElement>(&event).select();
}
