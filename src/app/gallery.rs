//! The gallery: prepared explanations and lessons that open without a model. `glasscage gallery` makes them.

use serde::Deserialize;

const FOLDER: &str = "gallery";
/// Start of the address fragment that opens an entry of the gallery.
const PARAMETER: &str = "gallery=";
const ENDING: &str = ".json";
const LESSON: &str = "lesson-";
/// Path of the index on the page's own site.
pub const INDEX: &str = "gallery/index.json";

/// The entries of the gallery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Gallery {
    pub explanations: Vec<GalleryEntry>,
    #[serde(default)]
    pub lessons: Vec<GalleryEntry>,
}

/// One explanation or lesson of the gallery.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GalleryEntry {
    pub title: String,
    /// One sentence about what the entry shows. For an explanation, the question of its prompt.
    pub about: String,
    /// The right answer, if the model gives another one.
    #[serde(default)]
    pub right: Option<String>,
    /// Name of the file in the gallery's folder.
    pub file: String,
}

impl GalleryEntry {
    /// Whether the entry is a lesson, according to the name of its file.
    pub fn is_lesson(&self) -> bool {
        self.file.starts_with(LESSON)
    }

    /// Path of the entry's JSON file on the page's own site.
    pub fn path(&self) -> String {
        format!("{FOLDER}/{}", self.file)
    }

    /// The fragment (without `#`) of the address that opens it: "gallery=lesson-methods-disagree".
    pub fn fragment(&self) -> String {
        format!("{PARAMETER}{}", self.file.trim_end_matches(ENDING))
    }

    /// The entry that a fragment (with or without `#`) opens. Only its file is known, so the name of the file is its title. `None` for
    /// other fragments.
    pub fn of_fragment(fragment: &str) -> Option<Self> {
        let name = fragment.strip_prefix('#').unwrap_or(fragment).strip_prefix(PARAMETER)?;
        let name = name.strip_suffix(ENDING).unwrap_or(name);
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_name.then(|| Self { title: name.into(), about: String::new(), right: None, file: format!("{name}{ENDING}") })
    }
}

/// Parses the index. Returns an empty gallery if the text is not an index.
pub fn parse(json: &str) -> Gallery {
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::model_choice::ModelChoice;
    use crate::lesson::Lesson;
    use crate::library::{registry, standard};

    #[test]
    fn the_index_is_read_and_other_files_give_nothing() {
        let json = r#"{"explanations": [
            {"title": "Scarves", "about": "How many?", "file": "01-scarves.json"},
            {"title": "Hats", "about": "How many?", "right": "7", "file": "02-hats.json"}
        ]}"#;
        let scarves = GalleryEntry { title: "Scarves".into(), about: "How many?".into(), right: None, file: "01-scarves.json".into() };
        let hats = GalleryEntry { title: "Hats".into(), right: Some("7".into()), file: "02-hats.json".into(), ..scarves.clone() };
        assert_eq!(parse(json), Gallery { explanations: vec![scarves, hats], lessons: Vec::new() });
        assert_eq!(parse("<!doctype html>"), Gallery::default());
    }

    #[test]
    fn fragment_opens_only_gallery_files() {
        let entry = GalleryEntry::of_fragment("#gallery=01-scarves").unwrap();
        assert_eq!((entry.path().as_str(), entry.fragment().as_str()), ("gallery/01-scarves.json", "gallery=01-scarves"));
        assert_eq!(GalleryEntry::of_fragment("#gallery=01-scarves.json"), Some(entry));
        for other in ["#gallery=", "#gallery=../models/demo", "#gallery=https://a.b/c", "#g3.x", ""] {
            assert_eq!(GalleryEntry::of_fragment(other), None, "{other}");
        }
    }

    #[test]
    fn gallery_contains_complete_explanations_by_three_models() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/public/gallery");
        let Gallery { explanations, lessons } = parse(&std::fs::read_to_string(format!("{folder}/index.json")).unwrap());
        assert!(explanations.len() >= 20 && lessons.len() >= 6);
        let known = registry::parse(include_str!("../../public/models/registry.json"));
        let smollm2 = known.iter().find(|model| model.name.starts_with("SmolLM2-135M")).and_then(|model| model.sha256.clone()).unwrap();
        assert!(explanations.iter().all(|entry| !entry.is_lesson()) && lessons.iter().all(GalleryEntry::is_lesson));
        for entry in lessons {
            let lesson = Lesson::from_json(&std::fs::read_to_string(format!("{folder}/{}", entry.file)).unwrap()).unwrap();
            assert_eq!(lesson.title, entry.title);
        }
        // Six ordinary texts come first. Their model has to be downloaded from the address in the list.
        let models = [("smollm2-", "SmolLM2-135M-Instruct"), ("standard-", standard::NAME), ("", ModelChoice::BUILT_IN)];
        let part = |file: &str| models.iter().position(|(prefix, _)| file.starts_with(prefix)).unwrap();
        let parts: Vec<usize> = explanations.iter().map(|entry| part(&entry.file)).collect();
        assert_eq!(parts[..13], [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2]);
        assert!(parts.is_sorted());
        for (entry, part) in explanations.iter().zip(parts) {
            let json = std::fs::read_to_string(format!("{folder}/{}", entry.file)).unwrap();
            let document = crate::explanation::Document::from_json(&json).unwrap();
            let (model, name) = (&document.manifest.model, models[part].1);
            let is_named = part == 2 || entry.about.starts_with(&format!("{name}: ")) && !document.support.is_empty();
            let is_right = if part == 0 { model.sha256 == smollm2 } else { model.name == name };
            assert!(document.is_complete() && is_named && is_right, "{}", entry.file);
        }
    }
}
