use crate::app::examples::Example;
use crate::app::state::message::{EditorMessage, Fetch, Message};
use leptos::ev;
use leptos::prelude::*;

use crate::app::browser;
use crate::app::i18n::{t, text_of};
use crate::app::page::use_page;
use crate::app::views::layout::row_of_buttons::place_after_key;

/// Example prompts. The page fetches them when the editor first opens, so a shared link fetches none.
#[component]
pub fn ExamplesBar() -> impl IntoView {
    let page = use_page();
    Effect::new(move |_| {
        if page.with(|state| *state.editor.is_open) {
            page.send(Message::Needed(Fetch::Examples));
        }
    });
    let tab_stop = RwSignal::new(0);
    let on_key = move |event: ev::KeyboardEvent| {
        let n = untrack(|| page.with(|state| state.editor.examples.len()));
        if let Some(next) = place_after_key(&event.key(), tab_stop.get_untracked(), n.max(1)).filter(|_| browser::is_alone(&event)) {
            event.prevent_default();
            tab_stop.set(next);
            browser::focus(&format!("[data-testid='example-{}']", next + 1));
        }
    };
    let buttons = move || {
        let button = |(k, example): (usize, Example)| {
            let Example { title, prompt, .. } = example;
            let title = text_of(title);
            let is_chosen = {
                let prompt = prompt.clone();
                move || page.with(|state| *state.editor.prompt == prompt)
            };
            view! {
                <button
                    type="button"
                    class="chip"
                    data-testid=format!("example-{}", k + 1)
                    aria-pressed=move || is_chosen().to_string()
                    tabindex=move || if tab_stop.get() == k { "0" } else { "-1" }
                    on:keydown=on_key
                    on:focus=move |_| tab_stop.set(k)
                    on:click=move |_| page.send(EditorMessage::EditPrompt(prompt.clone()))
                >
                    {title}
                </button>
            }
        };
        page.with(|state| state.editor.examples.clone()).into_iter().enumerate().map(button).collect_view()
    };
    let restore = move || {
        page.with(|state| state.editor.set_aside.is_some()).then(|| {
            view! {
                <button type="button" class="chip own" data-testid="set-aside" on:click=move |_| page.send(EditorMessage::RestoreSetAside)>
                    {t!("Back to my text")}
                </button>
            }
        })
    };
    let is_empty = move || page.with(|state| state.editor.examples.is_empty());
    view! {
        <div class="examples" class:empty=is_empty role="group" aria-label=t!("Examples")>
            <span class="hint" aria-hidden="true">{t!("Examples")}</span>
            {buttons}
            {restore}
        </div>
    }
}
