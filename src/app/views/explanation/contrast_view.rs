//! Why this and not that: a form, and the measured contrasts.

use leptos::ev;
use leptos::html::Textarea;
use leptos::prelude::*;

use super::share_bar::ShareBar;
use crate::app::analysis::contrast::{ContrastRow, ContrastWords, Pick, Picks, code_points, place_of};
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::{Page, use_page};
use crate::app::state::message::Message;
use crate::app::views::layout::help_link::{self, HelpLink};
use crate::app::views::models::model_hint::ModelHint;

/// Contrasts of the document, and a button that opens a form for another one.
pub fn view() -> AnyView {
    let page = use_page();
    let is_open = RwSignal::new(false);
    // Text that was selected on the page when the form was opened.
    let selected = RwSignal::new(String::new());
    let can_ask = Memo::new(move |_| is_own(page) && page.attribution(|attribution| attribution.document().is_complete()) == Some(true));
    Effect::new(move |_| {
        if !can_ask.get() {
            is_open.set(false);
        }
    });
    let contrasts = Memo::new(move |_| {
        page.attribution(|attribution| {
            let document = attribution.document();
            document.contrasts.iter().rev().map(|contrast| ContrastWords::new(document, contrast)).collect::<Vec<_>>()
        })
        .unwrap_or_default()
    });
    let cards = move || contrasts.get().into_iter().map(|words| view! { <ContrastCard words /> }).collect_view();
    view! {
        <Show when=move || can_ask.get()>
            <button
                type="button"
                class="quiet"
                data-testid="contrast-open"
                aria-expanded=move || is_open.get().to_string()
                // A click may remove the selection.
                on:pointerdown=move |_| selected.set(browser::selected_text())
                on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
            >
                {t!("Why this and not \u{2026}?")}
            </button>
        </Show>
        <Show when=move || is_open.get()>
            <Form selected />
        </Show>
        <div class="contrasts" data-testid="contrasts">{cards}</div>
    }
    .into_any()
}

/// Whether the reader can ask the model about the explanation on screen: it is neither the welcome explanation nor a step of a lesson, and
/// not in the viewer.
pub(super) fn is_own(page: Page) -> bool {
    page.with(|state| !state.explanation.is_home() && state.lesson().is_none()) && !page.is_viewer()
}

/// A generated sentence and its place in the generation.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sentence {
    text: String,
    label: String,
    /// First code point.
    start: usize,
}

/// Compares a marked part of the explained sentence with a text that the reader enters.
#[component]
fn Form(selected: RwSignal<String>) -> impl IntoView {
    let page = use_page();
    let sentence = Memo::new(move |_| {
        // The selected sentence, not the one under the pointer.
        page.with(|state| {
            let (document, row) = (state.explanation.document()?, *state.explanation.output.last()?);
            // A carriage return would count differently in the field.
            let text = document.generation.sentence(row).trim_end().replace('\r', " ");
            let start = document.generation.sentences[row][0];
            Some(Sentence { text, label: document.label(document.prompt.sentences.len() + row), start })
        })
        .unwrap_or_default()
    });
    // Part of the sentence in code points. `None` is the whole sentence.
    let mark = RwSignal::new(None::<[usize; 2]>);
    Effect::new(move |_| mark.set(sentence.with(|sentence| place_of(&sentence.text, &selected.get()))));
    let marked = move || {
        sentence.with(|sentence| match mark.get() {
            Some([start, end]) => {
                let text: String = sentence.text.chars().skip(start).take(end - start).collect();
                t!("Marked: \u{201c}{text}\u{201d}", text = text.trim())
            }
            None => t!("Marked: all of {label}", label = sentence.label),
        })
    };
    let field = NodeRef::<Textarea>::new();
    let on_select = move || {
        let Some(field) = field.get_untracked() else { return };
        let place = |at: Option<u32>| sentence.with_untracked(|sentence| code_points(&sentence.text, at.unwrap_or(0) as usize));
        let [start, end] = [field.selection_start(), field.selection_end()].map(|at| place(at.ok().flatten()));
        let is_blank = sentence.with_untracked(|sentence| sentence.text.chars().skip(start).take(end - start).all(char::is_whitespace));
        mark.set((!is_blank).then_some([start, end]));
    };
    // In code points of the generation.
    let span = move || {
        let whole = |sentence: &Sentence| [0, sentence.text.chars().count()];
        sentence.with(|sentence| mark.get().unwrap_or_else(|| whole(sentence)).map(|at| sentence.start + at))
    };
    let picks = Memo::new(move |_| page.attribution(|attribution| Picks::of(attribution.document(), span())).flatten());
    let alternative = RwSignal::new(String::new());
    let can_run = move || !page.is_busy() && !alternative.with(|text| text.trim().is_empty());
    let on_submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        if !untrack(can_run) {
            return;
        }
        page.send(Message::MeasureContrast { mark: untrack(span), alternative: alternative.get_untracked() });
    };
    view! {
        <form class="contrast-form" data-testid="contrast-form" on:submit=on_submit>
            <label class="field">
                <span class="label">{move || t!("Mark a part of {label}", label = sentence.with(|sentence| sentence.label.clone()))}</span>
                <textarea
                    // A field with the attribute `readonly` has no caret in Chromium, so the keyboard could mark nothing.
                    aria-readonly="true"
                    inputmode="none"
                    dir="auto"
                    rows="1"
                    spellcheck="false"
                    data-testid="contrast-sentence"
                    node_ref=field
                    prop:value=move || sentence.with(|sentence| sentence.text.clone())
                    on:beforeinput=move |event| event.prevent_default()
                    on:select=move |_| on_select()
                    on:keyup=move |_| on_select()
                    on:pointerup=move |_| on_select()
                ></textarea>
            </label>
            <p class="hint" role="status" data-testid="contrast-mark">{marked}</p>
            <label class="field">
                <span class="label">{t!("What it could say instead")}</span>
                <input
                    type="text"
                    dir="auto"
                    maxlength="500"
                    autocomplete="off"
                    data-testid="contrast-alternative"
                    prop:value=move || alternative.get()
                    on:input=move |event| alternative.set(event_target_value(&event))
                />
            </label>
            {move || picks.get().map(|picks| view! { <PickButtons picks alternative /> })}
            <p class="go">
                <button type="submit" class="primary" data-testid="contrast-run" aria-disabled=move || (!can_run()).to_string()>
                    {t!("Compare")}
                </button>
                <ModelHint />
            </p>
            <p class="hint">
                {t!("Takes two forward passes for each source before the mark. A mark within a token grows to the whole token.")}
            </p>
            <HelpLink section=help_link::CONTRAST />
        </form>
    }
}

