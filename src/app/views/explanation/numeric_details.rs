use leptos::prelude::*;

use crate::app::i18n::t;

/// Collapsed technical details of a plain sentence: the numbers and their definition.
#[component]
pub fn NumericDetails(children: Children) -> impl IntoView {
    view! {
        <details class="exactly">
            <summary data-testid="exactly">{t!("Technical details")}</summary>
            <p>{children()}</p>
        </details>
    }
}
