//! Continuations of the answer from alternatives of its tokens, next to the answer.

use leptos::html;
use leptos::prelude::*;

use crate::app::analysis::certainty::quoted;
use crate::app::analysis::continuation::split;
use crate::app::analysis::variant::{Continuation, Variant, VariantAnswer};
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
    let original = Memo::new(move |_| page.with(|state| state.explanation.document().map(|document| document.generation.text.clone())));
    view! {
        <Show when=move || numbers.with(|numbers| !numbers.is_empty())>
            <div class="answers" data-testid="continuations">
                <section class="card original">
                    <h4>{t!("The answer on screen")}</h4>
                    <p class="answer" dir="auto">{original}</p>
                </section>
                <div class="variants">
                    <For
                        each=move || numbers.get()
                        key=Clone::clone
                        children=move |(at, continuation)| view! { <ContinuationCard at continuation /> }
                    />
                </div>
            </div>
        </Show>
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
            let original = shown.document().generation.sentence_texts();
            variant.with(|variant| variant.as_ref().map(|variant| variant.verdict(&original)))
        })
        .flatten()
    };
    let is_whole =
        move || variant.with(|variant| variant.as_ref().is_some_and(|variant| matches!(variant.answer, VariantAnswer::Whole(_))));
    let is_explained = move || variant.with(|variant| variant.as_ref().is_some_and(|variant| variant.explanation.is_some()));
    let open = move || {
        if !untrack(|| page.is_busy()) {
            page.send(Message::OpenVariant(at));
            browser::scroll_to(EXPLANATION);
        }
    };
    let explain = move || page.send(Message::ExplainVariant(at));
    view! {
        <section class="card" aria-label=title.clone() data-testid=format!("continuation-{at}") node_ref=card>
            <h4 dir="auto">{title.clone()}</h4>
            <p class="answer" dir="auto">
                {answer}
                <Show when=is_growing><span class="caret"></span></Show>
            </p>
            <p class="hint">{t!("The same answer up to the underlined token, which you chose. The model wrote the rest.")}</p>
            <p role="status"><b>{verdict}</b></p>
            <p class="examples">
                <Show when=move || is_whole() && !is_explained()>
                    <Chip label=t!("Explain this answer, too") test_id=format!("explain-continuation-{at}") on_press=explain />
                </Show>
                <Show when=is_explained>
                    <Chip label=t!("Open this explanation") test_id=format!("open-continuation-{at}") on_press=open />
                </Show>
            </p>
        </section>
    }
}

/// Button for the next action. Marked as disabled during a run.
#[component]
fn Chip(label: &'static str, test_id: String, on_press: impl Fn() + 'static) -> impl IntoView {
    let page = use_page();
    view! {
        <button
            type="button"
            class="chip"
            aria-disabled=move || page.is_busy().to_string()
            data-testid=test_id
            on:click=move |_| on_press()
        >
            {label}
        </button>
    }
}
