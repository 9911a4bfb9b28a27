//! Splits a text into blocks: lines of prose, which contain sentences; units that stay whole (a line of code, a row of a table, a displayed
//! formula); and lines that only mark the start or end of such a block.

use std::ops::Range;

use super::cost::count_read;

/// How a block is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line of prose.
    Line,
    /// One unit, no matter which punctuation it contains.
    Whole,
    /// A code fence, or the start or end of an environment. It is neither source nor target.
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
        let mut last = at;
        let kind = if let Some(open) = fence {
            let closes = fence_of(line).is_some_and(|close: &str| close.starts_with(open) && close == line);
            fence = Some(open).filter(|_| !closes);
            if closes { Kind::Mark } else { Kind::Whole }
        } else if let Some(open) = fence_of(line) {
            fence = Some(open);
            Kind::Mark
        } else if line.contains('|') && (is_table || line.starts_with('|') || is_delimiter_row(line)) {
            is_table = is_table || is_delimiter_row(line);
            Kind::Whole
        } else if let Some(length) = formula_length(text, &lines[at..]) {
            last = at + length - 1;
            Kind::Whole
        } else if is_environment_mark(line) {
            Kind::Mark
        } else {
            Kind::Line
        };
        is_table &= line.contains('|');
        blocks.push((range.start..lines[last].end, kind));
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

/// The fence at the start of the line: three or more backticks or tildes.
fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
    let info = line.trim_start_matches(mark);
    let fence = &line[..line.len() - info.len()];
    (fence.len() >= 3 && !info.contains('`')).then_some(fence)
}

/// Whether the line is the row between the head and the body of a table: `|---|:-:|`.
fn is_delimiter_row(line: &str) -> bool {
    line.contains("--") && line.chars().all(|c| "|-:+ \t".contains(c))
}

/// Number of lines of the displayed formula that starts in the first of `lines`. `None` if there is no formula, or if a blank line comes
/// before its end.
fn formula_length(text: &str, lines: &[Range<usize>]) -> Option<usize> {
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
        let line = text[line.clone()].trim();
        count_read(line.len());
        if line.is_empty() {
            return None;
        }
        let inside = if number == 0 { &line[opening.len()..] } else { line };
        if let Some((_, after)) = inside.split_once(&*closing) {
            return (!after.contains(char::is_alphanumeric)).then_some(number + 1);
        }
    }
    None
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
        check("A | B\n--|--\nc. | d", &[("A | B", Kind::Line), ("--|--", Kind::Whole), ("c. | d", Kind::Whole)]);
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
    }
}
