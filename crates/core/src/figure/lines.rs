//! Breaks text into lines: at white space, around wide characters, and inside words that are longer than a line.

use super::text_width::{has_no_width, is_wide, width};

/// Closing punctuation, which cannot start a line, and opening punctuation, which cannot end one.
const CLOSING: &str =
    "\u{3001}\u{3002}\u{ff0c}\u{ff0e}\u{ff01}\u{ff1f}\u{ff1a}\u{ff1b}\u{ff09}\u{300d}\u{300f}\u{300b}\u{3011}\u{201d}\u{2019}";
const OPENING: &str = "\u{ff08}\u{300c}\u{300e}\u{300a}\u{3010}\u{201c}\u{2018}";

/// The lines of a text at this font size. No line is wider than `max_width` (in the same unit) unless it is a single character. Runs of
/// white space become one space, and line breaks are kept.
pub fn lines(text: &str, size: f64, max_width: f64) -> Vec<String> {
    let space = width(" ", size);
    let mut lines = Vec::new();
    for paragraph in text.trim().lines() {
        let mut line = Line::default();
        for word in paragraph.split_whitespace() {
            for (k, piece) in pieces(word).into_iter().enumerate() {
                let gap = if k == 0 && !line.text.is_empty() { space } else { 0.0 };
                let piece_width = width(piece, size);
                if line.width + gap + piece_width <= max_width {
                    line.push(if gap > 0.0 { " " } else { "" }, gap);
                    line.push(piece, piece_width);
                    continue;
                }
                line.end(&mut lines);
                for cluster in clusters(piece) {
                    let cluster_width = width(cluster, size);
                    if line.width + cluster_width > max_width {
                        line.end(&mut lines);
                    }
                    line.push(cluster, cluster_width);
                }
            }
        }
        line.end(&mut lines);
    }
    lines
}

#[derive(Default)]
struct Line {
    text: String,
    width: f64,
}

impl Line {
    fn push(&mut self, text: &str, width: f64) {
        self.text.push_str(text);
        self.width += width;
    }

    /// Appends the line to `lines`, unless it is empty, and starts the next one.
    fn end(&mut self, lines: &mut Vec<String>) {
        let Self { text, .. } = std::mem::take(self);
        if !text.is_empty() {
            lines.push(text);
        }
    }
}

/// Splits a word where a line may break: before and after wide characters.
fn pieces(word: &str) -> Vec<&str> {
    cut(word, |before, after| {
        (is_wide(before) || is_wide(after)) && !OPENING.contains(before) && !CLOSING.contains(after) && !is_joined(before, after)
    })
}

/// Splits a text into characters, each with its combining marks.
pub fn clusters(word: &str) -> Vec<&str> {
    cut(word, |before, after| !is_joined(before, after))
}

/// Whether two characters are drawn as one: the second has no width, or the first is a zero-width joiner.
fn is_joined(before: char, after: char) -> bool {
    has_no_width(after) || before == '\u{200d}'
}

/// Splits a text between all adjacent characters for which `is_cut` is true.
fn cut(text: &str, is_cut: impl Fn(char, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for ((_, before), (at, after)) in text.char_indices().zip(text.char_indices().skip(1)) {
        if is_cut(before, after) {
            pieces.push(&text[start..at]);
            start = at;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_break_at_spaces_and_where_the_text_does() {
        assert_eq!(lines(" one  two\nthree ", 10.0, 1000.0), ["one two", "three"]);
        assert_eq!(lines("one two three", 10.0, width("one two", 10.0)), ["one two", "three"]);
        assert_eq!(lines(" \n ", 10.0, 100.0), [""; 0]);
    }

    #[test]
    fn words_longer_than_a_line_are_cut_between_letters() {
        assert_eq!(lines("mmm", 10.0, width("mm", 10.0)), ["mm", "m"]);
        assert_eq!(lines("a e\u{301}e\u{301}e\u{301}", 10.0, width("ee", 10.0)), ["a", "e\u{301}e\u{301}", "e\u{301}"]);
    }

    #[test]
    fn chinese_breaks_between_characters_but_not_before_a_full_stop() {
        assert_eq!(lines("\u{4e00}\u{4e8c}\u{4e09}\u{3002}", 10.0, 30.0), ["\u{4e00}\u{4e8c}", "\u{4e09}\u{3002}"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_no_line_is_too_wide(
            text in "[a-z \\n\u{4e00}-\u{4e10}\u{621}-\u{64a}\u{301}\u{3002}\u{ff08}]{0,80}",
            max in 30.0..200.0,
        ) {
            let lines = lines(&text, 14.0, max);
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
            for line in &lines {
                prop_assert!(width(line, 14.0) <= max + 1e-9, "{} {}", line, max);
            }
        }
    }
}
