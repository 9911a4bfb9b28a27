//! Standalone HTML files: a page with a viewer and a document. The page template comes from the build (`explanation.html`) and has
//! placeholders for title and document.

use glasscage_message::ToMessage;

use crate::explanation::{Document, DocumentError};

const TITLE: &str = "GLASSCAGE_TITLE";
const DOCUMENT: &str = "GLASSCAGE_DOCUMENT";
/// Start of every page.
const DOCTYPE: &str = "<!doctype html";
/// The tags around the document.
const ELEMENT: [&str; 2] = ["<script type=\"application/json\" id=\"document\">", "</script>"];

/// Why a page contains no document, or cannot receive one.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum HtmlError {
    #[error("this page contains no explanation; it was not made by Glasscage")]
    NoDocument,
    #[error("this is not the page template of Glasscage")]
    NoPlace,
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// Inserts `document` and `title` into the page template of the build.
pub fn with_document(page: &str, document: &Document, title: &str) -> Result<String, HtmlError> {
    let place = [ELEMENT[0], DOCUMENT, ELEMENT[1]].concat();
    if !page.contains(&place) || !page.contains(TITLE) {
        return Err(HtmlError::NoPlace);
    }
    // In JSON, `<` occurs only within strings. If it is escaped, no text can end the element or start another one.
    let json = document.to_json().replace('<', "\\u003c");
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    Ok(page.replacen(TITLE, &title, 1).replacen(&place, &[ELEMENT[0], &json, ELEMENT[1]].concat(), 1))
}

/// Whether a text is a page rather than a picture.
pub fn looks_like_html(text: &str) -> bool {
    text.get(..DOCTYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE))
}

/// The document in a page. The page is untrusted: the document is checked like any other.
pub fn document_from_html(page: &str) -> Result<Document, HtmlError> {
    let (_, rest) = page.split_once(ELEMENT[0]).ok_or(HtmlError::NoDocument)?;
    let (json, _) = rest.split_once(ELEMENT[1]).ok_or(HtmlError::NoDocument)?;
    Ok(Document::from_json(json)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::example::example;

    const PAGE: &str = "<title>GLASSCAGE_TITLE</title><script type=\"application/json\" id=\"document\">GLASSCAGE_DOCUMENT</script>";

    #[test]
    fn a_document_comes_back_from_its_page() {
        let page = with_document(PAGE, &example(), "Why?").unwrap();
        assert!(page.starts_with("<title>Why?</title>"));
        assert_eq!(document_from_html(&page), Ok(example()));
    }

    #[test]
    fn texts_stay_texts() {
        let mut document = example();
        let hostile = "</script><script>alert(1)</script><!--";
        document.manifest.model.name = hostile.into();
        let page = with_document(PAGE, &document, hostile).unwrap();
        assert_eq!(page.matches("<script").count(), 1);
        assert_eq!(document_from_html(&page), Ok(document));
    }

    #[test]
    fn other_pages_are_refused() {
        assert_eq!(with_document("<!doctype html>", &example(), ""), Err(HtmlError::NoPlace));
        assert_eq!(document_from_html("<!doctype html>"), Err(HtmlError::NoDocument));
        assert!(matches!(document_from_html(PAGE), Err(HtmlError::Document(_))));
    }
}
