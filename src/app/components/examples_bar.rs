use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::app::examples::{self, Example};
use crate::app::state::use_page;

/// Example prompts, fetched when the editor is first seen (a shared link fetches nothing).
#[component]
pub fn ExamplesBar() -> impl IntoView {
    let page = use_page();
    let fetched = StoredValue::new(false);
    Effect::new(move |_| {
        if page.editor_is_open.get() && !fetched.get_value() {
            fetched.set_value(true);
            spawn_local(async move { page.examples.set(examples::fetch().await) });
        }
    });
    let buttons = move || {
        let button = |example: Example| {
            let Example { title, prompt, .. } = example;
            let is_chosen = {
                let prompt = prompt.clone();
                move || page.prompt.with(|typed| *typed == prompt)
            };
            view! {
                <button type="button" class="chip" aria-pressed=move || is_chosen().to_string() on:click=move |_| page.replace_texts(&prompt, "")>
                    {title}
                </button>
            }
        };
        page.examples.get().into_iter().map(button).collect_view()
    };
    let restore = move || {
        page.set_aside.get().map(|(prompt, given)| {
            let put_back = move |_| {
                page.prompt.set(prompt.clone());
                page.given.set(given.clone());
                page.set_aside.set(None);
            };
            view! {
                <button type="button" class="chip own" data-testid="set-aside" on:click=put_back>
                    "Back to my text"
                </button>
            }
        })
    };
    let is_empty = move || page.examples.with(Vec::is_empty);
    view! {
        <div class="examples" role="group" aria-label="Examples" hidden=is_empty>
            <span class="hint" aria-hidden="true">"Examples"</span>
            {buttons}
            {restore}
        </div>
    }
}
