use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;

/// Answers and explains the prompt on screen again, with the model on this page.
#[component]
pub fn RecomputeButton() -> impl IntoView {
    let page = use_page();
    view! {
        <button
            type="button"
            class="quiet"
            data-testid="again"
            aria-disabled=move || page.is_busy().to_string()
            on:click=move |_| page.send(Message::Recompute)
        >
            {t!("Recompute here")}
        </button>
    }
}
