//! The document within its picture: JSON in the element `<metadata id="glasscage">`, in which `<`, `>` and `&` are JSON escapes, so that
//! it is the same text for whatever reads XML or HTML.

use serde_json::Value;

use super::PictureError;
use crate::explanation::Document;

const TAG: &str = "<metadata";
const ID: &str = "id=\"glasscage\"";
const END: &str = "</metadata>";
/// Bytes of a picture. The largest document has two texts of 1 MiB, and tables of a million numbers.
pub const MAX_PICTURE: usize = 64 << 20;

/// The element with the document.
pub fn element(document: &Document) -> String {
    let mut escaped = format!("{TAG} {ID}>");
    for c in compact_json(document).chars() {
        match c {
            '<' | '>' | '&' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => escaped.push(c),
        }
    }
    escaped + END
}

/// The document's JSON without line breaks: through a value, because there is code that writes one already.
pub fn compact_json(document: &Document) -> String {
    let json: Value = serde_json::from_str(&document.to_json()).expect("a document is JSON");
    json.to_string()
}

/// The document within a picture that [`super::svg`] made, also after another program saved it, if that kept the metadata. The picture is
/// untrusted: whatever it holds is checked as a document's file is.
pub fn document_from_svg(svg: &str) -> Result<Document, PictureError> {
    if svg.len() > MAX_PICTURE {
        return Err(PictureError::TooLarge);
    }
    let json = content(svg).ok_or(PictureError::NoDocument)?;
    Ok(Document::from_json(&unescaped(json))?)
}

/// What stands in the first `<metadata>` with our id.
fn content(svg: &str) -> Option<&str> {
    let mut elements = svg.split(TAG).skip(1).filter_map(|element| element.split_once('>'));
    let (_, content) = elements.find(|(attributes, _)| attributes.contains(ID))?;
    let (content, _) = content.split_once(END)?;
    Some(content.trim())
}

/// What XML programs escape when they save a text.
fn unescaped(text: &str) -> String {
    let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#34;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    names.iter().fold(text.to_owned(), |text, (name, c)| text.replace(name, c))
}
