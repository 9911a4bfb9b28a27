//! Any of our files, known by what is in it.

use crate::explanation::{self, Document, DocumentError, LinkError};
use crate::figure::{self, PictureError};
use crate::html::{self, HtmlError};
use crate::lesson::{self, Lesson, LessonError};
use crate::mailed::fragment_in;

/// What a file or a link holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    Explanation(Box<Document>),
    Lesson(Lesson),
}

/// Why a file holds neither.
#[derive(Debug, PartialEq, thiserror::Error)]
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

/// Opens a document (JSON), a link to one (with or without the page's address, as mail and chat leave it), a lesson in either form, or a
/// picture (SVG, PNG) or page (HTML) that carries a document. The bytes are untrusted.
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
    match text.chars().next() {
        Some('{') if Lesson::is_meant(text) => Ok(Opened::Lesson(Lesson::from_json(text)?)),
        Some('{') => Ok(explanation(Document::from_json(text)?)),
        Some('<') if html::is_meant(text) => Ok(explanation(html::document_from_html(text)?)),
        Some('<') if !text.starts_with("<http") => Ok(explanation(figure::document_from_svg(text)?)),
        _ => open_fragment(fragment_in(text)).unwrap_or(Err(OpenError::Unknown)),
    }
}

/// What a link carries after its `#`; `None` where that is something else, such as the name of a section.
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
