//! Sections: headings of Markdown, each with the text up to the next one.

use std::ops::Range;

use crate::fences::open_after;
use crate::lines::lines;

/// The sections of `text`: byte ranges, in order, never empty, without the white space after them. A section starts at a heading of any
/// level (`# Title` to `###### Title`). Text before the first heading is a section, too. A `#` in a fenced code block is not a heading.
///
/// ```
/// let text = "Read this.\n\n# Rent\nIt is 900.\n\n## Bills\nThey are extra.\n";
/// let found: Vec<&str> = glasscage_text::sections::sections(text).into_iter().map(|section| &text[section]).collect();
/// assert_eq!(found, ["Read this.", "# Rent\nIt is 900.", "## Bills\nThey are extra."]);
/// ```
pub fn sections(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut fence = None;
    for line in lines(text) {
        let is_heading = fence.is_none() && is_heading(&text[line.clone()]);
        fence = open_after(fence, text[line.clone()].trim_start());
        match found.last_mut() {
            Some(last) if !is_heading => last.end = line.end,
            _ => found.push(line),
        }
    }
    found
}

/// Whether `line`, without white space at its end, is a heading: at most three spaces, one to six `#`, and white space or nothing.
fn is_heading(line: &str) -> bool {
    let marks = line.trim_start_matches(' ');
    let title = marks.trim_start_matches('#');
    line.len() - marks.len() <= 3 && (1..=6).contains(&(marks.len() - title.len())) && (title.is_empty() || title.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        sections(text).into_iter().map(|section| &text[section]).collect()
    }

    #[test]
    fn text_without_headings_is_one_section() {
        assert_eq!(found("\nOne.\n\nTwo.\n"), ["One.\n\nTwo."]);
        assert!(found(" \n\n").is_empty());
    }

    #[test]
    fn code_blocks_have_no_headings() {
        let text = "# A\n```sh\n# not a heading\n```\n#\n~~~\n# open to the end";
        assert_eq!(found(text), ["# A\n```sh\n# not a heading\n```", "#\n~~~\n# open to the end"]);
    }

    #[test]
    fn only_atx_headings_start_sections() {
        let headings = ["# A", "   ###### B", "#", "#\tC"];
        let others = ["#tag", "####### seven", "    # code", "\t# code", "text # A", "Title\n====="];
        for heading in headings {
            assert_eq!(found(&format!("x\n{heading}")).len(), 2, "{heading:?}");
        }
        for other in others {
            assert_eq!(found(&format!("x\n{other}")).len(), 1, "{other:?}");
        }
    }
}
