use crate::app::state::message::ExplanationMessage;
use leptos::prelude::*;

use crate::app::analysis::number;
use crate::app::i18n::{plural, t};
use crate::app::page::use_page;
use crate::graph::Pruned;

/// Slider for the share of influence that the drawn edges carry, with the number of hidden edges.
#[component]
pub fn PruneControl(
    /// Whether the graph is shown. `None` if the view always shows it.
    with_graph: Option<RwSignal<bool>>,
    /// The drawn edges.
    kept: Memo<Pruned>,
) -> impl IntoView {
    let page = use_page();
    let share = move || page.with(|state| *state.explanation.edge_share);
    let label = t!("Edges that carry {share} of the influence", share = "|");
    // The share is a separate element, so that the words do not move when it changes.
    let (before, after) = label.split_once('|').unwrap_or((&label, ""));
    let (before, after) = (before.to_owned(), after.to_owned());
    let on_input = move |event| {
        if let Ok(percent) = event_target_value(&event).parse::<u8>() {
            page.send(ExplanationMessage::SetEdgeShare(f64::from(percent) / 100.0));
        }
    };
    let summary = move || kept.with(what_is_drawn);
    let is_off = move || with_graph.is_some_and(|with_graph| !with_graph.get());
    let graph_switch = move |with_graph: RwSignal<bool>| {
        view! {
            <label class="check">
                <input type="checkbox" prop:checked=with_graph on:change=move |event| with_graph.set(event_target_checked(&event)) />
                {t!("Graph")}
            </label>
        }
    };
    view! {
        <div class="prune">
            {with_graph.map(graph_switch)}
            <label class="slider" class:off=is_off>
                <span>{before} <b>{move || number::percent(share())}</b> {after}</span>
                <input
                    type="range"
                    data-testid=if with_graph.is_some() { "prune-slider" } else { "path-slider" }
                    min="10"
                    max="100"
                    step="1"
                    prop:value=move || number::whole_percent(share()).to_string()
                    on:input=on_input
                />
            </label>
            <span class="hint" class:off=is_off>{summary}</span>
        </div>
    }
}

/// "12 edges, 8 weaker hidden".
fn what_is_drawn(pruned: &Pruned) -> String {
    match (pruned.edges.len(), pruned.hidden) {
        (0, _) => t!("No influence to show").into(),
        (n, 0) => plural!(n, "{n} edge, none hidden", "{n} edges, none hidden"),
        (n, hidden) => plural!(n, "{n} edge, {hidden} weaker hidden", "{n} edges, {hidden} weaker hidden", hidden),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::shares;

    #[test]
    fn hidden_edges_are_counted() {
        let words = |output: usize, share: f64| what_is_drawn(&shares(&[output]).prune(share));
        assert_eq!(words(1, 1.0), "3 edges, none hidden");
        assert_eq!(words(1, 0.6), "2 edges, 1 weaker hidden");
        assert_eq!(words(2, 0.9), "No influence to show");
    }
}
