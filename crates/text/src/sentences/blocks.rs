//! Splits a text into blocks: lines of prose, which contain sentences; units that stay whole (a line of code, a row of a table, a displayed
//! formula); and lines that only mark the start or end of such a block.

use std::ops::Range;

use super::cost::count_read;
use crate::fences::{closes, fence_of, open_after};

/// How a block is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line of prose.
    Line,
    /// One unit, no matter which punctuation it contains.
    Whole,
    /// A code fence, a line of tags, or the start or end of an environment. It is neither source nor target.
    Mark,
}

/// Maximum number of lines of a formula. Longer ones are read line by line.
const MAX_FORMULA_LINES: usize = 50;
const MATH_ENVIRONMENTS: [&str; 9] = ["align", "array", "cases", "eqnarray", "equation", "gather", "matrix", "multline", "split"];

/// The blocks of `text`, in order: byte ranges without the line end after them.
pub fn blocks(text: &str) -> Vec<(Range<usize>, Kind)> {
    let lines: Vec<Range<usize>> = lines(text).collect();
    let mut blocks = Vec::with_capacity(lines.len());
    let mut fence = None;
    let mut is_table = false;
    let mut at = 0;
    while let Some(range) = lines.get(at) {
        let line = text[range.clone()].trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end();
        let (mut last, mut end) = (at, range.end);
        let kind = if let Some(open) = fence {
            fence = open_after(fence, line);
            if closes(line, open) { Kind::Mark } else { Kind::Whole }
        } else if let Some(open) = fence_of(line) {
            fence = Some(open);
            Kind::Mark
        } else if line.contains('|') && (is_table || line.starts_with('|') || is_delimiter_row(line) || is_head(text, lines.get(at + 1))) {
            is_table = is_table || is_delimiter_row(line);
            Kind::Whole
        } else if let Some(formula) = formula(text, &lines[at..]) {
            (last, end) = (at + formula.n_lines - 1, formula.end);
            Kind::Whole
        } else if is_environment_mark(line) || is_tag_line(line) {
            Kind::Mark
        } else {
            Kind::Line
        };
        is_table &= line.contains('|');
        blocks.push((range.start..end, kind));
        let after = text[end..lines[last].end].trim_start();
        blocks.extend((!after.is_empty()).then(|| (lines[last].end - after.len()..lines[last].end, Kind::Line)));
        at = last + 1;
    }
    blocks
}

fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end + 1;
        range
    })
}

/// Whether the line is the row between the head and the body of a table: `|---|:-:|`.
fn is_delimiter_row(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| "|-:+ \t".contains(c))
}

/// Whether the next line shows that this one is the head of a table.
fn is_head(text: &str, next: Option<&Range<usize>>) -> bool {
    next.is_some_and(|next| {
        count_read(next.len());
        text[next.clone()].contains('|') && is_delimiter_row(text[next.clone()].trim())
    })
}

/// A displayed formula.
struct Formula {
    n_lines: usize,
    /// End in the text. The rest of the line is text after the formula.
    end: usize,
}

/// The displayed formula that starts in the first of `lines`. `None` if there is no formula, if a blank line comes before its end, or if it
/// is a part of its line.
fn formula(text: &str, lines: &[Range<usize>]) -> Option<Formula> {
    let first = text[lines[0].clone()].trim_start();
    let (opening, closing) = if first.starts_with("$$") {
        ("$$", "$$".to_owned())
    } else if first.starts_with("\\[") {
        ("\\[", "\\]".to_owned())
    } else {
        let name = first.strip_prefix("\\begin{")?.split('}').next()?;
        MATH_ENVIRONMENTS.iter().any(|math| name.starts_with(math) || name.ends_with(math)).then_some(())?;
        ("\\begin{", format!("\\end{{{name}}}"))
    };
    for (number, line) in lines.iter().take(MAX_FORMULA_LINES).enumerate() {
        let end = line.end;
        let line = text[line.clone()].trim();
        count_read(line.len());
        if line.is_empty() {
            return None;
        }
        let inside = if number == 0 { &line[opening.len()..] } else { line };
        if let Some((_, after)) = inside.split_once(&*closing) {
            let has_text = after.contains(char::is_alphanumeric);
            let after = text[..end].trim_end().len() - after.len();
            return (!has_text || number > 0).then_some(Formula { n_lines: number + 1, end: if has_text { after } else { end } });
        }
    }
    None
}

