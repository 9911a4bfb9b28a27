use crate::app::state::message::{ExplanationMessage, Message};
use leptos::ev;
use leptos::prelude::*;

use super::share_bar::ShareBar;
use super::variant_card::VariantCard;
use crate::app::analysis::share_texts::{self, Amount};
use crate::app::analysis::variant::{Variant, last_answer, units_before_answer};
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::views::models::model_hint::ModelHint;
use crate::explanation::Answer;
use crate::shares::Shares;

const MAX_STRONGEST: usize = 3;
/// Line length for browsers that do not fit a field to its text.
const CHARACTERS_A_LINE: usize = 70;

/// Lets the user edit the prompt, and shows whether the model then answers differently.
#[component]
pub fn WhatIfView() -> impl IntoView {
    let page = use_page();
    let can_answer =
        Memo::new(move |_| page.with(|state| Variant::new(state.explanation.document()?, &state.explanation.edits).map(drop)).is_some());
    let is_conversation = move || page.attribution(|attribution| !attribution.document().turns.is_empty()) == Some(true);
    let hint = move || match (page.with(|state| state.explanation.edits.is_empty()), !can_answer.get()) {
        (true, _) => t!("Mark what to leave out, or edit the text, for example a number or a name."),
        (false, true) if is_conversation() => t!("This would leave nothing to answer. Keep a part of the last message."),
        (false, true) => t!("This would leave nothing of the prompt. Keep a part of it."),
        _ => "",
    };
    view! {
        <p>
            {t!(
                "The explanation shows what the answer depends on. Leave out or change part of the prompt, and let the model answer \
                 again with the same settings."
            )}
        </p>
        <Marks />
        <p class="go">
            <button
                type="button"
                class="primary"
                data-testid="answer-without"
                aria-disabled=move || (page.is_busy() || !can_answer.get()).to_string()
                on:click=move |_| page.send(Message::AnswerVariant)
            >
                {t!("Get a new answer")}
            </button>
            <span class="note" data-testid="without-hint">{hint}</span>
            <ModelHint />
        </p>
        <Answers />
    }
}

/// The sentences before the answer, each with a checkbox.
#[component]
fn Marks() -> impl IntoView {
    let page = use_page();
    let rows = Memo::new(move |_| {
        page.attribution(|attribution| {
            let units = units_before_answer(attribution.document()).into_iter();
            units.map(|(j, text)| (j, attribution.document().label(j), text.trim().to_owned())).collect::<Vec<_>>()
        })
        .unwrap_or_default()
    });
    let mark_strongest = move |k: usize| {
        page.send(ExplanationMessage::LeaveOut(untrack(|| page.attribution(|attribution| strongest(attribution, k))).unwrap_or_default()));
    };
    let strongest_buttons = (1..=MAX_STRONGEST).map(|k| {
        view! {
            <button type="button" class="chip" data-testid=format!("mark-strongest-{k}") on:click=move |_| mark_strongest(k)>
                {if k == 1 { t!("the strongest").into() } else { t!("the {n} strongest", n = k) }}
            </button>
        }
    });
    view! {
        <div class="examples" role="group" aria-label=t!("Leave out")>
            <span class="hint" aria-hidden="true">{t!("Leave out")}</span>
            {strongest_buttons.collect_view()}
            <button
                type="button"
                class="chip"
                data-testid="undo-edits"
                aria-disabled=move || page.with(|state| state.explanation.edits.is_empty()).to_string()
                on:click=move |_| page.send(ExplanationMessage::UndoEdits)
            >
                {t!("Undo all changes")}
            </button>
        </div>
        <div class="marks">
            <p class="mark caption" aria-hidden="true"><span></span><span></span><span></span><span>{t!("share")}</span></p>
            <For each=move || rows.get() key=Clone::clone children=move |(j, label, text)| view! { <Mark j label text /> } />
        </div>
    }
}