/// Buttons that enter one of the model's own alternatives.
#[component]
fn PickButtons(picks: Picks, alternative: RwSignal<String>) -> impl IntoView {
    let Picks { token, is_longer, choices } = picks;
    let label = t!("The model\u{2019}s own alternatives to \u{201c}{token}\u{201d}", token);
    let button = move |(k, Pick { text, percent }): (usize, Pick)| {
        let [own, entered] = [text.clone(), text.clone()];
        let is_chosen = move || alternative.with(|entered| entered.trim() == own).to_string();
        view! {
            <button
                type="button"
                class="chip"
                dir="auto"
                data-testid=format!("pick-{k}")
                aria-pressed=is_chosen
                on:click=move |_| alternative.set(entered.clone())
            >
                {text}
                " "
                <small>{percent}</small>
            </button>
        }
    };
    view! {
        <div class="examples" role="group" aria-label=label.clone() data-testid="picks">
            <span class="hint" aria-hidden="true">{label.clone()}</span>
            {choices.into_iter().enumerate().map(button).collect_view()}
        </div>
        {is_longer.then(|| {
            view! { <p class="hint">{t!("The mark goes on after this token. All of it is compared with the alternative alone.")}</p> }
        })}
    }
}

/// One contrast: both log-probabilities, and two bars per prompt sentence.
#[component]
fn ContrastCard(words: ContrastWords) -> impl IntoView {
    let ContrastWords { title, facts, verdict, key, rows, notes } = words;
    let has_rows = !rows.is_empty();
    let row = |ContrastRow { label, text, amounts: [supporting, opposing], effect }: ContrastRow| {
        view! {
            <tr title=effect>
                <th scope="row">
                    <span class="label">{label}</span>
                    <span class="snippet" dir="auto">{text}</span>
                </th>
                <td><ShareBar amount=Signal::stored(Some(supporting)) /></td>
                <td><ShareBar amount=Signal::stored(Some(opposing)) /></td>
            </tr>
        }
    };
    let rows = rows.into_iter().map(row).collect_view();
    let table = has_rows.then(|| {
        view! {
            <table class="entries">
                <thead>
                    <tr>
                        <th scope="col">{t!("Prompt")}</th>
                        <th scope="col">{t!("for")}</th>
                        <th scope="col">{t!("against")}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p class="hint">{key}</p>
        }
    });
    view! {
        <section class="contrast" aria-label=title.clone()>
            <h4 dir="auto">{title.clone()}</h4>
            <p data-testid="contrast-verdict">{verdict}</p>
            {facts.into_iter().map(|fact| view! { <p class="hint" dir="auto">{fact}</p> }).collect_view()}
            {table}
            {notes.into_iter().map(|note| view! { <p class="hint">{note}</p> }).collect_view()}
        </section>
    }
}
