//! Explanations made beforehand, to look at before anything is loaded. `glasscage gallery` makes them.

use serde::Deserialize;

const FOLDER: &str = "gallery";
/// On the page's own site.
pub const INDEX: &str = "gallery/index.json";

/// One explanation of the gallery.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GalleryEntry {
    pub title: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// In the gallery's folder.
    pub file: String,
}

#[derive(Deserialize)]
struct Index {
    explanations: Vec<GalleryEntry>,
}

impl GalleryEntry {
    /// Where its document (JSON) is, on the page's own site.
    pub fn path(&self) -> String {
        format!("{FOLDER}/{}", self.file)
    }
}

/// The explanations of the index; none where it is missing or is something else.
pub fn parse(json: &str) -> Vec<GalleryEntry> {
    serde_json::from_str(json).map(|index: Index| index.explanations).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_read_and_other_files_give_nothing() {
        let json = r#"{"explanations": [{"title": "Scarves", "about": "Three steps.", "file": "01-scarves.json"}]}"#;
        assert_eq!(parse(json), [GalleryEntry { title: "Scarves".into(), about: "Three steps.".into(), file: "01-scarves.json".into() }]);
        assert!(parse("<!doctype html>").is_empty());
    }

    #[test]
    fn every_explanation_of_the_gallery_is_a_document_of_the_built_in_model() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/gallery");
        let entries = parse(&std::fs::read_to_string(format!("{folder}/index.json")).unwrap());
        assert!(entries.len() >= 8);
        for entry in entries {
            let json = std::fs::read_to_string(format!("{folder}/{}", entry.file)).unwrap();
            let document = crate::explanation::Document::from_json(&json).unwrap();
            assert!(document.is_complete() && document.manifest.model.name == "Glasscage demo", "{}", entry.file);
        }
    }
}
