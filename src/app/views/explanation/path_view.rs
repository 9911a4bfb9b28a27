use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;

use super::edge_path::EdgePath;
use super::element_width::element_width;
use super::prune_control::PruneControl;
use super::walk_view::WalkView;
use crate::app::analysis::number::percent;
use crate::app::analysis::path_diagram::{self, DiagramEdge, DiagramNode, Geometry, PathDiagram};
use crate::app::analysis::share_texts;
use crate::app::browser;
use crate::app::i18n::{plural, t};
use crate::app::page::{Page, use_page};
use crate::app::state::message::ExplanationMessage;

/// Diagram of how the answer came about. Sentences are in layers, below the sentences that they depend on. The width of an edge is its
/// flow.
#[component]
pub fn PathView() -> impl IntoView {
    let page = use_page();
    let place = NodeRef::<Div>::new();
    let ruler = NodeRef::<Div>::new();
    let width = element_width(place, ruler);
    let geometry = Memo::new(move |_| Geometry::of(width.get()));
    let are_all_wanted = RwSignal::new(false);
    let on_paths = page.edges_of_strongest_paths();
    let all_and_few = Memo::new(move |_| {
        let share = page.with(|state| *state.explanation.edge_share);
        on_paths.with(|on_paths| page.attribution(|attribution| path_diagram::kept(attribution, share, on_paths))).unwrap_or_default()
    });
    let kept = Memo::new(move |_| all_and_few.with(|[all, few]| if are_all_wanted.get() { all } else { few }.clone()));
    let are_some_left_out = Memo::new(move |_| all_and_few.with(|[all, few]| all.edges.len() > few.edges.len()));
    let diagram = Memo::new(move |_| {
        kept.with(|kept| page.attribution(|attribution| PathDiagram::new(attribution, kept, &geometry.get()))).unwrap_or_default()
    });
    // Sentences that the walk has visited. The diagram highlights them.
    let walked = RwSignal::new(Vec::<usize>::new());
    let left_out = move || diagram.with(|diagram| what_is_left_out(diagram.hidden, diagram.kept_share));
    let is_laid_out = move || width.get() > 0.0;
    view! {
        <PruneControl with_graph=None kept />
        <WalkView walked />
        <div class="path-place" node_ref=place>
            <div class="ruler" aria-hidden="true" node_ref=ruler></div>
            <Show when=is_laid_out>
                <Picture diagram geometry walked />
            </Show>
        </div>
        <p class="hint path-note">
            {left_out}
            <Show when=move || are_some_left_out.get()>
                " "
                <button
                    type="button"
                    class="chip"
                    data-testid="path-all"
                    aria-pressed=move || are_all_wanted.get().to_string()
                    on:click=move |_| are_all_wanted.update(|are_wanted| *are_wanted = !*are_wanted)
                >
                    {t!("Show all edges")}
                </button>
            </Show>
        </p>
    }
}

/// Describes the edges that the diagram does not show.
fn what_is_left_out(hidden: usize, kept_share: f64) -> String {
    match hidden {
        0 => t!("All influence that flows into a step flows on toward the explained one; every edge is drawn.").into(),
        n => plural!(
            n,
            "All influence that flows into a step flows on toward the explained one. {n} weaker edge, which carries {share} of the \
             influence, is not drawn.",
            "All influence that flows into a step flows on toward the explained one. {n} weaker edges, which carry {share} of the \
             influence, are not drawn.",
            share = percent(1.0 - kept_share),
        ),
    }
}

