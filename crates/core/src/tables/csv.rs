//! Writes CSV (RFC 4180) with line feeds.
//!
//! Spreadsheets compute a cell that starts with a character of [`COMPUTED`], unless a space precedes it. Some drop a control character
//! before it. If the list separator of the reader's language is a semicolon, many of them split lines at semicolons instead of commas, even
//! inside quotation marks. They also split at tabs and bars if the reader chose those. So a cell may start after each of these.

use super::grid::{Cell, Grid};

pub fn write(grid: &Grid) -> String {
    let header = grid.header.iter().map(|name| text(name)).collect::<Vec<_>>().join(",");
    let lines = grid.rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    format!("{header}\n{}", lines.collect::<String>())
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => text(words),
        Cell::Number(number) | Cell::Share(number) => number.to_string(),
        Cell::Empty => String::new(),
    }
}

/// Characters that start a formula, and their full-width forms.
const COMPUTED: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Characters after which a cell may start.
const SEPARATORS: [char; 6] = [',', ';', '\t', '|', '\n', '\r'];

/// Writes a text as a cell that no spreadsheet computes. Quotes it if needed, and puts a space before each character that could start a
/// formula, and before a control character at the start.
pub fn text(text: &str) -> String {
    let (mut safe, mut begins_cell) = (String::new(), true);
    for c in text.replace('\0', "\u{fffd}").chars() {
        if begins_cell && COMPUTED.contains(&c) || safe.is_empty() && c.is_control() {
            safe.push(' ');
        }
        begins_cell = SEPARATORS.contains(&c) || begins_cell && matches!(c, '"' | '\'');
        safe.push(c);
    }
    match safe.starts_with(' ') || safe.contains('"') || safe.contains(SEPARATORS) {
        true => format!("\"{}\"", safe.replace('"', "\"\"")),
        false => safe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_no_formula_is_computed() {
        assert_eq!(["a", "a, b", "say \"a\"", "=1+1"].map(text), ["a", "\"a, b\"", "\"say \"\"a\"\"\"", "\" =1+1\""]);
        assert_eq!(["2 - 1 = 1", "1-2", "a = -b"].map(text), ["2 - 1 = 1", "1-2", "a = -b"]);
    }

    #[test]
    fn control_character_at_start_follows_space() {
        for (given, written) in [("\t=1", "\" \t =1\""), ("\r@a", "\" \r @a\""), ("\n-1", "\" \n -1\""), ("\u{b}+1", "\" \u{b}+1\"")] {
            assert_eq!(text(given), written);
        }
    }

    #[test]
    fn no_formula_begins_wherever_a_line_is_cut() {
        for cut in [",", ";", "\t", "|", "\n", "\r"] {
            for sign in COMPUTED {
                let written = text(&format!("Hi{cut}{sign}cmd|'/C calc'!A1"));
                assert_eq!(written, format!("\"Hi{cut} {sign}cmd|'/C calc'!A1\""));
                assert_eq!(text(&format!("Hi{cut}\"{sign}1\"")), format!("\"Hi{cut}\"\" {sign}1\"\"\""));
            }
        }
    }
}
