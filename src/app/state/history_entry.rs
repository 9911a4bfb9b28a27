//! What an entry of the browser's history carries: an explanation, and where it came from. The browser keeps it through Back, Forward
//! and a reload, and drops it with the entry.

use super::explanation::Origin;
use crate::explanation::Document;

const ORIGINS: [(Origin, &str); 4] = [(Origin::Here, "here"), (Origin::Link, "link"), (Origin::File, "file"), (Origin::Gallery, "gallery")];

/// The text of an entry: a line with the origin, then the document's JSON.
pub fn to_text(document: &Document, origin: Origin) -> String {
    let name = ORIGINS.iter().find(|(other, _)| *other == origin).map_or("", |(_, name)| name);
    format!("{name}\n{}", document.to_json())
}

/// The explanation of an entry; `None` where another version of the page wrote it.
pub fn from_text(text: &str) -> Option<(Document, Origin)> {
    let (name, json) = text.split_once('\n')?;
    let (origin, _) = ORIGINS.iter().find(|(_, other)| *other == name)?;
    Some((Document::from_json(json).ok()?, *origin))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::analysis::attribution_graph::tests::document;

    #[test]
    fn an_entry_carries_an_explanation_and_where_it_came_from() {
        for (origin, _) in ORIGINS {
            assert_eq!(from_text(&to_text(&document(), origin)), Some((document(), origin)));
        }
        for other in ["", "here", "here\n{}", "elsewhere\n{}"] {
            assert_eq!(from_text(other), None);
        }
    }
}
