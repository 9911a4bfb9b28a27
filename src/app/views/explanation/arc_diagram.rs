use std::ops::Range;

use leptos::prelude::*;

use super::edge_path::EdgePath;
use super::row_positions::RowPositions;
use crate::app::analysis::edge_style::EdgeStyle;
use crate::app::analysis::share_texts;
use crate::app::i18n::t;
use crate::app::page::use_page;
use crate::explanation::SectionKind;
use crate::graph::{self, Edge, Pruned};
use crate::shares::{Role, Shares};

/// Space between the node axis and the text, in CSS pixels.
const SPINE_MARGIN: f64 = 9.0;
const WIDEST: f64 = 7.0;
/// Width and height of the space for a mark, in CSS pixels.
const MARK: [f64; 2] = [30.0, 15.0];

/// The graph as an arc diagram. Its nodes are the text lines in time order, from top to bottom. Its edges are arcs next to the lines.
#[component]
pub fn ArcDiagram(positions: RwSignal<RowPositions>, kept: Memo<Pruned>) -> impl IntoView {
    let page = use_page();
    let edges = Memo::new(move |_| {
        let drawn =
            |positions: &RowPositions| kept.with(|kept| page.attribution(|attribution| drawn_edges(attribution, &kept.edges, positions)));
        positions.with(drawn).unwrap_or_default()
    });
    let nodes = Memo::new(move |_| {
        positions.with(|positions| page.attribution(|attribution| drawn_nodes(attribution, positions))).unwrap_or_default()
    });
    let label = move || {
        page.attribution(|attribution| {
            t!(
                "Graph of what led to {label}; the same numbers are in the text and in the table",
                label = share_texts::output_label(attribution)
            )
        })
    };
    let touches = move |from: usize, to: usize| page.with(|state| *state.explanation.focus).map(|focus| focus == from || focus == to);
    let paths = move || {
        let path = |DrawnEdge { path, look, from, to, .. }: DrawnEdge| {
            let width = 1.25 + (WIDEST - 1.25) * look.strength;
            let is_lit = Signal::derive(move || touches(from, to) == Some(true));
            let is_faint = Signal::derive(move || touches(from, to) == Some(false));
            view! { <EdgePath path width look is_lit is_faint /> }
        };
        edges.get().into_iter().map(path).collect_view()
    };
    let marks = move || {
        let mark = |(word, x, y): (&'static str, f64, f64)| view! { <text x=x y=y>{word}</text> };
        edges.get().into_iter().filter_map(|edge| edge.mark).map(mark).collect_view()
    };
    let dots = move || nodes.get().into_iter().map(DrawnNode::view).collect_view();
    view! {
        <svg class="arcs" data-testid="graph" role="img" aria-label=label>
            <g class="edges">{paths}</g>
            <g class="nodes">{dots}</g>
            <g class="marks" data-testid="marks">{marks}</g>
        </svg>
    }
}

/// Sizes of the small graph in CSS pixels: height of a row, width of the arcs, width of the labels.
const SMALL_ROW: f64 = 20.0;
const SMALL_GUTTER: f64 = 84.0;
const SMALL_LABELS: f64 = 44.0;

/// A small arc diagram for comparisons. It shows the label of each source instead of its text.
#[component]
pub fn SmallArcDiagram(attribution: Shares, labels: Vec<String>, share: f64) -> impl IntoView {
    let y: Vec<f64> = attribution.document().places().into_iter().map(|place| (place as f64 + 0.5) * SMALL_ROW).collect();
    let n_sources = y.len();
    let positions = RowPositions { y, gutter_width: SMALL_GUTTER };
    let edge = |DrawnEdge { path, look, .. }: DrawnEdge| {
        let width = 1.0 + 4.0 * look.strength;
        view! { <EdgePath path width look is_lit=Signal::stored(false) is_faint=Signal::stored(false) /> }
    };
    let kept = kept(&attribution, share, &attribution.edges_of_strongest_paths(), false);
    let edges = drawn_edges(&attribution, &kept.edges, &positions).into_iter().map(edge).collect_view();
    let labels = labels.into_iter().zip(&positions.y).map(|(label, &y)| view! { <text x=SMALL_GUTTER y=y>{label}</text> }).collect_view();
    let dots = drawn_nodes(&attribution, &positions).into_iter().map(DrawnNode::view).collect_view();
    let (width, height) = (SMALL_GUTTER + SMALL_LABELS, n_sources as f64 * SMALL_ROW);
    let about = t!(
        "Graph of what led to {label}; the same numbers are in the text and in the table",
        label = share_texts::output_label(&attribution)
    );
    view! {
        <svg class="arcs small" role="img" aria-label=about viewBox=format!("0 0 {width} {height}") width=width height=height>
            <g class="edges">{edges}</g>
            <g class="nodes">{dots}</g>
            <g class="labels">{labels}</g>
        </svg>
    }
}

#[derive(Clone, Debug, PartialEq)]
struct DrawnEdge {
    path: String,
    look: EdgeStyle,
    /// Both ends as source indices.
    from: usize,
    to: usize,
    /// The mark of a joint effect, with its x and y position.
    mark: Option<(&'static str, f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
struct DrawnNode {
    x: f64,
    y: f64,
    is_output: bool,
    strength: f64,
}

impl DrawnNode {
    fn view(self) -> impl IntoView {
        let Self { x, y, is_output, strength } = self;
        let radius = if is_output { 5.0 } else { 3.0 };
        view! { <circle cx=x cy=y r=radius class:output=is_output style=format!("--strength:{strength:.3}") /> }
    }
}

/// Maximum number of edges, because more are slow to draw and unreadable.
const MAX_EDGES: usize = 2000;

/// The edges to draw: those that carry `share` of the influence, and those of the strongest paths (`on_paths`). If thoughts are folded, the
/// sentences of each share one place, so edges among them have no arc and count as hidden.
pub fn kept(attribution: &Shares, share: f64, on_paths: &[Edge], is_thought_folded: bool) -> Pruned {
    let (n_prompt, sections) = (attribution.n_prompt(), attribution.document().sections_of_last_answer());
    let is_drawn = |edge: &Edge| {
        let is_around = |(kind, rows): &(SectionKind, Range<usize>)| {
            *kind == SectionKind::Thought && rows.contains(&edge.to) && edge.from >= n_prompt + rows.start
        };
        !(is_thought_folded && sections.iter().any(is_around))
    };
    let on_paths: Vec<Edge> = on_paths.iter().copied().filter(is_drawn).collect();
    attribution.prune(share).only(is_drawn).at_most(MAX_EDGES).with(&on_paths)
}

/// Draws edges that are sorted by flow, strongest first. Returns the weakest first, so that strong edges are on top.
fn drawn_edges(attribution: &Shares, kept: &[Edge], RowPositions { y, gutter_width }: &RowPositions) -> Vec<DrawnEdge> {
    let n_prompt = attribution.n_prompt();
    // Rows that are not laid out yet have no position.
    let has_place = |edge: &&Edge| edge.from < y.len() && n_prompt + edge.to < y.len();
    let edges: Vec<Edge> = kept.iter().filter(has_place).rev().copied().collect();
    let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, n_prompt + edge.to)).collect();
    let spine = gutter_width - SPINE_MARGIN;
    let arcs = graph::arcs(&ends, y, (spine - WIDEST).max(1.0));
    let draw = |((edge, arc), (from, to)): ((&Edge, graph::Arc), (usize, usize))| {
        let look = EdgeStyle::new(attribution, edge);
        let (x, y) = arc.apex(spine);
        DrawnEdge { path: arc.path(spine), mark: look.mark.map(|word| (word, x, y)), look, from, to }
    };
    let mut drawn: Vec<DrawnEdge> = edges.iter().zip(arcs).zip(ends).map(draw).collect();
    separate(drawn.iter_mut().rev().filter_map(|edge| edge.mark.as_mut()));
    drawn
}

/// Moves marks down to where they cover none of those before.
fn separate<'a>(marks: impl Iterator<Item = &'a mut (&'static str, f64, f64)>) {
    let mut placed: Vec<[f64; 2]> = Vec::new();
    for (_, x, y) in marks {
        while placed.iter().any(|[left, top]| (left - *x).abs() < MARK[0] && (top - *y).abs() < MARK[1]) {
            *y += MARK[1];
        }
        placed.push([*x, *y]);
    }
}

fn drawn_nodes(attribution: &Shares, RowPositions { y, gutter_width }: &RowPositions) -> Vec<DrawnNode> {
    let node = |(j, &y): (usize, &f64)| DrawnNode {
        x: gutter_width - SPINE_MARGIN,
        y,
        is_output: attribution.role(j) == Role::Output,
        strength: attribution.total(j).map_or(0.0, |influence| attribution.strength(influence).abs()),
    };
    y.iter().enumerate().map(node).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::analysis::example::{document, shares, shares_in, with_explained_turn};
    use crate::explanation::Section;

    fn attribution() -> Shares {
        shares(&[1])
    }

    #[test]
    fn edges_inside_folded_thought_count_as_hidden() {
        let mut thinking = document();
        let section = |kind, sentences| Section { kind, sentences, run: 1 };
        let n_generated = thinking.generation.sentences.len();
        Arc::make_mut(&mut thinking.generation).sections =
            vec![section(SectionKind::Thought, 2), section(SectionKind::Answer, n_generated - 2)];
        let attribution = shares_in(thinking, &[1]);
        let on_paths = attribution.edges_of_strongest_paths();
        let kept = |is_folded: bool| kept(&attribution, 1.0, &on_paths, is_folded);
        // G1 and G2 have the place of the thought's heading.
        let positions = RowPositions { y: vec![0.0, 30.0, 60.0, 60.0, 90.0, 120.0], gutter_width: 90.0 };
        let arcs = drawn_edges(&attribution, &kept(false).edges, &positions);
        let visible = arcs.iter().filter(|edge| positions.y[edge.from] != positions.y[edge.to]).count();
        assert_eq!((kept(true).edges.len(), kept(true).hidden), (visible, 1));
        assert_eq!((visible, kept(false).edges.len(), kept(false).hidden), (2, 3, 0));
        assert!((kept(true).kept_share - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn edges_of_earlier_answers_are_not_hidden() {
        let mut document = with_explained_turn();
        let section = |kind, sentences| Section { kind, sentences, run: 1 };
        Arc::make_mut(&mut document.generation).sections = vec![section(SectionKind::Thought, 2), section(SectionKind::Answer, 2)];
        // Only G2 is in the thinking section of the last answer.
        let attribution = shares_in(document, &[1]);
        let on_paths = attribution.edges_of_strongest_paths();
        assert_eq!(kept(&attribution, 1.0, &on_paths, true).hidden, 0);
    }

    #[test]
    fn strong_edges_lie_on_top_and_are_named() {
        let positions = RowPositions { y: (0..6).map(|k| 30.0 * k as f64).collect(), gutter_width: 90.0 };
        let edges = drawn_edges(&attribution(), &attribution().prune(1.0).edges, &positions);
        assert_eq!(edges.len(), 3);
        assert!(edges.is_sorted_by(|a, b| a.look.strength <= b.look.strength));
        assert!(edges.iter().any(|edge| edge.look.title == "P2 \u{2192} G2 carries 50% (50% of G2 comes from P2)"));
    }

    #[test]
    fn nothing_is_drawn_where_rows_have_no_place_yet() {
        let kept = attribution().prune(1.0).edges;
        assert!(drawn_edges(&attribution(), &kept, &RowPositions::default()).is_empty());
        let three = RowPositions { y: vec![0.0, 30.0, 60.0], gutter_width: 90.0 };
        assert_eq!(drawn_edges(&attribution(), &kept, &three).len(), 1);
        assert_eq!(drawn_nodes(&attribution(), &three).len(), 3);
    }

    #[test]
    fn marks_cover_none_of_those_before() {
        let mut marks = [("and", 75.0, 366.0), ("and", 60.0, 366.0), ("or", 10.0, 366.0)];
        separate(marks.iter_mut());
        assert_eq!(marks.map(|(_, _, y)| y), [366.0, 381.0, 366.0]);
    }
}