/// A sentence that the user can leave out or reword.
#[component]
fn Mark(j: usize, label: String, text: String) -> impl IntoView {
    let page = use_page();
    let amount =
        Memo::new(move |_| -> Option<Amount> { page.attribution(|attribution| share_texts::amounts(attribution, j)[0].clone()).flatten() });
    let is_marked = move || page.with(|state| state.explanation.edits.left_out.contains(&j));
    let words = Memo::new(move |_| page.with(|state| state.explanation.edits.reworded.get(&j).cloned()));
    let on_change = move |event| {
        let is_on = event_target_checked(&event);
        let mut left_out = untrack(|| page.with(|state| state.explanation.edits.left_out.clone()));
        left_out.retain(|&other| other != j);
        left_out.extend(is_on.then_some(j));
        left_out.sort_unstable();
        page.send(ExplanationMessage::LeaveOut(left_out));
    };
    let rows = text.len() / CHARACTERS_A_LINE + 1;
    // A sentence is one line, so Enter does not start a new one.
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" && !browser::is_composing(&event) {
            event.prevent_default();
            page.send(Message::AnswerVariant);
        }
    };
    let shown = move || words.get().unwrap_or_else(|| text.clone());
    view! {
        <div class="mark" class:marked=is_marked class:reworded=move || words.with(Option::is_some)>
            <input
                type="checkbox"
                aria-label=t!("Leave out {label}", label)
                data-testid=format!("mark-{label}")
                prop:checked=is_marked
                on:change=on_change
            />
            <span class="label">{label.clone()}</span>
            <textarea
                class="text"
                dir="auto"
                rows=rows
                spellcheck="false"
                aria-label=t!("Words of {label}", label)
                data-testid=format!("reword-{label}")
                disabled=is_marked
                prop:value=shown
                on:keydown=on_key
                on:input=move |event| page.send(ExplanationMessage::Reword { source: j, words: event_target_value(&event) })
            ></textarea>
            <span class="share"><ShareBar amount /></span>
        </div>
    }
}

/// The `k` prompt sentences with the largest positive influence, in text order.
fn strongest(attribution: &Shares, k: usize) -> Vec<usize> {
    let mut sources: Vec<usize> =
        attribution.strongest_sources().into_iter().filter(|&j| attribution.total(j) > Some(0.0)).take(k).collect();
    sources.sort_unstable();
    sources
}

/// The variants with edited prompts.
fn edited(variants: &[Variant]) -> impl DoubleEndedIterator<Item = &Variant> {
    variants.iter().filter(|variant| variant.continuation.is_none())
}

/// The original answer next to the answers to edited prompts, latest first.
#[component]
fn Answers() -> impl IntoView {
    let page = use_page();
    let original = Memo::new(move |_| {
        page.attribution(|attribution| {
            let document = attribution.document();
            let is_given = matches!(document.manifest.answer, Answer::Given {});
            (last_answer(document).into_iter().map(str::to_owned).collect::<Vec<_>>(), is_given)
        })
        .unwrap_or_default()
    });
    let numbers = Memo::new(move |_| {
        page.with(|state| {
            let variants = state.explanation.variants.iter().enumerate().rev();
            variants.filter(|(_, variant)| variant.continuation.is_none()).map(|(at, _)| at).collect::<Vec<_>>()
        })
    });
    // Only the card of a growing answer is drawn again at each token.
    let card = move |at: usize| {
        let variant = Memo::new(move |_| page.with(|state| state.explanation.variants.get(at).cloned()));
        move || variant.get().map(|variant| view! { <VariantCard at variant original=original.get().0 /> })
    };
    let verdict = move || {
        original.with(|(original, _)| {
            let original: Vec<&str> = original.iter().map(String::as_str).collect();
            page.with(|state| edited(&state.explanation.variants).last().map(|variant| variant.verdict(&original)))
        })
    };
    let text = move || original.with(|(sentences, _)| sentences.concat());
    let is_given = move || original.with(|(_, is_given)| *is_given);
    view! {
        <div class="answers" hidden=move || page.with(|state| edited(&state.explanation.variants).next().is_none())>
            <section class="card original">
                <h3>{t!("With the whole prompt")}</h3>
                <p class="answer">{text}</p>
                <p
                    class="hint"
                    hidden=move || !is_given()
                >
                    {t!("This answer was provided, not written by the model. The model wrote the others.")}
                </p>
            </section>
            <div class="variants" data-testid="variants">
                <For each=move || numbers.get() key=|at| *at children=card />
            </div>
            <p class="visually-hidden" role="status">{verdict}</p>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::shares;

    #[test]
    fn the_strongest_are_marked_in_the_order_of_the_text() {
        let attribution = shares(&[0, 1]);
        assert_eq!((strongest(&attribution, 1), strongest(&attribution, 3)), (vec![0], vec![0, 1]));
    }
}
