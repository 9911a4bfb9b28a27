use leptos::prelude::*;

use super::comparison_table::ComparisonTable;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::lesson::OpenLesson;
use crate::app::state::message::LessonMessage;
use crate::explanation::PlacedUnit;

/// A question that asks to mark prompt sentences before any share is shown. Then it compares the marks with the measurement.
#[component]
pub fn MarkQuestion(ask: String, count: usize, language: Option<String>) -> impl IntoView {
    let page = use_page();
    let is_open = Memo::new(move |_| page.with(|state| state.lesson().is_some_and(|open| open.required_marks().is_some())));
    let contents = move || match is_open.get() {
        true => view! { <Sentences count /> }.into_any(),
        false => view! { <ComparisonTable /> }.into_any(),
    };
    view! {
        <fieldset class="question" data-testid="mark-question">
            <legend dir="auto" lang=language>{ask}</legend>
            {contents}
        </fieldset>
    }
}

/// Prompt and answer without shares.
#[component]
fn Sentences(count: usize) -> impl IntoView {
    let page = use_page();
    let document = untrack(|| page.with(|state| state.lesson().map(OpenLesson::document)));
    let n_marked = Memo::new(move |_| page.with(|state| state.lesson().map_or(0, |open| open.answer().marked.len())));
    document.map(|document| {
        let explained = document.explained();
        let texts = document.source_texts();
        let item = |unit: &PlacedUnit| {
            let text = texts[unit.source].trim().to_owned();
            let Some(row) = unit.row else { return view! { <Markable sentence=unit.source text /> }.into_any() };
            let is_explained = explained.contains(&row);
            view! {
                <li class:asked=is_explained>
                    <b class="name">{format!("G{}", row + 1)}</b>
                    <span dir="auto">{text}</span>
                    {is_explained.then_some(view! { <span class="badge">{t!("asked about")}</span> })}
                </li>
            }
            .into_any()
        };
        let units = document.units_in_order();
        // Earlier answers of a conversation are between the sentences of the prompt.
        let (before, answer) = units.split_at((document.prompt.sentences.len() + document.last_answer().row).min(units.len()));
        view! {
            <ul class="markable">{before.iter().map(item).collect_view()}</ul>
            <p class="hint">{t!("The answer:")}</p>
            <ul class="markable">{answer.iter().map(item).collect_view()}</ul>
            <p class="choice">
                <button
                    type="button"
                    class="primary"
                    data-testid="lesson-reveal"
                    disabled=move || n_marked.get() != count
                    on:click=move |_| page.send(LessonMessage::Reveal)
                >
                    {t!("Show what was measured")}
                </button>
                <span class="hint" role="status">{move || t!("{n} of {total} marked", n = n_marked.get(), total = count)}</span>
            </p>
        }
    })
}

#[component]
fn Markable(sentence: usize, text: String) -> impl IntoView {
    let page = use_page();
    let is_marked = Memo::new(move |_| page.with(|state| state.lesson().is_some_and(|open| open.answer().marked.contains(&sentence))));
    view! {
        <li>
            <label class:marked=move || is_marked.get()>
                <input
                    type="checkbox"
                    data-testid=format!("mark-{}", sentence + 1)
                    prop:checked=move || is_marked.get()
                    on:change=move |event| {
                        page.send(LessonMessage::Mark(sentence));
                        // The state may reject the mark if enough sentences are marked, so show the state.
                        event_target::<web_sys::HtmlInputElement>(&event).set_checked(is_marked.get_untracked());
                    }
                />
                <b class="name">{format!("P{}", sentence + 1)}</b>
                <span dir="auto">{text}</span>
            </label>
        </li>
    }
}
