use leptos::prelude::*;

use super::help_link::HAS_DOCUMENTATION;
use crate::app::i18n::{LANGUAGES, t};
use crate::app::language;
use crate::app::page::use_page;

/// Footer with the choice of the page language.
#[component]
pub fn Footer() -> impl IntoView {
    let page = use_page();
    let tag = language::tag();
    let needs_review = LANGUAGES.iter().any(|language| language.tag == tag && !language.is_reviewed);
    let buttons = LANGUAGES.iter().map(|language| {
        view! {
            <button
                type="button"
                class="chip"
                lang=language.tag
                aria-pressed=(language.tag == tag).to_string()
                data-testid=format!("language-{}", language.tag)
                // A change reloads the page, which would lose the run.
                disabled=move || page.is_busy()
                on:click=|_| language::change(language.tag)
            >
                {language.name}
            </button>
        }
    });
    view! {
        <footer class="site">
            // Buttons, because the arrow keys choose in a closed list, and each choice would load the page again.
            <div class="examples" role="group" aria-label=t!("Language")>{buttons.collect_view()}</div>
            <a hidden=!HAS_DOCUMENTATION href="docs/index.html" hreflang="en" target="_blank" rel="noopener">
                {t!("Documentation")}
            </a>
            {needs_review.then(|| view! {
                <p class="hint">{t!("No speaker of this language has reviewed the translation yet.")}</p>
            })}
        </footer>
    }
}
