use std::sync::Arc;

use crate::app::analysis::share_texts;
use crate::app::page::{Page, use_page};
use crate::app::state::message::Message;
use crate::app::state::shown_document::ShownDocument;
use leptos::prelude::*;

use super::share_bar::ShareBar;
use crate::app::analysis::comparison::{Compared, Comparison, agreement_words, correlation_figure};
use crate::app::analysis::deletion_test::Coverage;
use crate::app::analysis::{method_words, number};
use crate::app::i18n::{following, t, text};
use crate::app::views::models::model_hint::ModelHint;
use crate::explanation::METHODS;
use crate::shares::Shares;

/// The same answer explained by several methods, side by side.
#[component]
pub fn MethodsView() -> impl IntoView {
    let page = use_page();
    let comparison = Memo::new(move |_| compared(page));
    let about = move || {
        t!(
            "Each method measures influence in its own way. The table shows the total influence on {label} by each method. Where \
             methods agree, the explanation depends less on the method.",
            label = page.attribution(share_texts::output_label).unwrap_or_default(),
        )
    };
    let table = move || comparison.get().map(|comparison| view! { <Comparing comparison /> });
    view! {
        <p>{about}</p>
        {table}
        <Missing comparison />
    }
}

/// The explanation on screen and the others of the same answer, all for the same output.
fn compared(page: Page) -> Option<Comparison> {
    let relevant = page.relevant().unwrap_or_default();
    let own = page.current()?;
    let read = |other: &ShownDocument| Shares::new(other.graph.clone(), own.output());
    let is_other = |other: &&ShownDocument| other.graph.document().method.id != own.document().method.id;
    let others: Vec<Shares> = page.with(|state| state.explanation.comparisons.iter().filter(is_other).map(read).collect());
    let readings: Vec<Shares> = std::iter::once(Arc::unwrap_or_clone(own)).chain(others).collect();
    Some(Comparison::new(&readings, &relevant))
}

/// A button for each method that did not explain this answer yet.
#[component]
fn Missing(comparison: Memo<Option<Comparison>>) -> impl IntoView {
    let page = use_page();
    let is_there = move |id: &str| comparison.with(|all| all.iter().flat_map(|all| &all.methods).any(|method| method.id == id));
    let buttons = METHODS.iter().map(|method| {
        view! {
            <p class="go" hidden=move || is_there(method.id)>
                <button
                    type="button"
                    data-testid=format!("compare-{}", method.id)
                    aria-disabled=move || page.is_busy().to_string()
                    on:click=move |_| page.send(Message::CompareMethod(method.id.into()))
                >
                    {t!("Add: {method}", method = text(method.label))}
                </button>
                <span class="hint">
                    {move || method_words::about(method, page.unit())}
                    {move || following(&method_words::cost(method, page.unit()))}
                </span>
            </p>
        }
    });
    let is_something_missing = move || METHODS.iter().any(|method| !is_there(method.id));
    view! {
        {buttons.collect_view()}
        <Show when=is_something_missing>
            <ModelHint />
        </Show>
    }
}

