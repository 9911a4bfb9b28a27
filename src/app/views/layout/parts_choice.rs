use leptos::prelude::*;

use crate::app::i18n::{text, translatable};

/// A part of the page: its name in `?hide=`, and its label.
pub type Part = (&'static str, &'static str);

/// Parts of an explanation. An embedded frame can hide them, too.
pub const OF_EXPLANATION: [Part; 5] = [
    ("graph", translatable!("Graph")),
    ("shares", translatable!("Percentages")),
    ("details", translatable!("Details")),
    ("tabs", translatable!("Tabs")),
    ("derivation", translatable!("From scores to shares")),
];
/// Parts of the page around an explanation.
pub const OF_PAGE: [Part; 5] = [
    ("header", translatable!("Top bar")),
    ("prompt", translatable!("Ask a model")),
    ("manifest", translatable!("How this was made")),
    ("welcome", translatable!("Lessons and explained examples")),
    ("footer", translatable!("Footer")),
];

/// One checkbox for each part, which shows or hides the part.
#[component]
pub fn PartsChoice(
    parts: Vec<Part>,
    /// Prefix of the test ids.
    prefix: &'static str,
    is_shown: impl Fn(&str) -> bool + Copy + Send + Sync + 'static,
    on_change: impl Fn(&'static str, bool) + Copy + 'static,
) -> impl IntoView {
    let part = |(name, label): Part| {
        let change = move |event| on_change(name, event_target_checked(&event));
        view! {
            <label>
                <input type="checkbox" prop:checked=move || is_shown(name) data-testid=format!("{prefix}-{name}") on:change=change />
                {text(label)}
            </label>
        }
    };
    view! { <div class="side-by-side">{parts.into_iter().map(part).collect_view()}</div> }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn they_are_those_that_the_page_can_hide() {
        let css = include_str!("../../../../www/parts.css").split("[data-hide~=\"").skip(1);
        let known: BTreeSet<&str> = css.filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
        assert_eq!(OF_EXPLANATION.iter().chain(&OF_PAGE).map(|(name, _)| *name).collect::<BTreeSet<_>>(), known);
    }
}
