use crate::app::state::message::{Fetch, Message};
use leptos::prelude::*;

use crate::app::gallery::GalleryEntry;
use crate::app::page::use_page;

/// Ready-made explanations before anything is loaded; fetched when it is first seen.
#[component]
pub fn Gallery() -> impl IntoView {
    let page = use_page();
    page.send(Message::Needed(Fetch::Gallery));
    let cards = move || {
        let card = |(i, entry): (usize, GalleryEntry)| {
            let GalleryEntry { title, about, .. } = entry.clone();
            view! {
                <li>
                    <button
                        type="button"
                        class="card"
                        data-testid=format!("gallery-{}", i + 1)
                        on:click=move |_| page.send(Message::OpenGalleryEntry(entry.clone()))
                    >
                        <strong>{title}</strong>
                        <span>{about}</span>
                    </button>
                </li>
            }
        };
        page.with(|state| state.explanation.gallery.clone()).into_iter().enumerate().map(card).collect_view()
    };
    let is_empty = move || page.with(|state| state.explanation.gallery.is_empty());
    view! {
        <section class="gallery" aria-label="Gallery" hidden=is_empty>
            <h2>"Ready-made explanations"</h2>
            <p class="hint">"Made beforehand with the built-in model. Each can be recomputed here."</p>
            <ul>{cards}</ul>
        </section>
    }
}