#[component]
fn Comparing(comparison: Comparison) -> impl IntoView {
    let page = use_page();
    let relevant = page.relevant().unwrap_or_default();
    let heads = comparison
        .methods
        .iter()
        .enumerate()
        .map(|(k, method)| view! { <MethodHead id=method.id.clone() name=method.name.clone() is_shown=k == 0 /> });
    let rows = comparison.sentences.iter().enumerate().map(|(j, (label, text))| {
        let cells =
            comparison.methods.iter().map(|method| view! { <td><ShareBar amount=Signal::stored(method.amounts[j].clone()) /></td> });
        view! {
            <tr>
                <th scope="row">
                    <span class="label">{label.clone()}</span>
                    <span class="snippet" dir="auto" title=text.clone()>{text.clone()}</span>
                    {relevant.contains(&j).then_some(view! { <span class="tag">{t!("relevant")}</span> })}
                </th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <div class="table-scroll" tabindex="0" role="region" aria-label=t!("Methods side by side")>
            <table class="entries methods" data-testid="methods">
                <thead>
                    <tr>
                        <th scope="col">{t!("Prompt")}</th>
                        {heads.collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
                <Coverages methods=comparison.methods.clone() />
            </table>
        </div>
        <Agreement comparison />
    }
}

/// The heading of a method's column: its name, and a button that shows its explanation.
#[component]
fn MethodHead(id: String, name: String, is_shown: bool) -> impl IntoView {
    let page = use_page();
    let test_id = format!("show-{id}");
    let below = match is_shown {
        true => view! { <span class="hint">{t!("shown now")}</span> }.into_any(),
        false => view! {
            <button
                type="button"
                class="chip"
                data-testid=test_id
                title=t!("Show this method instead")
                aria-disabled=move || page.is_busy().to_string()
                on:click=move |_| page.send(Message::ShowMethod(id.clone()))
            >
                {t!("Show")}
            </button>
        }
        .into_any(),
    };
    view! { <th scope="col"><b>{name}</b> {below}</th> }
}

/// Shows how much influence each method gives to the relevant sentences, if they are known.
#[component]
fn Coverages(methods: Vec<Compared>) -> impl IntoView {
    let coverages: Option<Vec<Coverage>> = methods.iter().map(|method| method.coverage).collect();
    coverages.map(|coverages| {
        let shares = coverages.iter().map(|coverage| view! { <td>{number::percent(coverage.share)}</td> }).collect_view();
        let acs = coverages.iter().map(|coverage| view! { <td>{number::with_point(&format!("{:.2}", coverage.ac))}</td> }).collect_view();
        view! {
            <tfoot data-testid="method-coverage">
                <tr>
                    <th scope="row">{t!("Share of the relevant sentences")}</th>
                    {shares}
                </tr>
                <tr>
                    <th
                        scope="row"
                        title=t!("The fraction of relevant sentences whose share is between 0.5 and 1.5 times an equal share")
                    >
                        {t!("Attribution coverage (AC, higher is better)")}
                    </th>
                    {acs}
                </tr>
            </tfoot>
        }
    })
}

/// Agreement of the orders: in words for two methods, as a table for more.
#[component]
fn Agreement(comparison: Comparison) -> impl IntoView {
    let names: Vec<String> = comparison.methods.iter().map(|method| method.name.clone()).collect();
    let sources = number::counted_units(comparison.sentences.len(), use_page().unit());
    let explained = view! {
        <p class="hint">
            {t!(
                "Agreement is Spearman\u{2019}s rank correlation over {sources}: 1 means the same order, 0 unrelated orders, \u{2212}1 \
                 opposite orders. With few sources it means little.",
                sources,
            )}
        </p>
    };
    match names.len() {
        0 | 1 => ().into_any(),
        2 => {
            let words = agreement_words(comparison.agreement(0, 1));
            view! { <p data-testid="agreement"><b>{t!("Agreement:")}</b> " " {t!("{words}.", words)}</p> {explained} }.into_any()
        }
        n => {
            let cell = |a: usize, b: usize| {
                let figure =
                    if b > a { comparison.agreement(a, b).map_or_else(|| "\u{2013}".into(), correlation_figure) } else { String::new() };
                view! { <td>{figure}</td> }
            };
            let rows =
                (0..n - 1).map(|a| view! { <tr><th scope="row">{names[a].clone()}</th>{(1..n).map(|b| cell(a, b)).collect_view()}</tr> });
            let rows = rows.collect_view();
            let heads = names[1..].iter().map(|name| view! { <th scope="col">{name.clone()}</th> }).collect_view();
            view! {
                <div class="agreement"><table class="metrics" data-testid="agreement">
                    <thead><tr><th scope="col">{t!("Agreement")}</th>{heads}</tr></thead>
                    <tbody>{rows}</tbody>
                </table></div>
                {explained}
            }
            .into_any()
        }
    }
}
