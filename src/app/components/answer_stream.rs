use leptos::prelude::*;

use crate::app::state::use_page;

/// The answer while it is written.
#[component]
pub fn AnswerStream() -> impl IntoView {
    let page = use_page();
    let is_answering = Memo::new(move |_| page.run.with(|run| run.answer().is_some()));
    view! {
        <Show when=move || is_answering.get()>
            <section class="answer-stream card" aria-label="Answer so far">
                <p data-testid="answer-stream">{move || page.run.with(|run| run.answer().unwrap_or_default().to_owned())}<span class="caret"></span></p>
            </section>
        </Show>
    }
}
