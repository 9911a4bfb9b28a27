use crate::app::state::message::Message;
use leptos::prelude::*;

use crate::app::analysis::attribution_graph::Matrix;
use crate::app::analysis::attribution_view::AttributionView;
use crate::app::analysis::derivation;
use crate::app::analysis::joint_effects::{self, JointMark};
use crate::app::analysis::number::{plain, signed};
use crate::app::analysis::scale::Scale;
use crate::app::page::{Page, use_page};
use crate::explanation::{Aggregation, Method, MethodText, Unit, table_csv};
use crate::graph::Normalization;

/// The matrices as numbers: the graph for whoever wants to read, copy or hear it.
#[component]
pub fn TableView() -> impl IntoView {
    let page = use_page();
    let matrix = RwSignal::new(Matrix::A);
    let heat = Memo::new(move |_| page.attribution(|attribution| Heatmap::new(attribution, matrix.get())));
    view! {
        <div class="table-tools">
            <div class="segments" role="group" aria-label="Matrix">
                <MatrixButton matrix own=Matrix::T label="T scores" />
                <MatrixButton matrix own=Matrix::A label="A edges" />
                <MatrixButton matrix own=Matrix::Y label="Y total" />
            </div>
            <button type="button" on:click=move |_| save_csv(page, matrix.get_untracked())>"Save CSV"</button>
        </div>
        <p class="hint">
            {move || {
                let words = |attribution: &AttributionView| {
                    meaning(matrix.get(), &attribution.document().method, attribution.method(), attribution.score_unit())
                };
                page.attribution(words).map(|words| words.replace("sentence", page.noun()))
            }}
            {move || heat.with(|heat| heat.as_ref().filter(|heat| heat.is_signed).map(|heat| colors(heat.largest)))}
        </p>
        <div class="table-scroll" tabindex="0" role="region" aria-label="Table of influence">
            <table class="heat" class:signed=move || heat.with(|heat| heat.as_ref().is_some_and(|heat| heat.is_signed)) data-testid="table">
                <caption class="visually-hidden">"Rows are sentences of the answer, columns the sentences before them."</caption>
                {move || heat.get().map(|heat| view! { <HeatRows heat /> })}
            </table>
        </div>
    }
}

#[component]
fn MatrixButton(matrix: RwSignal<Matrix>, own: Matrix, label: &'static str) -> impl IntoView {
    let is_pressed = move || (matrix.get() == own).to_string();
    view! { <button type="button" aria-pressed=is_pressed on:click=move |_| matrix.set(own)>{label}</button> }
}

#[component]
fn HeatRows(heat: Heatmap) -> impl IntoView {
    let page = use_page();
    let columns = heat.columns.iter().map(|(label, text)| view! { <th scope="col" title=text.clone()>{label.clone()}</th> }).collect_view();
    let row = |(i, row): (usize, HeatRow)| {
        let is_output = move || page.with(|state| state.explanation.output.contains(&i));
        view! {
            <tr class:output=is_output>
                <th scope="row" title=row.text>{row.label}</th>
                {row.cells.into_iter().map(HeatCell::view).collect_view()}
            </tr>
        }
    };
    view! {
        <thead>
            <tr>
                <td></td>
                {columns}
            </tr>
        </thead>
        <tbody>{heat.rows.into_iter().enumerate().map(row).collect_view()}</tbody>
    }
}

