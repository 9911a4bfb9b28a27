use leptos::prelude::*;

use super::lazy::{LazyPart, LazyView};
use super::link_view;
use crate::app::page::use_page;

/// The new link, if there is one.
#[component]
pub fn LinkPanel() -> impl IntoView {
    let page = use_page();
    let part = LazyPart::new(link_view::fetch);
    let is_there = Memo::new(move |_| page.with(|state| state.explanation.link.is_some() || *state.explanation.is_encoding_link));
    view! {
        <div aria-live="polite" data-then="[data-testid='copy-link']">
            <Show when=move || is_there.get()>
                <LazyView part view=|view| view() />
            </Show>
        </div>
    }
}
