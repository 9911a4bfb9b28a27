use leptos::prelude::*;

use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::place::Place;
use crate::app::views::explanation::ExplanationView;
use crate::app::views::layout::ProblemBox;
use crate::explanation::to_fragment;

/// The explanation, and a link to the full page if the address of that page is known.
#[component]
pub fn ViewerView(glasscage: Option<String>) -> impl IntoView {
    let page = use_page();
    let is_waiting = move || page.with(|state| state.explanation.shown.is_none() && state.problem.is_none());
    let address = move |start: &str| page.selected_document().map(|document| format!("{start}#{}", to_fragment(&document)));
    let out = move |start: String| {
        view! {
            <p class="out" data-testid="open-in-glasscage">
                <a href=move || address(&start) target="_blank" rel="noopener">{t!("Open in Glasscage")}</a>
            </p>
        }
    };
    view! {
        <main class="viewer">
            <ProblemBox place=Place::Page />
            <p class="hint" role="status" hidden=move || !is_waiting()>{t!("Waiting for an explanation\u{2026}")}</p>
            <ExplanationView />
            {glasscage.map(out)}
        </main>
    }
}
