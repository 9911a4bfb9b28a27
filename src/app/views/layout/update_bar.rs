use crate::app::state::message::Message;
use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;

/// Offers to activate a new version that is ready.
#[component]
pub fn UpdateBar() -> impl IntoView {
    let page = use_page();
    view! {
        <Show when=move || page.with(|state| *state.update_is_waiting)>
            <div class="update" role="status" data-testid="update">
                <p>{t!("A new version of Glasscage is available.")}</p>
                <button
                    type="button"
                    data-testid="take-update"
                    disabled=move || page.is_busy()
                    on:click=move |_| page.send(Message::ActivateUpdate)
                >
                    {t!("Update and reload")}
                </button>
            </div>
        </Show>
    }
}
