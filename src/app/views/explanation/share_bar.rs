use leptos::prelude::*;

use crate::app::analysis::share_texts::Amount;

/// An influence as a bar and a number, or as a dash if it was not measured.
#[component]
pub fn ShareBar(#[prop(into)] amount: Signal<Option<Amount>>) -> impl IntoView {
    let part = move || amount.with(|amount| amount.as_ref().map_or(0.0, |amount| amount.part));
    let figure = move || amount.with(|amount| amount.as_ref().map_or_else(|| "\u{2013}".to_owned(), |amount| amount.figure.clone()));
    view! {
        <span class="bar" class:minus=move || part() < 0.0 style=move || format!("--share:{:.3}", part().abs())></span>
        <span class="figure">{figure}</span>
    }
}
