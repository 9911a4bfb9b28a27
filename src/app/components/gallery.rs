use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::app::gallery::{self, Entry};
use crate::app::state::use_page;

/// Explanations to look at before anything is loaded; fetched when it is first seen.
#[component]
pub fn Gallery() -> impl IntoView {
    let page = use_page();
    let entries = RwSignal::new(Vec::<Entry>::new());
    spawn_local(async move { entries.set(gallery::fetch().await) });
    let cards = move || {
        let card = |(i, entry): (usize, Entry)| {
            let Entry { title, about, .. } = entry.clone();
            view! {
                <li>
                    <button type="button" class="card" data-testid=format!("gallery-{}", i + 1) on:click=move |_| page.open_from_gallery(entry.clone())>
                        <strong>{title}</strong>
                        <span>{about}</span>
                    </button>
                </li>
            }
        };
        entries.get().into_iter().enumerate().map(card).collect_view()
    };
    let is_empty = move || entries.with(Vec::is_empty);
    view! {
        <section class="gallery" aria-label="Gallery" hidden=is_empty>
            <h2>"Explanations to look at"</h2>
            <p class="hint">"Made beforehand with the built-in model. Each can be made again here."</p>
            <ul>{cards}</ul>
        </section>
    }
}
