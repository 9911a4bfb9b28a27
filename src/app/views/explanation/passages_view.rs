//! The named passages of the prompt: their shares and effects, and the citations of the answer.

use leptos::prelude::*;

use super::contrast_view::is_own;
use super::share_bar::ShareBar;
use crate::app::analysis::passages::{self, AnswerWithout, CitationRow, PassageRow};
use crate::app::analysis::share_texts;
use crate::app::i18n::{in_sequence, t};
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::models::model_hint::ModelHint;
use crate::explanation::Answer;

/// The passages of the explained document, and the citations of its answer.
pub fn view() -> AnyView {
    let page = use_page();
    let rows = Memo::new(move |_| page.attribution(passages::rows).unwrap_or_default());
    let citations = Memo::new(move |_| page.attribution(|attribution| passages::citation_rows(attribution.document())).unwrap_or_default());
    let output = move || page.attribution(share_texts::output_label).unwrap_or_default();
    let can_ask = Memo::new(move |_| is_own(page));
    let is_given =
        Memo::new(move |_| page.attribution(|attribution| attribution.document().manifest.answer == Answer::Given {}) == Some(true));
    let verdict = move || {
        let answers = page.with(|state| {
            let (document, variants) = (state.explanation.document()?, &state.explanation.variants);
            let of_row = |row: &PassageRow| passages::answer_without(document, variants, &row.name, &row.sources);
            Some(rows.with(|rows| rows.iter().filter_map(of_row).map(|answer| answer.verdict).collect::<Vec<_>>()))
        });
        in_sequence(answers.unwrap_or_default())
    };
    let has_notes = move || rows.with(|rows| rows.iter().any(|row| row.repeats_itself));
    let table_rows = move || rows.get().into_iter().map(|row| view! { <Row row can_ask /> }).collect_view();
    let answers = move || rows.get().into_iter().map(|row| view! { <WithoutPassage row /> }).collect_view();
    view! {
        <section class="passages" aria-label=t!("Passages") data-testid="passages">
            <p class="hint">
                {move || t!(
                    "How much {output} depends on each passage. The effect is how much less likely {output} becomes without the \
                     whole passage.",
                    output = output(),
                )}
            </p>
            <HelpLink section=help_link::PASSAGES />
            <table class="entries">
                <thead>
                    <tr>
                        <th scope="col">{t!("Passage")}</th>
                        <th scope="col">{t!("share")}</th>
                        <th scope="col">{t!("effect")} " " <small>{t!("nats per token")}</small></th>
                    </tr>
                </thead>
                <tbody>{table_rows}</tbody>
            </table>
            <Show when=has_notes>
                <p class="hint">
                    {t!("A passage says the same thing more than once if its effect is much larger than those of its parts together.")}
                </p>
            </Show>
            <Show when=move || can_ask.get()>
                <ModelHint />
            </Show>
            <Show when=move || can_ask.get() && is_given.get()>
                <p class="hint">{t!("This answer was provided, not written by the model. The model wrote the others.")}</p>
            </Show>
            <div data-testid="answers-without">{answers}</div>
            <p class="visually-hidden" role="status">{verdict}</p>
            <Show when=move || citations.with(|citations| !citations.is_empty())>
                <h3>{t!("Citations")}</h3>
                <ul class="citations" data-testid="citations">
                    {move || citations.get().into_iter().map(|row| view! { <CitationItem row /> }).collect_view()}
                </ul>
            </Show>
        </section>
    }
    .into_any()
}

/// A passage with its share in the explained sentences, and its effect on them.
#[component]
fn Row(row: PassageRow, can_ask: Memo<bool>) -> impl IntoView {
    let page = use_page();
    let PassageRow { name, labels, sources, amount, effect, repeats_itself } = row;
    let test_id = format!("without-{labels}");
    let button = move || {
        let sources = sources.clone();
        can_ask.get().then(|| {
            view! {
                <button
                    type="button"
                    class="chip screen-only"
                    data-testid=test_id.clone()
                    title=t!("Removes this passage from the prompt, and lets the model answer again with the same settings")
                    aria-disabled=move || page.is_busy().to_string()
                    on:click=move |_| page.send(Message::AnswerWithout(sources.clone()))
                >
                    {t!("Answer without it")}
                </button>
            }
        })
    };
    view! {
        <tr>
            <th scope="row">
                <span class="name" dir="auto">{name}</span>
                <span class="label">{labels}</span>
                {repeats_itself.then(|| view! { <span class="tag">{t!("says the same thing more than once")}</span> })}
                {button}
            </th>
            <td><ShareBar amount=Signal::stored(amount) /></td>
            <td class="figure">{effect.unwrap_or_else(|| "\u{2013}".into())}</td>
        </tr>
    }
}

/// What the model answered without the passage, if it was asked.
#[component]
fn WithoutPassage(row: PassageRow) -> impl IntoView {
    let page = use_page();
    let found = Memo::new(move |_| {
        page.with(|state| {
            let variants = &state.explanation.variants;
            passages::answer_without(state.explanation.document()?, variants, &row.name, &row.sources)
        })
    });
    move || {
        found.get().map(|AnswerWithout { verdict, answer, is_growing }| {
            let is_hidden = answer.is_empty() && !is_growing;
            view! {
                <div class="without">
                    <p>{verdict}</p>
                    <p class="answer" dir="auto" hidden=is_hidden>
                        {answer}
                        <span class="caret" hidden=!is_growing></span>
                    </p>
                </div>
            }
        })
    }
}

#[component]
fn CitationItem(row: CitationRow) -> impl IntoView {
    let CitationRow { label, state, is_supported, words } = row;
    view! {
        <li class:supported=is_supported>
            <span class="label">{label}</span>
            " "
            <strong class="state">{state}</strong>
            {t!(": ")}
            {words}
        </li>
    }
}
