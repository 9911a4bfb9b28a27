//! Lines and paragraphs: for lists, code, and examples that are separated by blank lines.

use std::ops::Range;

/// The lines of `text` that are not blank: byte ranges, in order, never empty. A range contains the indentation of its line, but no white
/// space at its end.
///
/// ```
/// let text = "def f(x):\n    return x\n\nf(1)\n";
/// let found: Vec<&str> = glasscage_text::lines::lines(text).into_iter().map(|line| &text[line]).collect();
/// assert_eq!(found, ["def f(x):", "    return x", "f(1)"]);
/// ```
pub fn lines(text: &str) -> Vec<Range<usize>> {
    let mut next = 0;
    let written = |line: &str| {
        let start = next;
        next += line.len() + 1;
        let length = line.trim_end().len();
        (length > 0).then_some(start..start + length)
    };
    text.split('\n').filter_map(written).collect()
}

/// The paragraphs of `text`: [`lines`] without a blank line between them. Byte ranges, in order, never empty, without the white space after
/// them.
///
/// ```
/// let text = "Q: 1 + 1?\nA: 2\n\nQ: 2 + 2?\nA:";
/// let found: Vec<&str> = glasscage_text::lines::paragraphs(text).into_iter().map(|paragraph| &text[paragraph]).collect();
/// assert_eq!(found, ["Q: 1 + 1?\nA: 2", "Q: 2 + 2?\nA:"]);
/// ```
pub fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for line in lines(text) {
        match found.last_mut() {
            Some(last) if text[last.end..line.start].matches('\n').count() == 1 => last.end = line.end,
            _ => found.push(line),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::tile;

    fn tiles(text: &str, found: &[Range<usize>]) -> Vec<String> {
        tile(text, found).into_iter().map(|tile| text[tile].to_owned()).collect()
    }

    #[test]
    fn indentation_belongs_to_its_line() {
        let text = "\n  One. Two. \n\u{3000}\n\tThree\u{a0}\nZoë\n";
        assert_eq!(tiles(text, &lines(text)), ["\n  One. Two. \n\u{3000}\n", "\tThree\u{a0}\n", "Zoë\n"]);
        assert_eq!(tiles(text, &paragraphs(text)), ["\n  One. Two. \n\u{3000}\n", "\tThree\u{a0}\nZoë\n"]);
    }

    #[test]
    fn white_space_has_no_lines() {
        for text in ["", "\n", " \n\t\n\u{2003}", "\u{2028}"] {
            assert!(lines(text).is_empty() && paragraphs(text).is_empty(), "{text:?}");
        }
    }
}
