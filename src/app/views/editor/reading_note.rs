use leptos::prelude::*;

use crate::app::i18n::{plural, t};
use crate::app::page::use_page;
use crate::app::state::message::EditorMessage;

/// Says that the prompt is read as a conversation, and offers to read it as plain text. Earlier answers can be explained, too.
#[component]
pub fn ReadingNote() -> impl IntoView {
    let page = use_page();
    let n_turns = Memo::new(move |_| page.with(|state| state.editor.n_turns()));
    let has_earlier_answers = Memo::new(move |_| page.with(|state| state.editor.has_earlier_answers()));
    let is_plain = move || page.with(|state| *state.editor.is_plain);
    let words = move || match n_turns.get() {
        Some(n) if !is_plain() => plural!(n, "Read as a conversation with {n} turn.", "Read as a conversation with {n} turns."),
        _ => t!("Read as plain text.").to_owned(),
    };
    view! {
        <Show when=move || n_turns.get().is_some()>
            <p class="hint" data-testid="reading">
                <span role="status">{words}</span>
                " "
                <button
                    type="button"
                    class="chip"
                    data-testid="read-otherwise"
                    on:click=move |_| page.send(EditorMessage::ReadAsText(!untrack(is_plain)))
                >
                    {move || if is_plain() { t!("Read as a conversation") } else { t!("Read as plain text") }}
                </button>
            </p>
        </Show>
        <Show when=move || has_earlier_answers.get()>
            <label class="check">
                <input
                    type="checkbox"
                    data-testid="explain-earlier"
                    prop:checked=move || page.with(|state| *state.editor.explains_earlier)
                    on:change=move |event| page.send(EditorMessage::ExplainEarlier(event_target_checked(&event)))
                />
                {t!("Explain the earlier answers, too")}
            </label>
        </Show>
    }
}
