//! Writes tables in GitHub Flavored Markdown.

use super::grid::{Cell, Grid, three_digits};
use crate::number::percent_tenths;

pub fn write(grid: &Grid) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let header = grid.header.iter().map(|name| text(name)).collect();
    let rule = (0..grid.header.len()).map(|k| if grid.is_text(k) { "---" } else { "---:" }.to_owned()).collect();
    let rows = grid.rows.iter().map(|row| line(row.iter().map(cell).collect()));
    format!("{}{}{}", line(header), line(rule), rows.collect::<String>())
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => text(words),
        Cell::Number(number) => three_digits(*number).replace('-', "\u{2212}"),
        Cell::Share(share) => text(&format!("{}%", percent_tenths(*share))),
        Cell::Empty => String::new(),
    }
}

/// Escapes a text so that it contains no markup and stays in its cell.
pub fn text(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' | '!' => escaped.extend(['\\', c]),
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
        assert_eq!([0.0, 1e-5, 0.5].map(|share| cell(&Cell::Share(share))), ["0.0%", "&lt;0.1%", "50.0%"]);
    }

    #[test]
    fn shares_and_numbers_have_same_minus_sign() {
        assert_eq!([Cell::Share(-0.5), Cell::Number(-0.5)].map(|number| cell(&number)), ["\u{2212}50.0%", "\u{2212}0.500"]);
    }

    #[test]
    fn markup_in_texts_is_text() {
        assert_eq!(text("a|b <b> *c* [d](e) & $f$"), "a\\|b &lt;b&gt; \\*c\\* \\[d\\](e) &amp; \\$f\\$");
    }
}
