use leptos::prelude::*;

use crate::app::i18n::{plural, t};
use crate::app::page::use_page;
use crate::app::state::message::Message;

/// The answer while the model writes it.
#[component]
pub fn AnswerStream() -> impl IntoView {
    let page = use_page();
    let is_answering = Memo::new(move |_| page.with(|state| state.engine.run.answer().is_some()));
    view! {
        <Show when=move || is_answering.get()>
            <section class="answer-stream card" aria-label=t!("Answer so far")>
                <p
                    dir="auto"
                    data-testid="answer-stream"
                >
                    {move || page.with(|state| state.engine.run.answer().unwrap_or_default().to_owned())}<span class="caret"></span>
                </p>
            </section>
        </Show>
        <Unfinished />
    }
}

/// An answer that is not explained because its run ended early, with buttons to explain or continue it.
#[component]
fn Unfinished() -> impl IntoView {
    let page = use_page();
    move || {
        page.with(|state| state.engine.unfinished.clone()).filter(|_| !page.is_busy()).map(|unfinished| {
            view! {
                <section class="answer-stream card" aria-label=t!("Answer that is not explained")>
                    <p dir="auto" data-testid="unfinished">{unfinished.text}</p>
                    <div class="go">
                        <strong>
                            {plural!(
                                n = unfinished.tokens,
                                "Not explained yet; {n} token so far.",
                                "Not explained yet; {n} tokens so far."
                            )}
                        </strong>
                        <button type="button" data-testid="explain-so-far" on:click=move |_| page.send(Message::ExplainSoFar)>
                            {t!("Explain this part")}
                        </button>
                        <button type="button" data-testid="go-on" on:click=move |_| page.send(Message::ContinueAnswer)>
                            {t!("Continue the answer")}
                        </button>
                    </div>
                </section>
            }
        })
    }
}
