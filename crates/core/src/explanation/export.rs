//! Tables for spreadsheets and scripts.

use super::Document;

/// `rows` (`m` x `n + m`) as CSV with labelled rows and columns; empty where there is no number.
pub fn table_csv(document: &Document, rows: &[Vec<Option<f64>>]) -> String {
    let n_prompt = document.prompt.sentences.len();
    let n_sources = n_prompt + document.generation.sentences.len();
    let header = (0..n_sources).map(|j| document.label(j)).collect::<Vec<_>>().join(",");
    let lines = rows.iter().enumerate().map(|(i, row)| {
        let cells = row.iter().map(|cell| cell.map_or(String::new(), |number| number.to_string())).collect::<Vec<_>>();
        format!("{},{}\n", document.label(n_prompt + i), cells.join(","))
    });
    format!("sentence,{header}\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::example::example;
    use super::*;

    #[test]
    fn csv_has_a_row_a_generated_sentence() {
        let document = example();
        let csv = table_csv(&document, &document.table.to_rectangle(None));
        assert_eq!(csv, "sentence,P1,P2,G1,G2\nG1,0.5,1.25,,\nG2,-0.125,0.1,2,\n");
    }
}
