//! The cells of a table, before they are written in a format.

use crate::explanation::{Document, PlacedUnit, Speaker};
use crate::figure::Labels;
use crate::shares::{AttributionGraph, Matrix, Shares, total_support};

/// Contents of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Each sentence with its text and its influence on the explained sentences, in total (CAGE) and directly (row).
    Shares,
    /// **T**: the measured scores, in the unit of the method.
    Scores,
    /// **S**: the derived scores from which the graph is built: T, aggregated, compressed and weighted as the document says. Compressed
    /// scores have no unit.
    Derived,
    /// **A**: the weights of the edges.
    Weights,
    /// **Y**: the influence along all paths.
    Influence,
}

/// A row of names, and rows with the same number of cells.
pub struct Grid {
    pub header: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

pub enum Cell {
    /// Text without line breaks.
    Text(String),
    Number(f64),
    /// A share of 1. Formats may write it as a percentage.
    Share(f64),
    Empty,
}

impl Grid {
    pub fn of(document: &Document, contents: Contents) -> Self {
        match contents {
            Contents::Shares => shares(document),
            Contents::Scores => matrix(document, Matrix::T),
            Contents::Derived => matrix(document, Matrix::S),
            Contents::Weights => matrix(document, Matrix::A),
            Contents::Influence => matrix(document, Matrix::Y),
        }
    }

    /// Whether column `k` contains only texts. Texts are left-aligned, numbers right-aligned.
    pub fn is_text(&self, k: usize) -> bool {
        self.rows.iter().all(|row| matches!(row[k], Cell::Text(_)))
    }
}

/// An `m x (n + m)` rectangle with its labels, columns in text order. Cells of sources that come after their row's sentence are empty.
fn matrix(document: &Document, matrix: Matrix) -> Grid {
    let rows = AttributionGraph::new(document.clone()).rectangle(matrix);
    let n_prompt = document.prompt.sentences.len();
    let (units, places) = (document.units_in_order(), document.places());
    let labels = units.iter().map(|unit| document.label(unit.source));
    let row = |(i, numbers): (usize, Vec<Option<f64>>)| {
        let is_before = |j: usize| places[j] < places[n_prompt + i];
        let number = |unit: &PlacedUnit| numbers[unit.source].filter(|_| is_before(unit.source));
        let cells = units.iter().map(|unit| number(unit).map_or(Cell::Empty, Cell::Number));
        std::iter::once(Cell::Text(document.label(n_prompt + i))).chain(cells).collect()
    };
    Grid { header: std::iter::once("sentence".to_owned()).chain(labels).collect(), rows: rows.into_iter().enumerate().map(row).collect() }
}

/// All sentences in text order, with their texts and both shares. Explained sentences are marked. If the document contains support, two
/// more columns have it in nats, and the picture's remark on the sentence. If the prompt is a conversation, the last column says who
/// speaks.
fn shares(document: &Document) -> Grid {
    let (shares, support) = (Shares::of(document), total_support(document));
    let texts = document.source_texts();
    let amount = |j: usize, amount: Option<f64>| match amount {
        Some(amount) if !shares.has_no_share(j) && shares.scale().is_shares() => Cell::Share(amount),
        Some(amount) if !shares.has_no_share(j) => Cell::Number(amount),
        _ => Cell::Empty,
    };
    let row = |PlacedUnit { source: j, speaker, .. }: PlacedUnit| {
        let [total, direct] = shares.amounts(j).map(|influence| amount(j, influence));
        let text = texts[j].split_whitespace().collect::<Vec<_>>().join(" ");
        let explained = if shares.is_output(j) { "yes" } else { "" };
        let mut cells = vec![Cell::Text(document.label(j)), Cell::Text(text), total, direct, Cell::Text(explained.into())];
        if !support.is_empty() {
            let remark = shares.graph().evidence(j).and_then(|evidence| Labels::ENGLISH.remark(evidence)).unwrap_or_default();
            let support = j.checked_sub(shares.n_prompt()).map_or(Cell::Empty, |i| Cell::Number(support[i]));
            cells.extend([support, Cell::Text(remark.into())]);
        }
        if !document.turns.is_empty() {
            cells.push(Cell::Text(speaker.map_or("", Speaker::name).into()));
        }
        cells
    };
    let names = ["sentence", "text", "total (CAGE)", "direct (row)", "explained", "support", "remark"];
    let speaker = (!document.turns.is_empty()).then_some("speaker");
    let header = names[..if support.is_empty() { 5 } else { 7 }].iter().copied().chain(speaker).map(str::to_owned).collect();
    Grid { header, rows: document.units_in_order().into_iter().map(row).collect() }
}

/// Formats a number with three digits after the decimal point, in exponent notation from 1e6 on. Zero has no minus sign.
pub fn three_digits(number: f64) -> String {
    let digits = if number.abs() < 1e6 { format!("{number:.3}") } else { format!("{number:.3e}") };
    if digits == "-0.000" { "0.000".into() } else { digits }
}
