//! Embeds the document in its picture as JSON in the element `<metadata id="glasscage">`. The JSON escapes `<`, `>` and `&`, so that XML
//! and HTML parsers read the same text.

use serde_json::Value;

use super::PictureError;
use crate::explanation::Document;

const TAG: &str = "<metadata";
const ID: &str = "id=\"glasscage\"";
const END: &str = "</metadata>";
/// Maximum bytes of a picture. The largest document has two texts of 1 MiB, and tables of a million numbers.
pub const MAX_PICTURE: usize = 64 << 20;

/// The metadata element with the document.
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

/// The document's JSON without line breaks. Goes through a `Value`, because the code that writes a `Value` is needed anyway.
pub fn compact_json(document: &Document) -> String {
    let json: Value = serde_json::from_str(&document.to_json()).expect("a document is JSON");
    json.to_string()
}

/// Extracts the document from a picture that [`super::svg`] made. Other programs may have saved the picture if they kept the metadata. The
/// picture is untrusted: its document is checked like a file.
pub fn document_from_svg(svg: &str) -> Result<Document, PictureError> {
    if svg.len() > MAX_PICTURE {
        return Err(PictureError::TooLarge);
    }
    let json = content(svg).ok_or(PictureError::NoDocument)?;
    Ok(Document::from_json(&unescaped(json))?)
}

/// Content of the first `<metadata>` element with our ID.
fn content(svg: &str) -> Option<&str> {
    let mut elements = svg.split(TAG).skip(1).filter_map(|element| element.split_once('>'));
    let (_, content) = elements.find(|(attributes, _)| attributes.contains(ID))?;
    let (content, _) = content.split_once(END)?;
    Some(content.trim())
}

/// Decodes the entities that XML programs write when they save a text.
fn unescaped(text: &str) -> String {
    let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#34;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    names.iter().fold(text.to_owned(), |text, (name, c)| text.replace(name, c))
}
