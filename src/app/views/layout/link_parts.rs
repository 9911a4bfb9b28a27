use leptos::prelude::*;

use super::parts_choice::{OF_EXPLANATION, OF_PAGE, PartsChoice};
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;

/// Choice of the page parts that a link shows.
#[component]
pub fn LinkParts() -> impl IntoView {
    let page = use_page();
    let link = Memo::new(move |_| page.with(|state| state.explanation.link.clone()));
    let is_shown = move |name: &str| link.with(|link| link.as_ref().is_none_or(|link| !link.hidden().contains(&name)));
    view! {
        <p class="hint">{t!("People who open the link see the checked parts. Each change copies the link again.")}</p>
        <PartsChoice
            parts=[OF_EXPLANATION, OF_PAGE].concat()
            prefix="link"
            is_shown
            on_change=move |part, is_shown| page.send(Message::ShowInLink { part, is_shown })
        />
    }
}
