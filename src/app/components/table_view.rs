use leptos::prelude::*;

use crate::app::number::{percent, signed};
use crate::app::reading::{Matrix, Reading};
use crate::app::state::{Page, use_page};
use crate::explanation::{MethodText, table_csv};

/// The matrices as numbers: the graph for whoever wants to read, copy or hear it.
#[component]
pub fn TableView() -> impl IntoView {
    let page = use_page();
    let matrix = RwSignal::new(Matrix::A);
    let heat = Memo::new(move |_| page.read(|reading| Heatmap::new(reading, matrix.get())));
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
            {move || meaning(matrix.get(), page.read(Reading::method))}
            {move || heat.with(|heat| heat.as_ref().filter(|_| matrix.get() == Matrix::T).map(|heat| colours(heat.largest)))}
        </p>
        <div class="table-scroll" tabindex="0" role="region" aria-label="Table of influence">
            <table class="heat" class:signed=move || matrix.get() == Matrix::T data-testid="table">
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
        let is_output = move || page.output.with(|output| output.contains(&i));
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
    /// The magnitude that has full colour in T.
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
    /// `heat` in [-1, 1] is the colour.
    Number {
        heat: f64,
        figure: String,
    },
}

impl Heatmap {
    fn new(reading: &Reading, matrix: Matrix) -> Self {
        let document = reading.document();
        let n_prompt = reading.graph().n_prompt();
        let rectangle = reading.graph().rectangle(matrix);
        // T is symmetric about 0 and relative to its largest score; A and Y are shares, with the scale of the text.
        let largest = rectangle.iter().flatten().flatten().fold(f64::MIN_POSITIVE, |largest, score| largest.max(score.abs()));
        let number = |number: f64| match matrix {
            Matrix::T => HeatCell::Number { heat: number / largest, figure: signed(number) },
            Matrix::A | Matrix::Y => HeatCell::Number { heat: number.clamp(0.0, 1.0).sqrt(), figure: percent(number) },
        };
        let named = |j: usize| (document.label(j), document.source(j).trim().to_owned());
        let row = |(i, cells): (usize, &Vec<Option<f64>>)| {
            let (label, text) = named(n_prompt + i);
            let cell = |(j, cell): (usize, &Option<f64>)| match cell {
                _ if j >= n_prompt + i => HeatCell::Absent,
                None => HeatCell::Unmeasured,
                Some(score) => number(*score),
            };
            HeatRow { label, text, cells: cells.iter().enumerate().map(cell).collect() }
        };
        let columns = (0..document.table.n_sources()).map(named).collect();
        Self { columns, rows: rectangle.iter().enumerate().map(row).collect(), largest }
    }
}

impl HeatCell {
    fn view(self) -> AnyView {
        match self {
            Self::Absent => view! { <td class="absent"></td> }.into_any(),
            Self::Unmeasured => view! { <td class="unmeasured" title="not measured">"\u{2013}"</td> }.into_any(),
            Self::Number { heat, figure } => {
                view! { <td class:minus=heat < 0.0 style=format!("--strength:{:.3}", heat.abs())>{figure}</td> }.into_any()
            }
        }
    }
}

fn meaning(matrix: Matrix, method: Option<&MethodText>) -> String {
    match matrix {
        Matrix::T => {
            let (score, unit) = method.map_or(("the score", ""), |method| (method.score, method.unit));
            format!("T: what a column\u{2019}s sentence, the source, does to a row\u{2019}s: {score}, in {unit}.")
        }
        Matrix::A => "A: each row of T with negative scores cut to 0, divided by its sum. These are the edges of the graph.".into(),
        Matrix::Y => {
            "Y: the influence along all paths, A (I \u{2212} A)\u{207b}\u{00b9}. The prompt columns of a row add up to 100% where every step has a source.".into()
        }
    }
}

fn colours(largest: f64) -> String {
    format!(" Green is positive, purple negative; full colour is \u{b1}{largest:.3}.")
}

fn save_csv(page: Page, matrix: Matrix) {
    let name = format!("glasscage-{matrix:?}.csv");
    let csv = page
        .reading
        .with_untracked(|reading| reading.as_ref().map(|reading| table_csv(reading.document(), &reading.graph().rectangle(matrix))));
    if let Some(csv) = csv {
        page.offer(&name, "text/csv", &csv);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::reading::{Graph, tests::document};

    fn second_row(matrix: Matrix) -> Vec<HeatCell> {
        let reading = Reading::new(Arc::new(Graph::new(document())), &[1]);
        Heatmap::new(&reading, matrix).rows[1].cells.clone()
    }

    fn number(heat: f64, figure: &str) -> HeatCell {
        HeatCell::Number { heat, figure: figure.into() }
    }

    #[test]
    fn scores_are_coloured_about_zero() {
        let cells = second_row(Matrix::T);
        assert_eq!(cells[..3], [number(-0.5, "\u{2212}0.500"), number(0.5, "0.500"), number(0.5, "0.500")]);
        assert_eq!(cells[3..], [HeatCell::Absent, HeatCell::Absent, HeatCell::Absent]);
    }

    #[test]
    fn shares_are_percents() {
        let cells = second_row(Matrix::Y);
        assert_eq!(cells[0], number(0.5_f64.sqrt(), "50%"));
        assert_eq!(second_row(Matrix::A)[0], number(0.0, "0%"));
    }
}
