//! RFC 4180, with line feeds.

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

/// In quotation marks where it needs them. Spreadsheets compute what begins with one of four signs, except after a space.
fn text(text: &str) -> String {
    let text = text.replace('\0', "\u{fffd}");
    let space = if text.starts_with(['=', '+', '-', '@']) { " " } else { "" };
    match text.contains(['"', ',', '\n', '\r']) || !space.is_empty() {
        true => format!("\"{space}{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_no_formula_is_computed() {
        assert_eq!(["a", "a, b", "say \"a\"", "=1+1"].map(text), ["a", "\"a, b\"", "\"say \"\"a\"\"\"", "\" =1+1\""]);
    }
}