#[component]
fn Picture(diagram: Memo<PathDiagram>, geometry: Memo<Geometry>, walked: RwSignal<Vec<usize>>) -> impl IntoView {
    let page = use_page();
    // The only sentence that Tab reaches. Arrow keys move it along edges.
    let tab_stop = RwSignal::new(None::<usize>);
    let stop = move || {
        diagram.with(|diagram| {
            let is_drawn = |source: &usize| diagram.nodes.iter().any(|node| node.source == *source);
            tab_stop.get().filter(is_drawn).or(diagram.nodes.last().map(|node| node.source))
        })
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let next = untrack(|| diagram.with(|diagram| diagram.after_key(stop()?, &event.key())));
        if let Some(next) = next.filter(|_| browser::is_alone(&event)) {
            event.prevent_default();
            tab_stop.set(Some(next));
            focus_node(next);
        }
    };
    let label = move || {
        page.attribution(|attribution| {
            t!("How {label} came about; arrow keys follow the edges", label = share_texts::output_label(attribution))
        })
    };
    let edges = move || diagram.with(|diagram| diagram.edges.iter().cloned().map(|edge| edge_view(page, edge, walked)).collect_view());
    let nodes = move || {
        let nodes = diagram.with(|diagram| diagram.nodes.clone());
        nodes.into_iter().map(|node| view! { <Node node walked stop=Signal::derive(stop) tab_stop /> }).collect_view()
    };
    let size = move || {
        let Geometry { width, node_width, node_height, .. } = geometry.get();
        let height = diagram.with(|diagram| diagram.height);
        let [width, height, node_width, node_height] = [width, height, node_width, node_height].map(rem);
        format!("width:{width};height:{height};--node-width:{node_width};--node-height:{node_height}")
    };
    let view_box = move || format!("0 0 {} {}", geometry.get().width, diagram.with(|diagram| diagram.height));
    view! {
        <div class="path" role="group" aria-label=label style=size data-testid="path" on:keydown=on_key>
            <svg class="edges" aria-hidden="true" viewBox=view_box>{edges}</svg>
            {nodes}
        </div>
    }
}

fn edge_view(page: Page, edge: DiagramEdge, walked: RwSignal<Vec<usize>>) -> impl IntoView {
    let DiagramEdge { from, to, path, width, look, .. } = edge;
    let is_walked = move || walked.with(|walked| walked.windows(2).any(|step| step == [to, from]));
    let is_touched = move || page.with(|state| *state.explanation.focus).map(|focus| focus == from || focus == to);
    let is_faint = move || match walked.with(Vec::is_empty) {
        true => is_touched() == Some(false),
        false => !is_walked(),
    };
    view! { <EdgePath path width look is_lit=Signal::derive(is_walked) is_faint=Signal::derive(is_faint) /> }
}

fn focus_node(source: usize) {
    browser::focus(&format!(".path [data-source='{source}']"));
}

/// A length in the diagram, which grows with the type.
fn rem(pixels: f64) -> String {
    format!("{:.3}rem", pixels / 16.0)
}

/// A sentence as a button. A click explains a generated sentence.
#[component]
fn Node(node: DiagramNode, walked: RwSignal<Vec<usize>>, stop: Signal<Option<usize>>, tab_stop: RwSignal<Option<usize>>) -> impl IntoView {
    let page = use_page();
    let DiagramNode { source, label, text, generated, is_output, amount, strength, origin, left, top, .. } = node;
    let figure = match amount {
        Some(amount) => view! { <span class="figure">{amount.figure}</span> }.into_any(),
        None => view! { <span class="visually-hidden">{t!("explained")}</span> }.into_any(),
    };
    let (test_id, title) = (format!("node-{label}"), format!("{text}\n{origin}"));
    let is_walked = move || walked.with(|walked| walked.contains(&source));
    let is_last = move || walked.with(|walked| walked.last() == Some(&source));
    let select = move |_| {
        if let Some(row) = generated {
            page.send(ExplanationMessage::Select { row, extend: false });
            // The node is drawn again.
            request_animation_frame(move || focus_node(source));
        }
    };
    view! {
        <button
            type="button"
            class="node"
            class:prompt=generated.is_none()
            class:output=is_output
            class:walked=is_walked
            class:here=is_last
            class:faint=move || walked.with(|walked| !walked.is_empty()) && !is_walked()
            style=format!("left:{};top:{};--strength:{strength:.3};--name:sentence-{source}", rem(left), rem(top))
            title=title
            data-source=source
            data-testid=test_id
            tabindex=move || if stop.get() == Some(source) { "0" } else { "-1" }
            on:click=select
            on:pointerenter=move |_| page.send(ExplanationMessage::Focus(Some(source)))
            on:pointerleave=move |_| page.send(ExplanationMessage::Focus(None))
            on:focus=move |_| {
                tab_stop.set(Some(source));
                page.send(ExplanationMessage::Focus(Some(source)));
            }
            on:blur=move |_| page.send(ExplanationMessage::Focus(None))
        >
            <span class="label">{label}</span>
            " "
            {figure}
            " "
            <span class="text" dir="auto">{text}</span>
            <span class="visually-hidden">" " {origin} "."</span>
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undrawn_sentences_are_counted() {
        assert!(what_is_left_out(0, 1.0).ends_with("every edge is drawn."));
        assert!(what_is_left_out(2, 0.91).ends_with("2 weaker edges, which carry 9% of the influence, are not drawn."));
    }
}
