use leptos::prelude::*;

use crate::app::page::use_page;

/// The answer while it is written.
#[component]
pub fn AnswerStream() -> impl IntoView {
    let page = use_page();
    let is_answering = Memo::new(move |_| page.with(|state| state.engine.run.answer().is_some()));
    view! {
        <Show when=move || is_answering.get()>
            <section class="answer-stream card" aria-label="Answer so far">
                <p
                    data-testid="answer-stream"
                >
                    {move || page.with(|state| state.engine.run.answer().unwrap_or_default().to_owned())}<span class="caret"></span>
                </p>
            </section>
        </Show>
    }
}
