//! Pictures of explanations with the explanation embedded. This module draws SVG. PNG is rendered elsewhere.

mod arcs;
mod element;
mod frame;
mod labels;
mod legend;
mod lines;
mod metadata;
mod palette;
mod picture;
mod png_chunk;
mod text_width;
mod thought;
mod words;

pub use labels::Labels;
pub use metadata::document_from_svg;
pub use picture::{Options, svg};
pub use png_chunk::{document_from_png, is_png, png_with_document};

use glasscage_message::ToMessage;

use crate::explanation::DocumentError;

/// Why no document can be read from a picture.
#[derive(Debug, PartialEq, thiserror::Error, ToMessage)]
pub enum PictureError {
    #[error("this picture contains no explanation; it was not made by Glasscage, or another program removed the explanation")]
    NoDocument,
    #[error("this is not a PNG picture")]
    NotPng,
    #[error("this picture is damaged; it may have been cut off")]
    Damaged,
    #[error("this picture or its explanation is too large")]
    TooLarge,
    #[error(transparent)]
    Document(#[from] DocumentError),
}
