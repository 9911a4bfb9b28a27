use std::ops::Range;
use std::time::Duration;

use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;

use super::arc_diagram::{self, ArcDiagram};
use super::details_part::{self, DetailsPart};
use super::legend::Legend;
use super::prune_control::PruneControl;
use super::row_positions::row_positions;
use super::sentence_row::{RowText, SentenceRow};
use super::thought_view::ThoughtPlace;
use crate::app::browser;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::app::state::State;
use crate::app::state::message::Message;
use crate::app::views::layout::lazy::{LazyPart, LazyView};
use crate::explanation::{Document, SectionKind, Unit};

/// Sentences of prompt and answer as lines. The lines are also the nodes of the graph next to them.
#[component]
pub fn TextView() -> impl IntoView {
    let page = use_page();
    let rows = Memo::new(move |_| page.with(|state| state.explanation.document().map_or_else(Vec::new, RowText::all)));
    let lines = NodeRef::<Div>::new();
    let positions = row_positions(lines, rows);
    let with_graph = RwSignal::new(true);
    let on_paths = page.edges_of_strongest_paths();
    let is_thought_open = RwSignal::new(false);
    let kept = Memo::new(move |_| {
        let (share, is_folded) = (page.with(|state| *state.explanation.edge_share), !is_thought_open.get());
        let kept = |on_paths: &_| page.attribution(|attribution| arc_diagram::kept(attribution, share, on_paths, is_folded));
        on_paths.with(|on_paths| kept(on_paths)).unwrap_or_default()
    });
    let sections =
        Memo::new(move |_| page.with(|state| state.explanation.document().map(Document::sections_of_last_answer)).unwrap_or_default());
    let n_earlier = Memo::new(move |_| page.with(|state| state.explanation.document().map_or(0, |document| document.last_answer().row)));
    let is_folded = move |row: usize| {
        let is_of_thought = |i: usize| {
            let is_there = |(kind, rows): &(SectionKind, Range<usize>)| *kind == SectionKind::Thought && rows.contains(&i);
            sections.with_untracked(|sections| sections.iter().any(is_there))
        };
        !is_thought_open.get_untracked()
            && rows.with_untracked(|rows| rows.get(row).and_then(|row| row.generated).is_some_and(is_of_thought))
    };
    // The source whose row is the only one that Tab reaches. Arrow keys move it. The last row is that of the last source.
    let tab_stop = RwSignal::new(0);
    Effect::new(move |_| tab_stop.set(rows.with(|rows| rows.len().saturating_sub(1))));
    let on_key = move |event: ev::KeyboardEvent| {
        let last = rows.with_untracked(|rows| rows.len().saturating_sub(1));
        let node = tab_stop.get_untracked();
        let place = rows.with_untracked(|rows| rows.iter().position(|row| row.node == node)).unwrap_or(last);
        let mut next = row_after_key(&event.key(), place, last);
        while let Some(row) = next.filter(|row| is_folded(*row)) {
            next = row_after_key(&event.key(), row, last).filter(|after| *after != row);
        }
        let next = next.and_then(|row| rows.with_untracked(|rows| rows.get(row).map(|row| row.node)));
        if let Some(next) = next.filter(|_| browser::is_alone(&event)) {
            event.prevent_default();
            tab_stop.set(next);
            browser::focus(&format!("[data-node='{next}']"));
        }
    };
    // Touch screens have no modifier keys. If set, a click adds or removes a sentence.
    let adds = RwSignal::new(false);
    let is_flow = move || page.unit().is_word();
    let hint = move || match page.unit().of_answer() {
        Unit::Word => t!("choose a word to explain it; the “Table” tab shows all edges"),
        Unit::Line => t!("choose a line to explain it"),
        _ => t!("choose a sentence to explain it"),
    };
    let prompt = move || rows.get().into_iter().filter(|row| row.generated.is_none_or(|i| i < n_earlier.get())).collect::<Vec<_>>();
    let prompt_hint = move || match page.unit().of_answer() {
        _ if n_earlier.get() == 0 => "",
        Unit::Sentence => t!("choose a sentence of an earlier answer to explain it"),
        _ => t!("choose a part of an earlier answer to explain it"),
    };
    let of = move |section: Range<usize>| {
        move || rows.get().into_iter().filter(|row| row.generated.is_some_and(|i| section.contains(&i))).collect::<Vec<_>>()
    };
    let passage = move |(kind, section): (SectionKind, Range<usize>)| {
        let is_thought = kind == SectionKind::Thought;
        let heading = match is_thought {
            true => view! { <ThoughtHeading is_open=is_thought_open /> }.into_any(),
            false => view! { <Heading title=t!("Answer") hint adds=Some(adds) /> }.into_any(),
        };
        view! {
            <div role="rowgroup" class="passage">
                {heading}
                <div role="presentation" hidden=move || is_thought && !is_thought_open.get()>
                    <For each=of(section) key=RowText::clone children=move |row| view! { <SentenceRow row tab_stop adds /> } />
                </div>
            </div>
        }
    };
    view! {
        <div hidden=is_flow><PruneControl with_graph=Some(with_graph) kept /></div>
        <div
            class="lines"
            class:flow=is_flow
            class:blocks=move || !page.unit().is_in_version_2()
            class:no-graph=move || !with_graph.get() || is_flow()
            node_ref=lines
        >
            <ArcDiagram positions kept />
            <div class="grid" role="grid" aria-label=t!("Text") aria-multiselectable="true" data-testid="sentences" on:keydown=on_key>
                <div role="rowgroup" class="passage">
                    <Heading title=t!("Prompt") hint=prompt_hint adds=None />
                    <For each=prompt key=RowText::clone children=move |row| view! { <SentenceRow row tab_stop adds /> } />
                </div>
                {move || sections.get().into_iter().map(passage).collect_view()}
            </div>
        </div>
        <NextTurn />
        <OnRequest
            test_id="show-passages"
            label=t!("Passages")
            title=t!("What the answer depends on, passage by passage, and whether its citations are right")
            has=|document| !document.groups.is_empty()
            part=DetailsPart::Passages
        />
        <OnRequest
            test_id="how-sure"
            label=t!("How sure?")
            title=t!("The probability of each token of the answer, and what else the model might have written")
            has=|document| !document.tokens.is_empty()
            part=DetailsPart::Certainty
        />
        <Legend />
    }
}

