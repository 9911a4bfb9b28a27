use leptos::prelude::*;

use super::help_link::HAS_DOCUMENTATION;
use crate::app::i18n::{LANGUAGES, t};
use crate::app::language;

/// Footer with the choice of the page language.
#[component]
pub fn Footer() -> impl IntoView {
    let tag = language::tag();
    let needs_review = LANGUAGES.iter().any(|language| language.tag == tag && !language.is_reviewed);
    let options = LANGUAGES.iter().map(|language| {
        view! { <option value=language.tag lang=language.tag selected=language.tag == tag>{language.name}</option> }
    });
    view! {
        <footer class="site">
            <label>
                {t!("Language")}
                <select data-testid="language" on:change=|event| language::change(&event_target_value(&event))>
                    {options.collect_view()}
                </select>
            </label>
            <a hidden=!HAS_DOCUMENTATION href="docs/index.html" hreflang="en" target="_blank" rel="noopener">
                {t!("Documentation")}
            </a>
            <Show when=move || needs_review>
                <p class="hint">{t!("No speaker of this language has reviewed the translation yet.")}</p>
            </Show>
        </footer>
    }
}
