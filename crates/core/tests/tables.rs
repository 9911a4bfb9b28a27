//! Tables for papers and scripts: the numbers of the graph, and escaped texts.

#![cfg(not(target_arch = "wasm32"))]

use std::sync::Arc;

use glasscage_core::explanation::{Derivation, Document, Passage};
use glasscage_core::graph::{context_attribution, normalize, row_attribution, total_influence};
use glasscage_core::table::Table;
use glasscage_core::tables::{Contents, Format, table};

const GALLERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/gallery/");
const ALL: [Contents; 5] = [Contents::Shares, Contents::Scores, Contents::Derived, Contents::Weights, Contents::Influence];

fn gallery(name: &str) -> Document {
    Document::from_json(&std::fs::read_to_string(format!("{GALLERY}{name}.json")).unwrap()).unwrap()
}

/// The numbers of a CSV without texts, `None` where a cell is empty.
fn numbers(csv: &str) -> Vec<Vec<Option<f64>>> {
    let row = |line: &str| line.split(',').skip(1).map(|cell| cell.parse().ok()).collect();
    csv.lines().skip(1).map(row).collect()
}

#[test]
fn csv_holds_the_matrices_to_the_last_digit() {
    let document = gallery("05-five-or-six-steps");
    let adjacency = normalize(&document.scores(), document.method.normalization);
    let rectangle = |matrix: &glasscage_core::graph::Adjacency| {
        let cell = |i, j| matrix.get(i, j).copied();
        (0..matrix.n_generated()).map(|i| (0..matrix.n_sources()).map(|j| cell(i, j)).collect()).collect::<Vec<Vec<_>>>()
    };
    assert_ne!(document.scores(), document.table, "compressed and weighted");
    assert_eq!(numbers(&table(&document, Contents::Scores, Format::Csv)), document.table.to_rectangle(None));
    assert_eq!(numbers(&table(&document, Contents::Derived, Format::Csv)), document.scores().to_rectangle(None));
    assert_eq!(numbers(&table(&document, Contents::Weights, Format::Csv)), rectangle(&adjacency));
    assert_eq!(numbers(&table(&document, Contents::Influence, Format::Csv)), rectangle(&total_influence(&adjacency)));
}

#[test]
fn shares_are_both_attributions_beside_the_texts() {
    let document = gallery("01-equal-groups");
    let adjacency = normalize(&document.scores(), document.method.normalization);
    let expected = context_attribution(&adjacency, &document.output).into_iter().zip(row_attribution(&adjacency, &document.output));
    let csv = table(&document, Contents::Shares, Format::Csv);
    for ((line, (total, direct)), text) in csv.lines().skip(1).zip(expected).zip(document.prompt.sentence_texts()) {
        let ends_with = format!(",{total},{direct},");
        assert!(line.contains(text.trim()) && line.ends_with(&ends_with), "{line}");
    }
    let explained: Vec<&str> = csv.lines().filter(|line| line.ends_with(",yes")).collect();
    assert_eq!(explained, ["G3,The answer is 22.,,,yes"]);
}

#[test]
fn markdown_and_latex_tables_have_expected_shape() {
    let document = gallery("welcome");
    let (n, m) = (document.prompt.sentences.len(), document.generation.sentences.len());
    for contents in ALL {
        let (rows, columns) = if contents == Contents::Shares { (n + m, 5) } else { (m, 1 + n + m) };
        let markdown = table(&document, contents, Format::Markdown);
        assert_eq!(markdown.lines().count(), rows + 2);
        assert!(markdown.lines().all(|line| line.matches(" | ").count() == columns - 1), "{markdown}");
        let latex = table(&document, contents, Format::Latex);
        assert!(latex.starts_with("\\begin{tabular}{l") && latex.ends_with("\\end{tabular}\n"), "{latex}");
        let lines: Vec<&str> = latex.lines().filter(|line| line.ends_with("\\\\")).collect();
        assert_eq!(lines.len(), rows + 1);
        assert!(lines.iter().all(|line| line.matches(" & ").count() == columns - 1), "{latex}");
    }
}

#[test]
fn unmeasured_cells_are_empty_and_texts_escaped() {
    let mut document = gallery("01-equal-groups").derived(Derivation::PAPER);
    let text = "=1+1,\"a\"|<b>\n\\input{x} & 5% _c_";
    document.prompt = Arc::new(Passage::new(text, std::slice::from_ref(&(0..text.len())), vec![4]));
    document.table = Table::from_fn(1, 3, |i, j| (i != 2 || j != 0).then_some(1.0));
    assert_eq!(numbers(&table(&document, Contents::Scores, Format::Csv))[2], [None, Some(1.0), Some(1.0), None]);
    assert_eq!(numbers(&table(&document, Contents::Weights, Format::Csv))[1], [None, Some(0.5), None, None]);
    let line = |format| table(&document, Contents::Shares, format).lines().find(|line| line.contains("P1")).unwrap().to_owned();
    assert_eq!(line(Format::Csv), "P1,\" =1+1,\"\"a\"\"|<b> \\input{x} & 5% _c_\",,,");
    assert_eq!(line(Format::Markdown), "| P1 | =1+1,\"a\"\\|&lt;b&gt; \\\\input{x} &amp; 5% \\_c\\_ |  |  |  |");
    let latex = [
        "P1",
        "=1+1,{\\char34}a{\\char34}\\textbar{}\\textless{}b\\textgreater{} \\textbackslash{}input\\{x\\} \\& 5\\% \\_c\\_",
        "",
        "",
        " \\\\",
    ];
    assert_eq!(line(Format::Latex), latex.join(" & "));
}
