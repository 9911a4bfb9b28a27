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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explanation::example::with_explained_turns;
    use crate::explanation::{Document, Unit};

    /// The places of these texts in the picture of a conversation with an explained answer.
    fn places(unit: Unit, texts: &[&str]) -> Vec<usize> {
        let picture = svg(&Document { unit, ..with_explained_turns() }, &Options::default());
        // The embedded document has the same texts.
        let drawn = picture.split("</metadata>").last().unwrap_or_default().to_owned();
        texts.iter().map(|text| drawn.find(&format!(">{text}<")).unwrap_or_else(|| panic!("{text}: {picture}"))).collect()
    }

    #[test]
    fn explained_answers_are_drawn_in_text_order() {
        let texts = ["Be brief.", "Zo\u{eb} has 2 figs.", "Good.", "She has 2.", "She finds 1.", "Answer", "2 + 1 = 3.", "So 3."];
        assert!(places(Unit::Sentence, &texts).is_sorted());
        assert!(places(Unit::Word, &texts).is_sorted());
        let speakers = ["System", "Be brief.", "User", "Assistant", "Good."];
        assert!(places(Unit::Sentence, &speakers).is_sorted());
        assert!(places(Unit::Sentence, &["Prompt", "P2", "G1", "G2", "P3", "Answer", "G3", "G4"]).is_sorted());
    }
}
