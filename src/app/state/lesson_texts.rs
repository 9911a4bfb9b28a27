//! Translations of the gallery's lessons. The keys are the English texts, as in the page's catalogs.

use std::collections::BTreeMap;

use crate::app::i18n::{LANGUAGES, text_of};
use crate::lesson::Lesson;

const ENGLISH: &str = LANGUAGES[0].tag;

/// Translations of lesson texts into the language of the page. There are none for English.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LessonTexts {
    /// The language of the translations. `None` if there are none for the page's language.
    tag: Option<&'static str>,
    /// `None` until the texts are fetched.
    texts: Option<BTreeMap<String, String>>,
}

/// Whether the lesson declares that it is in English, as the gallery's lessons do.
pub fn is_english(lesson: &Lesson) -> bool {
    lesson.language.as_deref() == Some(ENGLISH)
}

/// Path of the translations for a language, on the page's own site.
pub fn path(tag: &str) -> String {
    format!("lessons/{tag}.json")
}

impl LessonTexts {
    /// The translations for a page in this language, not fetched yet.
    pub fn of(tag: &str) -> Self {
        let mut others = LANGUAGES.iter().map(|language| language.tag).filter(|&other| other != ENGLISH);
        Self { tag: others.find(|&other| other == tag), texts: None }
    }

    /// The language whose texts must be fetched before a lesson can be shown in it. `None` if no texts are missing.
    pub fn missing(&self) -> Option<&'static str> {
        self.tag.filter(|_| self.texts.is_none())
    }

    /// Stores the fetched texts. If they are missing or invalid, lessons stay as they are written. Returns whether the texts are valid.
    pub fn arrived(&mut self, json: Option<&str>) -> bool {
        self.texts = json.and_then(|json| serde_json::from_str(json).ok());
        self.texts.is_some()
    }

    /// The lesson in the language of the page. `None` unless the lesson is in English and all its texts are translated.
    pub fn translated(&self, lesson: &Lesson) -> Option<Lesson> {
        let (tag, texts) = (self.tag?, self.texts.as_ref()?);
        // The page's catalogs contain the titles of the gallery.
        let title = |english: &str| Some(text_of(english.to_owned())).filter(|title| title != english);
        let text = |english: &str| texts.get(english).cloned().or_else(|| title(english));
        if is_english(lesson) { lesson.translated(tag, text) } else { None }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::app::state::lesson::tests::lesson;

    /// German texts of the test lesson.
    pub const TEXTS: &str =
        r#"{"A lesson": "Eine Lektion", "Look.": "Sehen Sie.", "Which?": "Welcher?", "How many?": "Wie viele?", "So.": "So."}"#;

    pub fn english() -> Lesson {
        Lesson { language: Some("en".into()), ..lesson() }
    }

    #[test]
    fn gallery_lesson_is_translated_into_page_language() {
        let mut texts = LessonTexts::of("de");
        assert_eq!((texts.missing(), texts.translated(&english())), (Some("de"), None));
        texts.arrived(Some(TEXTS));
        let german = texts.translated(&english()).unwrap();
        assert_eq!((german.title.as_str(), german.language.as_deref(), texts.missing()), ("Eine Lektion", Some("de"), None));
        assert_eq!(texts.translated(&german), None, "once");
    }

    #[test]
    fn visitor_text_is_not_translated() {
        let mut texts = LessonTexts::of("de");
        texts.arrived(Some(TEXTS));
        assert_eq!(texts.translated(&lesson()), None, "of an unknown language");
        assert_eq!(texts.translated(&Lesson { title: "Mine".into(), ..english() }), None, "not all of it is known");
        assert!(!LessonTexts::of("de").arrived(Some("<!doctype html>")), "what is none is still missing");
        for tag in ["en", "en-XA", ""] {
            assert_eq!(LessonTexts::of(tag).missing(), None);
        }
    }
}