/// Whether the line consists of tags: `<think>`, `</div></div>`.
fn is_tag_line(line: &str) -> bool {
    let mut rest = line;
    while let Some((tag, after)) = rest.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        let (name, attributes) = tag.trim_matches('/').split_once(' ').unwrap_or((tag.trim_matches('/'), "="));
        let is_name =
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        if !is_name || !attributes.contains('=') {
            return false;
        }
        rest = after.trim_start();
    }
    rest.is_empty() && !line.is_empty()
}

/// Whether the line is only `\begin{itemize}`, `\end{itemize}` or similar.
fn is_environment_mark(line: &str) -> bool {
    (line.starts_with("\\begin{") || line.starts_with("\\end{")) && !line.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, Kind)]) {
        let found: Vec<_> = blocks(text).into_iter().map(|(range, kind)| (&text[range], kind)).collect();
        assert_eq!(found, expect, "{text:?}");
    }

    #[test]
    fn a_fence_encloses_lines_of_code() {
        let expect =
            [("```py", Kind::Mark), ("print('A. B.')", Kind::Whole), ("~~~", Kind::Whole), ("```", Kind::Mark), ("So.", Kind::Line)];
        check("```py\nprint('A. B.')\n~~~\n```\nSo.", &expect);
        check("```x```", &[("```x```", Kind::Line)]);
    }

    #[test]
    fn rows_of_a_table_stay_whole() {
        check("|A. B|\n|---|\n|c|\nSo.", &[("|A. B|", Kind::Whole), ("|---|", Kind::Whole), ("|c|", Kind::Whole), ("So.", Kind::Line)]);
        check("A. B | C\n--|--\nc. | d", &[("A. B | C", Kind::Whole), ("--|--", Kind::Whole), ("c. | d", Kind::Whole)]);
        check("A. B | C. D", &[("A. B | C. D", Kind::Line)]);
    }

    #[test]
    fn a_displayed_formula_is_one_block_if_it_ends() {
        check("$$\nx = 2. \\\\\ny\n$$.\nSo.", &[("$$\nx = 2. \\\\\ny\n$$.", Kind::Whole), ("So.", Kind::Line)]);
        check("\\[ x \\]", &[("\\[ x \\]", Kind::Whole)]);
        check("\\begin{align*}\nx\n\\end{align*}", &[("\\begin{align*}\nx\n\\end{align*}", Kind::Whole)]);
        check("\\begin{itemize}\n\\item A.", &[("\\begin{itemize}", Kind::Mark), ("\\item A.", Kind::Line)]);
        check("$$ x\n\ny $$", &[("$$ x", Kind::Line), ("", Kind::Line), ("y $$", Kind::Line)]);
        check("$$x$$ is. It", &[("$$x$$ is. It", Kind::Line)]);
        check("$$\nx\n$$ Hence y.", &[("$$\nx\n$$", Kind::Whole), ("Hence y.", Kind::Line)]);
    }

    #[test]
    fn line_of_tags_is_mark() {
        check("<think>\nHm.\n</think>", &[("<think>", Kind::Mark), ("Hm.", Kind::Line), ("</think>", Kind::Mark)]);
        check("</p></div class=\"a\">", &[("</p></div class=\"a\">", Kind::Mark)]);
        for text in ["<ann@example.org>", "<https://a.b>", "<p>Hm.</p>", "<a b>", "a > b"] {
            check(text, &[(text, Kind::Line)]);
        }
    }
}
