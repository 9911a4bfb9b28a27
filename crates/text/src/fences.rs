//! Fences of code blocks in Markdown: three or more backticks or tildes at the start of a line.

/// The fence at the start of `line`, which has no indentation.
pub fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| "`~".contains(*c))?;
    let info = line.trim_start_matches(mark);
    let fence = &line[..line.len() - info.len()];
    (fence.len() >= 3 && !info.contains('`')).then_some(fence)
}

/// Whether `line`, without white space around it, closes a code block that the fence `open` opened.
pub fn closes(line: &str, open: &str) -> bool {
    fence_of(line).is_some_and(|close| close.starts_with(open) && close == line)
}

/// The fence that is open after `line`, which has no white space around it. `open` is the fence that is open before it.
pub fn open_after<'a>(open: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    open.map_or_else(|| fence_of(line), |open| Some(open).filter(|open| !closes(line, open)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_fence_of_same_character_closes_block() {
        let open = open_after(None, "```python");
        assert_eq!(open, Some("```"));
        assert_eq!(["print(1)", "~~~", "``", "```x"].map(|line| open_after(open, line)), [open; 4]);
        assert_eq!([open_after(open, "````"), open_after(None, "``` `a` ```"), open_after(None, "a ```")], [None; 3]);
    }
}
