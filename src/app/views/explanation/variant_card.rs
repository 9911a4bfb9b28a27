use leptos::prelude::*;

use super::arc_diagram::SmallArcDiagram;
use super::share_bar::ShareBar;
use super::tab::Tab;
use crate::app::analysis::variant::{SentenceChange, Variant, VariantAnswer, are_new, white_space_after};
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::message::Message;
use crate::shares::Shares;

const EXPLANATION: &str = ".explanation";

/// An edited prompt with its answer and the sources of that answer, compared with the original.
#[component]
pub fn VariantCard(at: usize, variant: Variant, original: Vec<String>) -> impl IntoView {
    let page = use_page();
    let original: Vec<&str> = original.iter().map(String::as_str).collect();
    let verdict = variant.verdict(&original);
    let new = match &variant.answer {
        VariantAnswer::Whole(sentences) => are_new(&original, sentences),
        _ => Vec::new(),
    };
    let answer = match &variant.answer {
        VariantAnswer::Growing(text) => view! { <p class="answer">{text.clone()}<span class="caret"></span></p> }.into_any(),
        VariantAnswer::Stopped(text) => view! { <p class="answer">{text.clone()}</p> }.into_any(),
        VariantAnswer::Whole(sentences) => {
            let marked = sentences.iter().zip(&new).map(|(sentence, is_new)| match is_new {
                true => view! { <mark>{sentence.trim_end().to_owned()}</mark> {white_space_after(sentence).to_owned()} }.into_any(),
                false => view! { <span>{sentence.clone()}</span> }.into_any(),
            });
            view! { <p class="answer">{marked.collect_view()}</p> }.into_any()
        }
    };
    let is_explained = variant.explanation.is_some();
    let changes = page.with(|state| variant.changes(&state.explanation.shown.as_ref()?.graph));
    let changes = changes.map(|changes| view! { <ChangesTable changes /> });
    let graphs = page.with(|state| variant.last_sentences(&state.explanation.shown.as_ref()?.graph));
    // Explained, but by another method than the one on screen.
    let is_incomparable = is_explained && graphs.is_none();
    let can_explain = matches!(variant.answer, VariantAnswer::Whole(_)) && graphs.is_none();
    let graphs = graphs.map(|[before, after]| {
        let labels = variant.labels_after(before.document(), after.document());
        view! { <Graphs before after labels /> }
    });
    let tab = use_context::<RwSignal<Tab>>();
    let open = move || {
        if untrack(|| page.is_busy()) {
            return;
        }
        page.send(Message::OpenVariant(at));
        tab.inspect(|tab| tab.set(Tab::Text));
        browser::scroll_to(EXPLANATION);
    };
    view! {
        <section class="card">
            <h3>{variant.title.clone()}</h3>
            {answer}
            <p hidden=verdict.is_empty()>
                <b>{verdict}</b>
                {new.contains(&true).then_some(view! { <span class="hint">" " {t!("Sentences that are not in the original answer are \
                                                                                   marked.")}</span> })}
            </p>
            {changes}
            {graphs}
            {is_incomparable.then(|| view! {
                <p class="hint">{t!("This answer was explained by another method, so the shares cannot be compared.")}</p>
            })}
            <p class="examples">
                {can_explain.then(|| view! {
                    <Chip
                        label=t!("Explain this answer, too")
                        test_id=format!("explain-variant-{at}")
                        on_press=move || page.send(Message::ExplainVariant(at))
                    />
                })}
                {is_explained.then(|| view! {
                    <Chip label=t!("Open this explanation") test_id=format!("open-variant-{at}") on_press=open />
                })}
                <button
                    type="button"
                    class="chip"
                    disabled=move || page.is_busy()
                    title=t!("Your own text is saved and can be restored")
                    on:click=move |_| page.send(Message::EditVariant(at))
                >
                    {t!("Edit this prompt")}
                </button>
            </p>
        </section>
    }
}

/// Button for the next action on an edited prompt. Marked as disabled during a run.
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

/// Graphs of the last sentence of each answer, before and after the edits.
#[component]
fn Graphs(
    before: Shares,
    after: Shares,
    /// Labels of the sources of `after`. Prompt sentences have the numbers that they had in `before`.
    labels: Vec<String>,
) -> impl IntoView {
    let share = use_page().with(|state| *state.explanation.edge_share);
    let labels_before = before.document().labels();
    let graph = |title: &'static str, attribution: Shares, labels: Vec<String>| {
        view! { <figure><figcaption class="hint">{title}</figcaption><SmallArcDiagram attribution labels share /></figure> }
    };
    view! {
        <div class="graphs" data-testid="graphs">
            {graph(t!("before"), before, labels_before)} {graph(t!("after"), after, labels)}
        </div>
    }
}

/// Shares of the prompt sentences in the last sentence of each answer, before and after the edits.
#[component]
fn ChangesTable(changes: Vec<SentenceChange>) -> impl IntoView {
    let row = |SentenceChange { label, before, after, is_reworded, amounts: [share_before, share_after] }: SentenceChange| {
        let words = match after {
            None => view! { <del dir="auto">{before}</del> }.into_any(),
            Some(after) if is_reworded => view! { <ins dir="auto">{after}</ins> }.into_any(),
            Some(after) => view! { <span dir="auto">{after}</span> }.into_any(),
        };
        view! {
            <tr>
                <th scope="row">
                    <span class="label">{label}</span>
                    <span class="snippet">{words}</span>
                </th>
                <td><ShareBar amount=Signal::stored(share_before) /></td>
                <td><ShareBar amount=Signal::stored(share_after) /></td>
            </tr>
        }
    };
    view! {
        <table class="entries" data-testid="changes">
            <thead>
                <tr>
                    <th scope="col">{t!("What the last sentence depends on")}</th>
                    <th scope="col">{t!("before")}</th>
                    <th scope="col">{t!("after")}</th>
                </tr>
            </thead>
            <tbody>{changes.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
}
