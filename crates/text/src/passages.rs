//! Named passages of a prompt: texts that a question is asked about, each after its name at the start of a line.
//!
//! A name is `[1]`, `[notes.md]`, `[Any title]`, `Source 1:`, `Document 1:` or `Passage 1:`. A passage ends before the next name. The last
//! one ends before the last paragraph of the prompt, which is the question. Names in code blocks do not count. Neither do Markdown links,
//! link definitions, task lists, `[[` marks, and brackets that look like code.

use std::ops::Range;

use glasscage_core::explanation::{MAX_GROUPS, label_and_number};

use crate::fences::open_after;
use crate::lines::paragraphs;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 80;
const MAX_DIGITS: usize = 4;
/// Maximum number of passages. Documents cannot have more.
pub const MAX_PASSAGES: usize = MAX_GROUPS;

/// A passage with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPassage {
    /// The name without brackets or colon: "1", "notes.md", "Source 1".
    pub name: String,
    /// The bytes of the name with its brackets and colon, where `bytes` starts.
    pub mark: Range<usize>,
    /// The bytes of name and text, without white space at either end.
    pub bytes: Range<usize>,
}

/// The named passages of `text`, in order. None if there are fewer than two or more than [`MAX_PASSAGES`], or if two have the same name. A
/// name without text is not a passage.
///
/// ```
/// let text = "[1] Ann has 3 figs.\n[2] Bob has 4 nuts.\n\nWho has nuts?";
/// let found = glasscage_text::passages::passages(text);
/// assert_eq!((&*found[1].name, &text[found[1].bytes.clone()]), ("2", "[2] Bob has 4 nuts."));
/// ```
pub fn passages(text: &str) -> Vec<NamedPassage> {
    let marks = marks(text);
    let mut found: Vec<NamedPassage> = Vec::new();
    for (k, (name, mark)) in marks.iter().enumerate() {
        let end = marks.get(k + 1).map_or_else(|| end_of_last(text, mark.end), |(_, next)| next.start);
        if has_words(&text[mark.end..end]) {
            let bytes = mark.start..mark.start + text[mark.start..end].trim_end().len();
            found.push(NamedPassage { name: (*name).to_owned(), mark: mark.clone(), bytes });
        }
    }
    let mut names: Vec<String> = found.iter().map(|passage| passage.name.to_lowercase()).collect();
    names.sort_unstable();
    names.dedup();
    if (2..=MAX_PASSAGES).contains(&found.len()) && names.len() == found.len() { found } else { Vec::new() }
}

/// `units` of `text`, cut where a passage starts or ends. Pieces have no white space at the cuts, and blank pieces are left out.
pub fn cut(text: &str, units: Vec<Range<usize>>, passages: &[NamedPassage]) -> Vec<Range<usize>> {
    let mut cut = Vec::with_capacity(units.len());
    for unit in units {
        let mut start = unit.start;
        let edges = passages.iter().flat_map(|passage| [passage.bytes.start, passage.bytes.end]);
        for end in edges.filter(|edge| unit.contains(edge)).chain([unit.end]) {
            let piece = &text[start..end];
            let first = if start == unit.start { start } else { end - piece.trim_start().len() };
            if !piece.trim().is_empty() {
                cut.push(first..start + piece.trim_end().len());
            }
            start = end;
        }
    }
    cut
}

/// Where the last passage ends: before the last paragraph of the prompt, if the passage has text before it. Its name ends at `start`.
fn end_of_last(text: &str, start: usize) -> usize {
    let question = paragraphs(&text[start..]).pop().map_or(text.len(), |last| start + last.start);
    if has_words(&text[start..question]) { question } else { text.len() }
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// The names at starts of lines, and the bytes of each with its brackets and colon.
fn marks(text: &str) -> Vec<(&str, Range<usize>)> {
    let (mut found, mut fence, mut start) = (Vec::new(), None, 0);
    for line in text.split('\n') {
        let was_open = fence.is_some();
        fence = open_after(fence, line.trim());
        let unindented = line.trim_start_matches(' ');
        let indentation = line.len() - unindented.len();
        // Four spaces begin a code block.
        if let Some((name, length)) = mark(unindented).filter(|_| indentation < 4 && !was_open) {
            found.push((name, start + indentation..start + indentation + length));
        }
        start += line.len() + 1;
    }
    found
}

/// The name at the start of a line, and the length of the name with its brackets and colon in bytes.
fn mark(line: &str) -> Option<(&str, usize)> {
    bracketed(line).or_else(|| labeled(line))
}

fn bracketed(line: &str) -> Option<(&str, usize)> {
    let inside = line.strip_prefix('[')?;
    let end = inside.find(['[', ']']).filter(|&end| inside[end..].starts_with(']'))?;
    let (name, after) = (&inside[..end], &inside[end + 1..]);
    let (colon, text) = after.strip_prefix(':').map_or((0, after), |text| (1, text));
    let is_target = colon > 0 && text.split_whitespace().next().is_some_and(|word| word.contains("://"));
    let is_separate = text.is_empty() || text.starts_with(char::is_whitespace);
    let is_code = text.trim_start().starts_with(|c: char| "=+*/%&|<>,;.?)}".contains(c));
    (is_name(name) && is_separate && !is_code && !is_target).then_some((name, end + 2 + colon))
}

/// Whether the text between brackets is a number, or a title: no check mark, time, list or expression.
fn is_name(name: &str) -> bool {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return (1..=MAX_DIGITS).contains(&name.len());
    }
    let is_title = name.starts_with(char::is_alphanumeric) && name.trim_end() == name && name.contains(char::is_alphabetic);
    let is_time = name.starts_with(|c: char| c.is_ascii_digit()) && name.contains(':');
    let is_short = name.chars().count() <= MAX_NAME;
    is_title && is_short && !is_time && !matches!(name, "x" | "X") && !name.contains(|c: char| ",;=\"`\\|<>{}*".contains(c))
}

