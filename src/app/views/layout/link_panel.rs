use crate::app::state::message::Message;
use leptos::ev;
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use super::icon::{Icon, IconView};
use super::link_actions::LinkActions;
use crate::app::analysis::shared_link::{Reach, SharedLink};
use crate::app::gallery::GalleryEntry;
use crate::app::i18n::t;
use crate::app::page::use_page;

/// The link just made, to look at and to copy by hand, with what its author should know.
#[component]
pub fn LinkPanel() -> impl IntoView {
    let page = use_page();
    move || page.with(|state| state.explanation.link.clone()).map(|link| view! { <Panel link /> })
}

#[component]
fn Panel(link: SharedLink) -> impl IntoView {
    let page = use_page();
    let title = match (link.reach, link.is_copied) {
        (Reach::BetterAsFile, _) => t!("This explanation is long for a link"),
        (_, true) => t!("Link copied"),
        (_, false) => t!("Copy this link"),
    };
    let class = if link.reach == Reach::Anywhere { "link-panel" } else { "link-panel warn" };
    let contents = match link.address.split_once('#').and_then(|(_, fragment)| GalleryEntry::of_fragment(fragment)).is_some() {
        true => t!("It names what this site shows in its gallery; nothing is uploaded."),
        false => t!("It contains the whole text, and nothing is uploaded."),
    };
    view! {
        <section class=class aria-label=t!("Link to this explanation") aria-live="polite">
            <div class="line">
                <strong>{title}</strong>
                <span>{link.advice()}</span>
                <span>{contents}</span>
                <button type="button" class="quiet close" aria-label=t!("Close") on:click=move |_| page.send(Message::CloseLink)>
                    <IconView icon=Icon::Close />
                </button>
            </div>
            <div class="line">
                <input
                    type="text"
                    readonly
                    data-testid="link-text"
                    aria-label=t!("Link")
                    prop:value=link.address.clone()
                    on:focus=select_all
                />
                <LinkActions address=link.address.clone() />
                {(link.reach == Reach::BetterAsFile)
                    .then(|| {
                        view! {
                            <button type="button" class="primary" on:click=move |_| page.send(Message::SaveDocument)>
                                {t!("Save JSON instead")}
                            </button>
                        }
                    })}
            </div>
        </section>
    }
}

fn select_all(event: ev::FocusEvent) {
    event_target::<HtmlInputElement>(&event).select();
}
