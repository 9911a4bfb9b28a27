//! Exports a document's numbers as tables for spreadsheets, scripts and papers.

mod csv;
mod grid;
mod latex;
mod markdown;

pub use csv::text as csv_text;
pub use grid::Contents;
pub use markdown::text as markdown_text;

use grid::Grid;

use crate::explanation::Document;

/// Output format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// RFC 4180, with all digits.
    Csv,
    /// Markdown for GitHub and Pandoc, with three digits after the point.
    Markdown,
    /// A `tabular` that needs no package, with three digits after the point.
    Latex,
}

/// A table of the document. Cells that were not measured or do not exist are empty. Texts are escaped.
///
/// ```
/// use glasscage_core::explanation::Document;
/// use glasscage_core::tables::{Contents, Format, table};
///
/// let document = Document::from_json(include_str!("../../tests/golden/linked.json"))?;
/// assert!(table(&document, Contents::Weights, Format::Csv).starts_with("sentence,P1,"));
/// # Ok::<(), glasscage_core::explanation::DocumentError>(())
/// ```
pub fn table(document: &Document, contents: Contents, format: Format) -> String {
    let grid = Grid::of(document, contents);
    match format {
        Format::Csv => csv::write(&grid),
        Format::Markdown => markdown::write(&grid),
        Format::Latex => latex::write(&grid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::example::{example, with_explained_turns, with_turns};

    #[test]
    fn csv_has_a_row_a_generated_sentence() {
        let csv = table(&example(), Contents::Scores, Format::Csv);
        assert_eq!(csv, "sentence,P1,P2,G1,G2\nG1,0.5,1.25,,\nG2,-0.125,0.1,2,\n");
    }

    #[test]
    fn last_column_names_speakers() {
        let csv = table(&with_turns(), Contents::Shares, Format::Csv);
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].ends_with(",explained,speaker") && lines[1].ends_with(",system") && lines[2].ends_with(",user"), "{csv}");
        assert!(lines[3].ends_with(','), "{csv}");
    }

    #[test]
    fn explained_answers_come_in_text_order() {
        let document = with_explained_turns();
        let scores = "sentence,P1,P2,G1,G2,P3,G3,G4\nG1,0.5,0.25,,,,,\nG2,0.25,2,0.125,,,,\nG3,0,0.5,-0.125,0.75,1.5,,\n\
                      G4,0.125,0.25,0,0.25,0.5,2,\n";
        assert_eq!(table(&document, Contents::Scores, Format::Csv), scores);
        let shares = table(&document, Contents::Shares, Format::Csv);
        let ends = |line: &str| Some((line.split(',').next()?.to_owned(), line.rsplit(',').next()?.to_owned()));
        let speakers = ["system", "user", "assistant", "assistant", "user", "", ""];
        let rows = ["P1", "P2", "G1", "G2", "P3", "G3", "G4"].into_iter().zip(speakers).map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(shares.lines().skip(1).filter_map(ends).collect::<Vec<_>>(), rows.collect::<Vec<_>>());
    }

    #[test]
    fn shares_without_support_are_replaced_by_remark() {
        let without = table(&example(), Contents::Shares, Format::Csv);
        assert!(without.starts_with("sentence,text,total (CAGE),direct (row),explained\n"), "{without}");
        let document = Document { support: vec![0.0, -1.0], ..example() };
        let csv = table(&document, Contents::Shares, Format::Csv);
        let texts: Vec<String> = document.prompt.sentence_texts().iter().map(|text| text.trim().to_owned()).collect();
        assert!(csv.contains(&format!("P1,{},,,,,\n", texts[0])), "{csv}");
        assert!(csv.ends_with(",,,yes,0,nothing in the prompt supports this\n"), "{csv}");
    }
}
