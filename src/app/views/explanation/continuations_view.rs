//! Continuations of the answer from alternatives of its tokens, next to the answer.

use leptos::html;
use leptos::prelude::*;

use crate::app::analysis::certainty::quoted;
use crate::app::analysis::continuation::split;
use crate::app::analysis::variant::{Continuation, Variant, VariantAnswer, last_answer};
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;

const EXPLANATION: &str = ".explanation";

/// The answer on screen, and its continuations, latest first. Nothing without continuations.
#[component]
pub fn Continuations() -> impl IntoView {
    let page = use_page();
    let numbers = Memo::new(move |_| {
        page.with(|state| {
            let variants = state.explanation.variants.iter().enumerate();
            let numbers = variants.filter_map(|(at, variant)| Some((at, variant.continuation.clone()?)));
            numbers.rev().collect::<Vec<_>>()
        })
    });
    let original =
        Memo::new(move |_| page.with(|state| state.explanation.document().map(|document| document.last_answer_text().to_owned())));
    view! {
        <div class="answers" data-testid="continuations" hidden=move || numbers.with(Vec::is_empty)>
            <section class="card original">
                <h3>{t!("The answer on screen")}</h3>
                <p class="answer" dir="auto">{move || original.get()}</p>
            </section>
            <div class="variants">
                <For
                    each=move || numbers.get()
                    key=Clone::clone
                    children=move |(at, continuation)| view! { <ContinuationCard at continuation /> }
                />
            </div>
        </div>
    }
}

/// A continuation: the beginning that it shares with the answer, the alternative, and the rest.
#[component]
fn ContinuationCard(at: usize, continuation: Continuation) -> impl IntoView {
    let page = use_page();
    let variant = Memo::new(move |_| page.with(|state| state.explanation.variants.get(at).cloned()));
    let is_growing = move || variant.with(|variant| variant.as_ref().is_some_and(Variant::is_growing));
    let card = NodeRef::<html::Section>::new();
    card.on_load(move |card| {
        if untrack(is_growing) {
            browser::reveal(&card);
        }
    });
    let title = t!(
        "With {alternative} in place of {token}",
        alternative = quoted(&continuation.branch.text),
        token = quoted(&continuation.original)
    );
    let text = Memo::new(move |_| variant.with(|variant| variant.as_ref().map(|variant| variant.answer.text()).unwrap_or_default()));
    let parts = move || text.with(|text| split(&continuation, text).map(str::to_owned));
    let answer = move || {
        let [before, chosen, rest] = parts();
        view! { <span class="before">{before}</span> <u class="chosen">{chosen}</u> {rest} }
    };
    let verdict = move || {
        page.attribution(|shown| {
            let original = last_answer(shown.document());
            variant.with(|variant| variant.as_ref().map(|variant| variant.verdict(&original)))
        })
        .flatten()
    };
    let is_whole =
        move || variant.with(|variant| variant.as_ref().is_some_and(|variant| matches!(variant.answer, VariantAnswer::Whole(_))));
    let is_explained = move || variant.with(|variant| variant.as_ref().is_some_and(|variant| variant.explanation.is_some()));
    let press = move |_| match untrack(is_explained) {
        false => page.send(Message::ExplainVariant(at)),
        true if untrack(|| page.is_busy()) => {}
        true => {
            page.send(Message::OpenVariant(at));
            browser::scroll_to(EXPLANATION);
        }
    };
    let action = move || {
        let (label, name) = match is_explained() {
            true => (t!("Open this explanation"), "open"),
            false => (t!("Explain this answer, too"), "explain"),
        };
        is_whole().then(|| {
            view! {
                <button
                    type="button"
                    class="chip"
                    aria-disabled=move || page.is_busy().to_string()
                    data-testid=format!("{name}-continuation-{at}")
                    on:click=press
                >
                    {label}
                </button>
            }
        })
    };
    view! {
        <section class="card" aria-label=title.clone() data-testid=format!("continuation-{at}") node_ref=card>
            <h3 dir="auto">{title.clone()}</h3>
            <p class="answer" dir="auto">
                {answer}
                <span class="caret" hidden=move || !is_growing()></span>
            </p>
            <p class="hint">{t!("The same answer up to the underlined token, which you chose. The model wrote the rest.")}</p>
            <p role="status"><b>{verdict}</b></p>
            <p class="examples">{action}</p>
        </section>
    }
}
