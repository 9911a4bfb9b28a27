//! Opens any Glasscage file. Detects the type from the content.

use glasscage_message::ToMessage;

use crate::explanation::{self, Document, DocumentError, LinkError};
use crate::figure::{self, PictureError};
use crate::html::{self, HtmlError};
use crate::lesson::{self, Lesson, LessonError};
use crate::link_repair::fragment_in;

/// Content of a file or a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    Explanation(Box<Document>),
    Lesson(Lesson),
}

/// Why a file or a link cannot be opened.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum OpenError {
    #[error("this is not an explanation or a lesson (JSON, link, SVG, PNG, or HTML)")]
    Unknown,
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error(transparent)]
    Lesson(#[from] LessonError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error(transparent)]
    Html(#[from] HtmlError),
}

/// Opens a document (JSON), a lesson (JSON), a link to either, or a picture (SVG, PNG) or page (HTML) that contains a document. Links may
/// include the page's address and the changes that mail and chat programs make. The bytes are untrusted.
///
/// ```
/// use glasscage_core::open::{OpenError, open_any};
///
/// assert_eq!(open_any(b"hello"), Err(OpenError::Unknown));
/// ```
pub fn open_any(bytes: &[u8]) -> Result<Opened, OpenError> {
    if figure::is_png(bytes) {
        return Ok(explanation(figure::document_from_png(bytes)?));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| OpenError::Unknown)?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let link = || open_fragment(fragment_in(text));
    match text.chars().next() {
        Some('{') if Lesson::claims_to_be_lesson(text) => Ok(Opened::Lesson(Lesson::from_json(text)?)),
        Some('{') => Ok(explanation(Document::from_json(text)?)),
        Some('<') if html::looks_like_html(text) => Ok(explanation(html::document_from_html(text)?)),
        // A link in markup also starts with "<": `<URL:https://..>`, `<a href="..">`.
        Some('<') => figure::document_from_svg(text).map(explanation).or_else(|error| link().unwrap_or(Err(error.into()))),
        _ => link().unwrap_or(Err(OpenError::Unknown)),
    }
}

/// Opens the fragment of a link, which is the part after `#`. `None` if it is something else, such as the name of a section.
pub fn open_fragment(fragment: &str) -> Option<Result<Opened, OpenError>> {
    if lesson::is_link(fragment) {
        Some(lesson::from_fragment(fragment).map(Opened::Lesson).map_err(OpenError::from))
    } else if explanation::is_link(fragment) {
        Some(explanation::from_fragment(fragment).map(explanation).map_err(OpenError::from))
    } else {
        None
    }
}

fn explanation(document: Document) -> Opened {
    Opened::Explanation(Box::new(document))
}
