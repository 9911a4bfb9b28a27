use leptos::prelude::*;

use crate::app::i18n::t;

/// What stands behind a plain sentence: the numbers and their definition, for those who ask.
#[component]
pub fn Exactly(children: Children) -> impl IntoView {
    view! {
        <details class="exactly">
            <summary data-testid="exactly">{t!("Technical details")}</summary>
            <p>{children()}</p>
        </details>
    }
}