/// Button that continues the conversation in the editor.
#[component]
fn NextTurn() -> impl IntoView {
    let page = use_page();
    let is_offered = Memo::new(move |_| {
        let has_template = |state: &State| state.explanation.document().is_some_and(|document| document.manifest.template != "none");
        !page.is_viewer()
            && !page.is_busy()
            && page.with(|state| has_template(state) && !state.explanation.is_welcome() && state.lesson().is_none())
    });
    let ask = move |_| {
        page.send(Message::NextTurn);
        // Wait until the editor is open and has the text.
        set_timeout(|| browser::focus_at_end("[data-testid='prompt-input']"), Duration::ZERO);
    };
    view! {
        <Show when=move || is_offered.get()>
            <button
                type="button"
                class="chip below-answer screen-only"
                data-testid="next-turn"
                title=t!("Your own text is saved and can be restored")
                on:click=ask
            >
                {t!("Ask a follow-up")}
            </button>
        </Show>
    }
}

/// Button that shows and hides a part of the details, if the document has it.
#[component]
fn OnRequest(
    test_id: &'static str,
    label: &'static str,
    title: &'static str,
    has: fn(&Document) -> bool,
    part: DetailsPart,
) -> impl IntoView {
    let page = use_page();
    let chunk = LazyPart::new(details_part::fetch);
    let is_open = RwSignal::new(false);
    view! {
        <Show when=move || page.with(|state| state.explanation.document().is_some_and(has))>
            <button
                type="button"
                class="chip below-answer screen-only"
                data-testid=test_id
                title=title
                aria-expanded=move || is_open.get().to_string()
                on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
            >
                {label}
            </button>
            <Show when=move || is_open.get()>
                <LazyView part=chunk view=details_part::shows(part) />
            </Show>
        </Show>
    }
}

/// Heading of the thinking section, with a button that expands it. The arcs of a collapsed section end here.
#[component]
fn ThoughtHeading(is_open: RwSignal<bool>) -> impl IntoView {
    let part = LazyPart::new(details_part::fetch);
    view! {
        <div role="row" class="heading folds">
            <span role="columnheader" class="title">
                <button
                    type="button"
                    class="chip"
                    data-testid="thought"
                    aria-expanded=move || is_open.get().to_string()
                    on:click=move |_| is_open.update(|is_open| *is_open = !*is_open)
                >
                    <strong>{t!("Thinking")}</strong>
                </button>
                <LazyView part view=details_part::shows(DetailsPart::Thought(ThoughtPlace::Heading)) />
            </span>
        </div>
    }
}

#[component]
fn Heading(title: &'static str, hint: impl Fn() -> &'static str + Send + Sync + 'static, adds: Option<RwSignal<bool>>) -> impl IntoView {
    let several = move |adds: RwSignal<bool>| {
        view! {
            <button
                type="button"
                class="chip screen-only"
                data-testid="several"
                title=t!("Same as Ctrl+click (⌘+click on a Mac)")
                aria-pressed=move || adds.get().to_string()
                on:click=move |_| adds.update(|adds| *adds = !*adds)
            >
                {t!("Choose several")}
            </button>
        }
    };
    view! {
        <div role="row" class="heading">
            <span role="columnheader" class="title">
                <strong>{title}</strong>
                <span class="hint">{hint}</span>
                {adds.map(several)}
            </span>
            <span role="columnheader" class="share">{t!("total")} <small>"CAGE"</small></span>
            <span role="columnheader" class="share direct">{t!("direct")} <small>{t!("row")}</small></span>
        </div>
    }
}

/// The row that an arrow key, Home or End moves to.
fn row_after_key(key: &str, row: usize, last: usize) -> Option<usize> {
    match key {
        "ArrowDown" => Some((row + 1).min(last)),
        "ArrowUp" => Some(row.saturating_sub(1)),
        "Home" => Some(0),
        "End" => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrow_keys_stay_within_the_rows() {
        assert_eq!([row_after_key("ArrowUp", 0, 4), row_after_key("ArrowDown", 4, 4)], [Some(0), Some(4)]);
        assert_eq!([row_after_key("Home", 3, 4), row_after_key("End", 1, 4), row_after_key("x", 1, 4)], [Some(0), Some(4), None]);
    }
}
