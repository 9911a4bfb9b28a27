use leptos::prelude::*;

use crate::app::number;

/// A share as a bar and a number; a dash where it was not measured.
#[component]
pub fn ShareBar(#[prop(into)] share: Signal<Option<f64>>) -> impl IntoView {
    let width = move || format!("--share:{:.3}", share.get().unwrap_or(0.0).clamp(0.0, 1.0));
    view! {
        <span class="bar" style=width></span>
        <span class="figure">{move || number::percent_or_dash(share.get())}</span>
    }
}