/// A matrix ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
struct Heatmap {
    /// Label and text of each source.
    columns: Vec<(String, String)>,
    rows: Vec<HeatRow>,
    /// Of numbers on either side of 0, not of shares.
    is_signed: bool,
    /// The magnitude that then has full color.
    largest: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct HeatRow {
    label: String,
    text: String,
    cells: Vec<HeatCell>,
}

#[derive(Clone, Debug, PartialEq)]
enum HeatCell {
    /// At or after the row's own sentence.
    Absent,
    Unmeasured,
    /// `heat` in [-1, 1] is the color.
    Number {
        heat: f64,
        figure: String,
        mark: Option<JointMark>,
    },
}

impl Heatmap {
    fn new(attribution: &AttributionView, matrix: Matrix) -> Self {
        let document = attribution.document();
        let n_prompt = attribution.graph().n_prompt();
        let rectangle = attribution.graph().rectangle(matrix);
        // Scores are symmetric about 0 and relative to the largest; shares have the scale of the text.
        let is_signed = matrix == Matrix::T || !attribution.scale().is_shares();
        let scale = match is_signed {
            true => Scale::of(Normalization::None, rectangle.iter().flatten().flatten().copied()),
            false => Scale::Shares,
        };
        let is_measured_mean = matrix == Matrix::T && document.method.aggregation == Aggregation::Mean;
        let number = |number: f64, mark: Option<JointMark>| HeatCell::Number {
            heat: if is_signed { scale.part(number) } else { scale.part(number).sqrt() },
            figure: if is_measured_mean { signed(number) } else { scale.figure(number) },
            mark,
        };
        // The total influence is of all paths, not of one edge.
        let mark = |i: usize, j: usize| if matrix == Matrix::Y { None } else { joint_effects::mark(document, j, i) };
        let named = |j: usize| match document.unit {
            Unit::Sentence => (document.label(j), document.source(j).trim().to_owned()),
            // Labels of words would say less than the words.
            Unit::Word => (document.source(j).trim().to_owned(), document.label(j)),
        };
        let row = |(i, cells): (usize, &Vec<Option<f64>>)| {
            let (label, text) = named(n_prompt + i);
            let cell = |(j, cell): (usize, &Option<f64>)| match cell {
                _ if j >= n_prompt + i => HeatCell::Absent,
                None => HeatCell::Unmeasured,
                Some(score) => number(*score, mark(i, j)),
            };
            HeatRow { label, text, cells: cells.iter().enumerate().map(cell).collect() }
        };
        let columns = (0..document.table.n_sources()).map(named).collect();
        let largest = if let Scale::Numbers { largest } = scale { largest } else { 1.0 };
        Self { columns, rows: rectangle.iter().enumerate().map(row).collect(), is_signed, largest }
    }
}

impl HeatCell {
    fn view(self) -> AnyView {
        match self {
            Self::Absent => view! { <td class="absent"></td> }.into_any(),
            Self::Unmeasured => view! { <td class="unmeasured" title="not measured">"\u{2013}"</td> }.into_any(),
            Self::Number { heat, figure, mark } => {
                let (word, title) = mark.map(|JointMark { word, title }| (word, title)).unzip();
                view! {
                    <td class:minus=heat < 0.0 style=format!("--strength:{:.3}", heat.abs()) title=title>
                        {figure}
                        {word.map(|word| view! { <sup>{word}</sup> })}
                    </td>
                }
                .into_any()
            }
        }
    }
}

fn meaning(matrix: Matrix, method: &Method, &MethodText { score, .. }: &MethodText, unit: &str) -> String {
    let words = match (matrix, method.aggregation, method.normalization) {
        (Matrix::T, Aggregation::Mean, _) => {
            return format!("T: what a column\u{2019}s sentence, the source, does to a row\u{2019}s: {score}, in {unit}.");
        }
        (Matrix::T, Aggregation::Sum, _) => {
            return format!(
                "T, summed: what a column\u{2019}s sentence, the source, does to a row\u{2019}s: {score}, in {unit}, times \
                 the tokens of both sentences."
            );
        }
        (Matrix::A, _, Normalization::Full) => "A: each row of T with negative scores cut to 0, divided by its sum.",
        (Matrix::A, _, Normalization::NonNegative) => "A: T with negative scores cut to 0; nothing is divided.",
        (Matrix::A, _, Normalization::None) => "A: T as it is; nothing is cut or divided.",
        (Matrix::Y, _, Normalization::Full) => "The prompt columns of a row add up to 100% where every step has a source.",
        (Matrix::Y, ..) => "The numbers along a path multiply; they are no shares of anything.",
    };
    match matrix {
        Matrix::Y => format!("Y: the influence along all paths, A (I \u{2212} A)\u{207b}\u{00b9}. {words}"),
        _ => format!("{words} These are the edges of the graph."),
    }
}

fn colors(largest: f64) -> String {
    format!(" Green is positive, purple negative; full color is \u{b1}{}.", plain(largest))
}

fn save_csv(page: Page, matrix: Matrix) {
    let file = |attribution: &AttributionView| {
        let document = attribution.document();
        (file_name(matrix, &document.method), table_csv(document, &attribution.graph().rectangle(matrix)))
    };
    if let Some((name, text)) = untrack(|| page.attribution(file)) {
        page.send(Message::SaveText { name, media_type: "text/csv", text });
    }
}

/// "glasscage-A.csv"; where the graph is not made as in the paper, its name says how: "glasscage-A-sum-raw-scores.csv".
fn file_name(matrix: Matrix, method: &Method) -> String {
    let how = match derivation::is_the_papers(method) {
        true => String::new(),
        false => format!("-{}", derivation::words(method).replace(" of each block,", "").replace(' ', "-")),
    };
    format!("glasscage-{matrix:?}{how}.csv")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::analysis::attribution_graph::{AttributionGraph, tests::document};
    use crate::explanation::{Derivation, MethodText};

    fn second_row(matrix: Matrix) -> Vec<HeatCell> {
        let attribution = AttributionView::new(Arc::new(AttributionGraph::new(document())), &[1]);
        Heatmap::new(&attribution, matrix).rows[1].cells.clone()
    }

    fn number(heat: f64, figure: &str) -> HeatCell {
        HeatCell::Number { heat, figure: figure.into(), mark: None }
    }

    #[test]
    fn scores_are_coloured_about_zero() {
        let cells = second_row(Matrix::T);
        assert_eq!(cells[..3], [number(-0.5, "\u{2212}0.500"), number(0.5, "0.500"), number(0.5, "0.500")]);
        assert_eq!(cells[3..], [HeatCell::Absent, HeatCell::Absent, HeatCell::Absent]);
    }

    #[test]
    fn numbers_that_are_no_shares_are_coloured_about_zero_in_every_matrix() {
        let raw =
            document().derived(Derivation { aggregation: Aggregation::Mean, normalization: Normalization::None, ..Derivation::default() });
        assert_eq!(file_name(Matrix::A, &raw.method), "glasscage-A-mean-raw-scores.csv");
        assert!(meaning(Matrix::A, &raw.method, MethodText::of("pert"), "").contains("nothing is cut"));
        let heat = Heatmap::new(&AttributionView::new(Arc::new(AttributionGraph::new(raw)), &[1]), Matrix::A);
        assert!(heat.is_signed);
        assert_eq!(heat.rows[1].cells[0], number(-0.5, "\u{2212}0.500"));
    }

    #[test]
    fn shares_are_percents() {
        let cells = second_row(Matrix::Y);
        assert_eq!(cells[0], number(0.5_f64.sqrt(), "50%"));
        assert_eq!(second_row(Matrix::A)[0], number(0.0, "0%"));
    }
}
