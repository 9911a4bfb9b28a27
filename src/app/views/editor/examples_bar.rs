use crate::app::examples::Example;
use crate::app::state::message::{Fetch, Message};
use leptos::prelude::*;

use crate::app::page::use_page;

/// Example prompts, fetched when the editor is first seen (a shared link fetches nothing).
#[component]
pub fn ExamplesBar() -> impl IntoView {
    let page = use_page();
    Effect::new(move |_| {
        if page.with(|state| *state.editor.is_open) {
            page.send(Message::Needed(Fetch::Examples));
        }
    });
    let buttons = move || {
        let button = |example: Example| {
            let Example { title, prompt, .. } = example;
            let is_chosen = {
                let prompt = prompt.clone();
                move || page.with(|state| *state.editor.prompt == prompt)
            };
            view! {
                <button
                    type="button"
                    class="chip"
                    aria-pressed=move || is_chosen().to_string()
                    on:click=move |_| page.send(Message::EditPrompt(prompt.clone()))
                >
                    {title}
                </button>
            }
        };
        page.with(|state| state.editor.examples.clone()).into_iter().map(button).collect_view()
    };
    let restore = move || {
        page.with(|state| state.editor.set_aside.is_some()).then(|| {
            view! {
                <button type="button" class="chip own" data-testid="set-aside" on:click=move |_| page.send(Message::RestoreSetAside)>
                    "Back to my text"
                </button>
            }
        })
    };
    let is_empty = move || page.with(|state| state.editor.examples.is_empty());
    view! {
        <div class="examples" role="group" aria-label="Examples" hidden=is_empty>
            <span class="hint" aria-hidden="true">"Examples"</span>
            {buttons}
            {restore}
        </div>
    }
}
