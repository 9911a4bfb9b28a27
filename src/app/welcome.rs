//! The built-in welcome explanation, which visitors see first. `glasscage gallery` makes it.

use crate::explanation::Document;

const JSON: &str = include_str!("../../public/gallery/welcome.json");

/// The welcome explanation. Never `None`, because the test below parses it.
pub fn document() -> Option<Document> {
    Document::from_json(JSON).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::gallery;

    #[test]
    fn welcome_explains_first_gallery_text_with_pairs() {
        let document = document().unwrap();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/gallery");
        let first = &gallery::parse(&std::fs::read_to_string(format!("{folder}/index.json")).unwrap()).explanations[0];
        let by_pert = Document::from_json(&std::fs::read_to_string(format!("{folder}/{}", first.file)).unwrap()).unwrap();
        assert!(document.is_same_text(&by_pert) && document.is_complete() && document.method.id == "pairs");
    }
}