fn labeled(line: &str) -> Option<(&str, usize)> {
    let (length, digits) = label_and_number(line)?;
    (digits.len() <= MAX_DIGITS && line[length..].starts_with(':')).then_some((&line[..length], length + 1))
}

#[cfg(test)]
mod tests {
    use std::iter::once;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        passages(text).into_iter().map(|passage| &text[passage.bytes]).collect()
    }

    fn names(text: &str) -> Vec<String> {
        passages(text).into_iter().map(|passage| passage.name).collect()
    }

    #[test]
    fn text_around_passages_belongs_to_none() {
        let text = "Read.\n\n[1] A b.\nC.\n\nD.\n[2]\nE.\n\nF.\n\nWho is it?\nAnd why?\n";
        assert_eq!(found(text), ["[1] A b.\nC.\n\nD.", "[2]\nE.\n\nF."]);
        assert_eq!(text[passages(text)[1].mark.clone()], *"[2]");
        assert_eq!(found("[1] A.\n[2] B. Who?")[1], "[2] B. Who?", "no blank line");
        assert_eq!(found("[1] A.\n\n[2]\n\nB.")[1], "[2]\n\nB.", "the only text");
    }

    #[test]
    fn names_are_numbers_titles_or_labels() {
        assert_eq!(names("[notes.md]\nA.\n[Zo\u{eb}'s report (2020)]: B.\n  [12] C."), ["notes.md", "Zo\u{eb}'s report (2020)", "12"]);
        assert_eq!(names("Source 1: A.\nDOCUMENT 2:\nB.\npassage 13: C."), ["Source 1", "DOCUMENT 2", "passage 13"]);
        assert_eq!(names("Source 1: A.\nSource one: B.\nResource 2: C.\nSource 12345: D."), [""; 0]);
    }

    #[test]
    fn one_passage_or_repeated_names_are_none() {
        let numbered = |n: usize| (1..=n).map(|k| format!("[{k}] A.\n")).collect::<String>();
        assert_eq!([100, 101].map(|n| names(&numbered(n)).len()), [100, 0]);
        for text in ["", "[1] A.", "[1]\n[2] B.", "[1] A.\n[1] B.", "[Ann] Hi.\n[Bob] Hi.\n[ann] Bye.", "[1] ?\n[2] !", "[1] A. [2] B."] {
            assert_eq!(names(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn other_brackets_are_not_names() {
        let lines = [
            "[text](https://example.org)",
            "[a]: https://example.org",
            "[a][b] c",
            "[ ] wash",
            "[x] iron",
            "- [1] a",
            "[[a]] b",
            "[[1] a]",
            "[1, 2].map(f)",
            "[1, 2] + [3]",
            "[a] = f(x)",
            "[0].x",
            "[\"a\"] b",
            "[12:30] a",
            "[12:30 PM] a",
            "[^1]: a",
            "    [1] a",
            "[] a",
            "[a",
        ];
        for line in lines {
            assert_eq!(names(&format!("{line}\n[7] b")), [""; 0], "{line}");
        }
        assert_eq!(names("```\n[1] a\n```\n[2] b\n[3] c"), ["2", "3"]);
    }

    #[test]
    fn cut_units_lie_on_one_side() {
        let text = " Hi.\n[1] A.\n [2] B.\n\n C?";
        let passages = passages(text);
        let pieces: Vec<&str> = cut(text, once(0..text.len()).collect(), &passages).into_iter().map(|piece| &text[piece]).collect();
        assert_eq!(pieces, [" Hi.", "[1] A.", "[2] B.", "C?"]);
        let whole = vec![0..4, 5..11, 11..14, 15..18, 21..23];
        assert_eq!(cut(text, whole.clone(), &[]), whole);
        assert_eq!(cut(text, once(11..18).collect(), &passages), once(13..18).collect::<Vec<_>>(), "{:?}", &text[13..18]);
    }
}
