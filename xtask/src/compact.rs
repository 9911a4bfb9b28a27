//! Removes comments and indentation from style sheets, scripts and the page itself, because a released page does not need them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The files of `dist` that visitors of the first page download, and the viewer's style sheet.
const FILES: [&str; 6] = ["app.js", "embed.css", "index.css", "index.html", "start-watch.js", "wasm_split.js"];
/// Start and end marks of a comment that fills whole lines.
const COMMENTS: [(&str, &str); 3] = [("/*", "*/"), ("<!--", "-->"), ("//", "")];

pub fn compact(dist: &Path) -> Result<()> {
    FILES.into_iter().try_for_each(|name| {
        let file = dist.join(name);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let lines = without_comments(&text);
        Ok(fs::write(file, if name.ends_with(".css") { without_spaces(&lines) } else { lines })?)
    })
}

/// The text without indentation, empty lines and whole-line comments. Keeps comments after code.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    // End mark of the comment that contains the current line.
    let mut end = None;
    for line in text.lines().map(str::trim) {
        if let Some(mark) = end {
            end = end.filter(|_| !line.ends_with(mark));
        } else if let Some((_, mark)) = COMMENTS.into_iter().find(|(begin, mark)| line.starts_with(begin) && is_whole(line, mark)) {
            end = Some(mark).filter(|_| !line.ends_with(mark));
        } else if !line.is_empty() {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// A style sheet without the white space after punctuation and before a brace, except in quotation marks.
fn without_spaces(style: &str) -> String {
    let mut kept = String::new();
    let mut quote = None;
    for c in style.chars() {
        match quote {
            Some(mark) => quote = Some(mark).filter(|_| c != mark),
            None if c.is_whitespace() && kept.ends_with(['{', '}', ';', ',', ':']) => continue,
            None if c == '{' => kept.truncate(kept.trim_end().len()),
            None => quote = Some(c).filter(|c| "\"'".contains(*c)),
        }
        kept.push(c);
    }
    kept
}

/// Whether nothing follows the comment on this line.
fn is_whole(line: &str, mark: &str) -> bool {
    mark.is_empty() || line.find(mark).is_none_or(|at| at + mark.len() == line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_indentation_go() {
        let style = "/* One. */\na {\n  /* Two\n     lines. */\n  color: red; /* stays */\n}\n";
        let text = style.to_owned() + "\n// A line.\n/**\n * @param {x}\n */\nb();\n<!-- c\n  d -->\n";
        assert_eq!(without_comments(&text), "a {\ncolor: red; /* stays */\n}\nb();\n");
    }

    #[test]
    fn spaces_behind_punctuation_go() {
        let style = "a :not(b),\nc {\ncontent: \", \";\nmargin: 0 calc(1px + 2px);\n}\nd { color: red; }\n";
        assert_eq!(without_spaces(style), "a :not(b),c{content:\", \";margin:0 calc(1px + 2px);}d{color:red;}");
    }

    #[test]
    fn code_behind_a_comment_stays() {
        assert_eq!(without_comments("/* a */ b\n/* c */\n"), "/* a */ b\n");
    }
}
