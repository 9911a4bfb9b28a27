use crate::app::state::message::Message;
use leptos::prelude::*;

use crate::app::analysis::derivation;
use crate::app::analysis::joint_effects::{self, JointMark};
use crate::app::analysis::number::{plain, signed};
use crate::app::analysis::share_texts;
use crate::app::analysis::speaker::speaker_name;
use crate::app::i18n::{following, t, text};
use crate::app::page::{Page, use_page};
use crate::explanation::{Aggregation, Compression, Document, Method, Unit, Weighting};
use crate::graph::Normalization;
use crate::shares::{Matrix, Scale, Shares};
use crate::tables::{Contents, Format, table};

/// The matrices as numbers, for users who read, copy or listen to the graph.
#[component]
pub fn TableView() -> impl IntoView {
    let page = use_page();
    let matrix = RwSignal::new(Matrix::A);
    let [rows, columns] = [(); 2].map(|()| RwSignal::new(0));
    let heat = Memo::new(move |_| page.attribution(|attribution| Heatmap::new(attribution, matrix.get(), [rows.get(), columns.get()])));
    view! {
        <div class="table-tools">
            <div class="segments" role="group" aria-label=t!("Matrix")>
                <MatrixButton matrix own=Matrix::T label=t!("T: scores") />
                <MatrixButton matrix own=Matrix::S label=t!("S: derived scores") />
                <MatrixButton matrix own=Matrix::A label=t!("A: edges") />
                <MatrixButton matrix own=Matrix::Y label=t!("Y: influence") />
            </div>
            <BlockChoice block=rows label=t!("Rows") labels=|document| document.labels().split_off(document.prompt.sentences.len()) />
            <BlockChoice block=columns label=t!("Columns") labels=labels_in_order />
            <button type="button" class="screen-only" on:click=move |_| save_csv(page, matrix.get_untracked())>
                {t!("Save CSV")}
            </button>
        </div>
        <p class="hint">
            {move || {
                page.attribution(|attribution| {
                    let document = attribution.document();
                    let (score, unit) = (text(attribution.method().score), share_texts::score_unit(attribution));
                    meaning(matrix.get(), document.unit, &document.method, score, unit)
                })
            }}
            {move || heat.with(|heat| heat.as_ref().filter(|heat| heat.is_signed).map(|heat| following(&colors(heat.largest))))}
        </p>
        <div class="table-scroll" tabindex="0" role="region" aria-label=t!("Table of influence")>
            <table class="heat" class:signed=move || heat.with(|heat| heat.as_ref().is_some_and(|heat| heat.is_signed)) data-testid="table">
                <caption class="visually-hidden">{t!("Rows are parts of the answer, columns the sources before them.")}</caption>
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

/// Maximum number of rows or columns shown at a time. More are slow to draw and do not fit on the screen.
const BLOCK: usize = 100;

/// Choice of the block of rows or columns to show. Hidden if there is only one block.
#[component]
fn BlockChoice(block: RwSignal<usize>, label: &'static str, labels: fn(&Document) -> Vec<String>) -> impl IntoView {
    let page = use_page();
    let names = Memo::new(move |_| {
        let labels = page.attribution(|attribution| labels(attribution.document())).unwrap_or_default();
        let ends = |block: &[String]| block.first().cloned().zip(block.last().cloned());
        labels.chunks(BLOCK).filter_map(ends).map(|(first, last)| format!("{first}\u{2013}{last}")).collect::<Vec<_>>()
    });
    let choose = move |event| block.set(event_target_value(&event).parse().unwrap_or(0));
    // Another document may have fewer blocks.
    let option = move |(k, name): (usize, String)| {
        let is_chosen = move || names.with(|names| existing(block.get(), names.len())) == k;
        view! { <option value=k.to_string() prop:selected=is_chosen>{name}</option> }
    };
    view! {
        <label hidden=move || names.with(|names| names.len() < 2)>
            {label} " " <select on:change=choose>{move || names.get().into_iter().enumerate().map(option).collect_view()}</select>
        </label>
    }
}

/// The labels of all sources in text order, as the columns have them.
fn labels_in_order(document: &Document) -> Vec<String> {
    document.units_in_order().into_iter().map(|unit| document.label(unit.source)).collect()
}

#[component]
fn HeatRows(heat: Heatmap) -> impl IntoView {
    let page = use_page();
    let columns = heat
        .columns
        .iter()
        .zip(&heat.speakers)
        .map(|((label, text), speaker)| {
            let speaker = speaker.map(|speaker| view! { <small>{speaker} " "</small> });
            view! { <th scope="col" dir="auto" title=text.clone()>{speaker} {label.clone()}</th> }
        })
        .collect_view();
    let row = |row: HeatRow| {
        let i = row.index;
        let is_output = move || page.with(|state| state.explanation.output.contains(&i));
        view! {
            <tr class:output=is_output>
                <th scope="row" dir="auto" title=row.text>{row.label}</th>
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
        <tbody>{heat.rows.into_iter().map(row).collect_view()}</tbody>
    }
}

/// A block of a matrix, ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
struct Heatmap {
    /// Label and text of each source, in text order.
    columns: Vec<(String, String)>,
    /// The speaker of the turn that begins at each source, if the prompt is a conversation.
    speakers: Vec<Option<&'static str>>,
    rows: Vec<HeatRow>,
    /// Whether the cells are numbers of either sign instead of shares.
    is_signed: bool,
    /// Magnitude with full color if `is_signed`.
    largest: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct HeatRow {
    /// 0-based row.
    index: usize,
    label: String,
    text: String,
    cells: Vec<HeatCell>,
}

#[derive(Clone, Debug, PartialEq)]
enum HeatCell {
    /// The source is the row's own sentence or comes after it.
    Absent,
    Unmeasured,
    /// `heat` is the color, in [-1, 1].
    Number {
        heat: f64,
        figure: String,
        /// Meaning of the figure for a screen reader: "of G2 comes from P1".
        meaning: String,
        mark: Option<JointMark>,
    },
}

impl Heatmap {
    /// The cells of these blocks of rows and columns. Uses the last block if there are fewer.
    fn new(attribution: &Shares, matrix: Matrix, blocks: [usize; 2]) -> Self {
        let document = attribution.document();
        let n_prompt = attribution.n_prompt();
        let rectangle = attribution.graph().rectangle(matrix);
        // Scores are colored around 0, relative to the largest one. Shares have the color scale of the text.
        let is_signed = matches!(matrix, Matrix::T | Matrix::S) || !attribution.scale().is_shares();
        let scale = match is_signed {
            true => Scale::of(Normalization::None, rectangle.iter().flatten().flatten().copied()),
            false => Scale::Shares,
        };
        let spoken = |j: usize, words: String| match document.speaker(j) {
            Some(speaker) => t!("{speaker}: {words}", speaker = speaker_name(speaker), words),
            None => words,
        };
        let named = |j: usize| match document.unit {
            // Words are clearer than their labels.
            Unit::Word => (document.source(j).trim().to_owned(), spoken(j, document.label(j))),
            _ => (document.label(j), spoken(j, document.source(j).trim().to_owned())),
        };
        let meaning = |label: &str, source: &str| match matrix {
            Matrix::A if !is_signed => t!("of {label} comes from {source}", label, source),
            Matrix::Y if !is_signed => t!("of {label} depends on {source}, along all paths", label, source),
            _ => t!("is what {source} does to {label}", label, source),
        };
        let number = |number: f64, meaning: String, mark: Option<JointMark>| HeatCell::Number {
            heat: if is_signed { scale.part(number) } else { scale.part(number).sqrt() },
            figure: if matrix == Matrix::T { signed(number) } else { share_texts::figure(scale, number) },
            meaning,
            mark,
        };
        // Total influence is the sum of all paths, so marks of single edges do not apply.
        let mark = |i: usize, j: usize| if matrix == Matrix::Y { None } else { joint_effects::mark(document, j, i) };
        let [rows, columns] = [(blocks[0], rectangle.len()), (blocks[1], document.table.n_sources())].map(|(k, n)| block(k, n));
        let places = document.places();
        let units = document.units_in_order();
        let columns: Vec<usize> = units.get(columns).unwrap_or_default().iter().map(|unit| unit.source).collect();
        let sources: Vec<(String, String)> = columns.iter().copied().map(named).collect();
        let speakers = columns.iter().map(|&j| document.begins_turn(j).map(speaker_name)).collect();
        let row = |i: usize| {
            let (label, text) = named(n_prompt + i);
            let cell = |(&j, (source, _)): (&usize, &(String, String))| match rectangle[i][j] {
                _ if places[j] >= places[n_prompt + i] => HeatCell::Absent,
                None => HeatCell::Unmeasured,
                Some(score) => number(score, meaning(&label, source), mark(i, j)),
            };
            let cells = columns.iter().zip(&sources).map(cell).collect();
            HeatRow { index: i, label, text, cells }
        };
        let largest = if let Scale::Numbers { largest } = scale { largest } else { 1.0 };
        Self { rows: rows.map(row).collect(), columns: sources, speakers, is_signed, largest }
    }
}

/// Block `k` of `n_blocks`, or the last one if `k` is too large.
fn existing(k: usize, n_blocks: usize) -> usize {
    k.min(n_blocks.saturating_sub(1))
}

/// Range of block `k` of `n` rows or columns, or of the last block if `k` is too large.
fn block(k: usize, n: usize) -> std::ops::Range<usize> {
    let start = existing(k, n.div_ceil(BLOCK)) * BLOCK;
    start..(start + BLOCK).min(n)
}

impl HeatCell {
    fn view(self) -> AnyView {
        match self {
            Self::Absent => view! { <td class="absent"></td> }.into_any(),
            Self::Unmeasured => view! { <td class="unmeasured" title=t!("not measured")>"\u{2013}"</td> }.into_any(),
            Self::Number { heat, figure, meaning, mark } => {
                let (word, title) = mark.map(|JointMark { word, title }| (word, title)).unzip();
                view! {
                    <td class:minus=heat < 0.0 style=format!("--strength:{:.3}", heat.abs()) title=title>
                        {figure}
                        {word.map(|word| view! { <sup>{word}</sup> })}
                        <span class="visually-hidden">" " {meaning}</span>
                    </td>
                }
                .into_any()
            }
        }
    }
}

fn meaning(matrix: Matrix, source: Unit, method: &Method, score: &str, unit: &str) -> String {
    match matrix {
        Matrix::T => match source {
            Unit::Sentence => {
                t!("T: the effect of a column\u{2019}s sentence (the source) on a row\u{2019}s sentence: {score}, in {unit}.", score, unit)
            }
            Unit::Word => {
                t!("T: the effect of a column\u{2019}s word (the source) on a row\u{2019}s word: {score}, in {unit}.", score, unit)
            }
            _ => {
                t!("T: the effect of a column\u{2019}s part (the source) on a row\u{2019}s part: {score}, in {unit}.", score, unit)
            }
        },
        Matrix::S => {
            let how = derivation::words_of_scores(method);
            let unit = match (method.compression, method.aggregation) {
                (Compression::None, Aggregation::Mean) => t!("Their unit: {unit}.", unit),
                (Compression::None, Aggregation::Sum) => t!("Their unit: {unit}, times the tokens of both.", unit),
                _ => t!("They have no unit.").into(),
            };
            both(&t!("S: the derived scores, from which the graph is made. Derived from T by: {how}.", how), &unit)
        }
        Matrix::A => {
            let how = match method.normalization {
                Normalization::Full => t!("A: each row of S with negative scores set to 0, divided by its sum."),
                Normalization::NonNegative => t!("A: S with negative scores set to 0; not divided."),
                Normalization::None => t!("A: S unchanged, neither clipped nor divided."),
            };
            both(how, t!("These are the edges of the graph."))
        }
        Matrix::Y => {
            let sums = match method.normalization {
                Normalization::Full => t!("The prompt columns of a row add up to 100% where every step has a source."),
                _ => t!("The numbers along a path are multiplied; they are not shares."),
            };
            both(t!("Y: the influence along all paths, A (I \u{2212} A)\u{207b}\u{00b9}."), sums)
        }
    }
}

/// Two sentences in a row. Chinese puts no space between them.
fn both(first: &str, second: &str) -> String {
    t!("{first} {second}", first, second)
}

fn colors(largest: f64) -> String {
    t!("Green is positive, purple negative; full color is \u{b1}{largest}.", largest = plain(largest))
}

fn save_csv(page: Page, matrix: Matrix) {
    let file = |attribution: &Shares| {
        let contents = match matrix {
            Matrix::T => Contents::Scores,
            Matrix::S => Contents::Derived,
            Matrix::A => Contents::Weights,
            Matrix::Y => Contents::Influence,
        };
        let document = attribution.document();
        (file_name(matrix, &document.method), table(document, contents, Format::Csv))
    };
    if let Some((name, text)) = untrack(|| page.attribution(file)) {
        page.send(Message::Save { name, media_type: "text/csv", bytes: text.into_bytes() });
    }
}

/// "glasscage-A.csv", or "glasscage-A-sum-raw-scores.csv" if the derivation differs from the paper's. T does not depend on the derivation.
fn file_name(matrix: Matrix, method: &Method) -> String {
    if matrix == Matrix::T || derivation::is_the_papers(method) {
        return format!("glasscage-{matrix:?}.csv");
    }
    let derivation = method.derivation();
    let aggregation = match derivation.aggregation {
        Aggregation::Mean => "mean",
        Aggregation::Sum => "sum",
    };
    let compression = match derivation.compression {
        Compression::None => "",
        Compression::Log => "-logarithm",
        Compression::Bounded => "-bounded",
        Compression::Hyperbolic => "-hyperbolic",
    };
    let weighting = if derivation.weighting == Weighting::Flow { "-by-flow" } else { "" };
    let normalization = match derivation.normalization {
        Normalization::Full => "shares",
        Normalization::NonNegative => "positive-scores",
        Normalization::None => "raw-scores",
    };
    format!("glasscage-{matrix:?}-{aggregation}{compression}{weighting}-{normalization}.csv")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::example::{document, shares, shares_in, with_explained_turn};
    use crate::explanation::Derivation;
    use crate::shares::AttributionGraph;

    fn second_row(matrix: Matrix) -> Vec<HeatCell> {
        let attribution = shares(&[1]);
        Heatmap::new(&attribution, matrix, [0, 0]).rows[1].cells.clone()
    }

    fn number(heat: f64, figure: &str, meaning: &str) -> HeatCell {
        HeatCell::Number { heat, figure: figure.into(), meaning: meaning.into(), mark: None }
    }

    #[test]
    fn a_large_matrix_is_drawn_in_blocks() {
        assert_eq!([block(0, 7), block(0, 100), block(1, 150), block(9, 150)], [0..7, 0..100, 100..150, 100..150]);
        assert_eq!([block(0, 0), block(3, 0)], [0..0, 0..0], "no document");
        assert_eq!([existing(1, 2), existing(9, 2), existing(0, 0), existing(3, 0)], [1, 1, 0, 0]);
    }

    #[test]
    fn columns_are_in_text_order() {
        let attribution = shares_in(with_explained_turn(), &[1]);
        let heat = Heatmap::new(&attribution, Matrix::T, [0, 0]);
        let labels: Vec<&str> = heat.columns.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["P1", "G1", "P2", "G2", "G3", "G4"]);
        assert_eq!(heat.speakers[..3], [Some("User"), Some("Assistant"), Some("User")]);
        let is_there = |row: usize| heat.rows[row].cells.iter().map(|cell| *cell != HeatCell::Absent).collect::<Vec<_>>();
        assert_eq!(is_there(0), [true, false, false, false, false, false], "P2 comes after G1");
        assert_eq!(is_there(1), [true, true, true, false, false, false]);
        assert_eq!(labels_in_order(attribution.document()), labels);
    }

    #[test]
    fn scores_are_coloured_about_zero() {
        let cells = second_row(Matrix::T);
        let does = |source: &str| format!("is what {source} does to G2");
        let number = |heat: f64, figure: &str, source: &str| number(heat, figure, &does(source));
        assert_eq!(cells[..3], [number(-0.5, "\u{2212}0.500", "P1"), number(0.5, "0.500", "P2"), number(0.5, "0.500", "G1")]);
        assert_eq!(cells[3..], [HeatCell::Absent, HeatCell::Absent, HeatCell::Absent]);
    }

    #[test]
    fn raw_scores_color_matrix_a_around_zero() {
        let raw =
            document().derived(Derivation { aggregation: Aggregation::Mean, normalization: Normalization::None, ..Derivation::default() });
        assert_eq!(file_name(Matrix::A, &raw.method), "glasscage-A-mean-raw-scores.csv");
        assert_eq!(file_name(Matrix::T, &raw.method), "glasscage-T.csv");
        assert!(meaning(Matrix::A, Unit::Sentence, &raw.method, "", "").contains("S unchanged"));
        let heat = Heatmap::new(&shares_in(raw, &[1]), Matrix::A, [0, 0]);
        assert!(heat.is_signed);
        assert_eq!(heat.rows[1].cells[0], number(-0.5, "\u{2212}0.500", "is what P1 does to G2"));
    }

    #[test]
    fn derivation_keeps_t_and_states_unit_of_s() {
        let derived = |derivation: Derivation| AttributionGraph::new(document().derived(derivation));
        let hyperbolic = derived(Derivation { compression: Compression::Hyperbolic, ..Derivation::default() });
        assert_eq!(hyperbolic.rectangle(Matrix::T), document().table.to_rectangle(None));
        assert_eq!(hyperbolic.rectangle(Matrix::S)[1][1], Some(1.0 / 3.0), "of 1 nat");
        let said = |graph: &AttributionGraph| meaning(Matrix::S, Unit::Sentence, &graph.document().method, "", "nats");
        assert!(
            said(&hyperbolic).ends_with("Derived from T by: mean over tokens, hyperbolic. They have no unit."),
            "{}",
            said(&hyperbolic)
        );
        let summed = derived(Derivation { aggregation: Aggregation::Sum, ..Derivation::default() });
        assert!(said(&summed).ends_with("Their unit: nats, times the tokens of both."));
        assert!(said(&derived(Derivation::default())).ends_with("Their unit: nats."));
        let told = meaning(Matrix::T, Unit::Sentence, &hyperbolic.document().method, "a drop", "nats");
        assert!(told.ends_with("a drop, in nats."), "{told}");
    }

    #[test]
    fn shares_are_percents() {
        let cells = second_row(Matrix::Y);
        assert_eq!(cells[0], number(0.5_f64.sqrt(), "50%", "of G2 depends on P1, along all paths"));
        assert_eq!(second_row(Matrix::A)[0], number(0.0, "0%", "of G2 comes from P1"));
    }
}
