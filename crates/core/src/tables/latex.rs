//! Writes a LaTeX `tabular` that needs no package. Non-ASCII characters stay as they are. `lualatex` and `xelatex` read them, and
//! `pdflatex` reads those of Latin scripts.

use super::grid::{Cell, Grid, three_digits};
use crate::number::percent_tenths;

/// Maximum number of characters of a text that stays on one line.
const LONG: usize = 30;

pub fn write(grid: &Grid) -> String {
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let header = line(grid.header.iter().map(|name| text(name)).collect());
    let columns: String = (0..grid.header.len()).map(|k| column(grid, k)).collect();
    let rows: String = grid.rows.iter().map(|row| line(row.iter().map(cell).collect())).collect();
    format!("\\begin{{tabular}}{{{columns}}}\n\\hline\n{header}\\hline\n{rows}\\hline\n\\end{{tabular}}\n")
}

/// Column type: left for texts, right for numbers, half the line width for long texts.
fn column(grid: &Grid, k: usize) -> &'static str {
    let is_long = grid.rows.iter().any(|row| matches!(&row[k], Cell::Text(text) if text.chars().count() > LONG));
    match (grid.is_text(k), is_long) {
        (true, true) => "p{0.5\\linewidth}",
        (true, false) => "l",
        _ => "r",
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => text(words),
        Cell::Number(number) => format!("${}$", three_digits(*number)),
        Cell::Share(share) => text(&format!("{}%", percent_tenths(*share))).replace('\u{2212}', "$-$"),
        Cell::Empty => String::new(),
    }
}

/// Escapes a text so that it contains no commands.
fn text(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '"' => escaped.push_str("{\\char34}"),
            '$' | '&' | '#' | '_' | '%' | '{' | '}' => escaped.extend(['\\', c]),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_that_is_not_zero_is_not_written_as_zero() {
        assert_eq!([0.0, 1e-5, 0.5].map(|share| cell(&Cell::Share(share))), ["0.0\\%", "\\textless{}0.1\\%", "50.0\\%"]);
    }

    #[test]
    fn commands_in_texts_are_text() {
        assert_eq!(
            text("5% of $x_1$ \\input{a} ~^&#"),
            "5\\% of \\$x\\_1\\$ \\textbackslash{}input\\{a\\} \\textasciitilde{}\\textasciicircum{}\\&\\#"
        );
    }
}
