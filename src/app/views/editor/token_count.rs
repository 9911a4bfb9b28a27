use leptos::prelude::*;

use crate::app::analysis::number::grouped;
use crate::app::i18n::plural;
use crate::app::page::use_page;

/// Length of the prompt in tokens of the loaded model, and the maximum length of a text.
#[component]
pub fn TokenCount() -> impl IntoView {
    let page = use_page();
    let count = Memo::new(move |_| {
        page.with(|state| {
            let context = state.engine.loaded()?.context_length;
            Some((state.editor.tokens.filter(|_| !state.editor.prompt.trim().is_empty())?, context))
        })
    });
    let words = move || {
        let (tokens, context) = count.get()?;
        Some(plural!(
            n = tokens,
            "{n} token; prompt and answer together: at most {context}",
            "{n} tokens; prompt and answer together: at most {context}",
            context = grouped(context as u64),
        ))
    };
    let is_too_long = move || count.get().is_some_and(|(tokens, context)| tokens >= context);
    view! { <p class="hint tokens" class:warn=is_too_long data-testid="token-count" aria-live="off">{words}</p> }
}
