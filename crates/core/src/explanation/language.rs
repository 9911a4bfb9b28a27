//! Languages with their own sentence rules.

use serde::{Deserialize, Serialize};

/// Language of prompt and answer, used to split them into sentences. Documents store it as a BCP 47 tag.
///
/// ```
/// use glasscage_core::explanation::Language;
///
/// assert_eq!((Language::German.tag(), Language::German.name()), ("de", "German"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// Also used for texts in other or unknown languages.
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "de")]
    German,
    #[serde(rename = "fr")]
    French,
    #[serde(rename = "es")]
    Spanish,
    #[serde(rename = "it")]
    Italian,
    #[serde(rename = "pt")]
    Portuguese,
    #[serde(rename = "nl")]
    Dutch,
    #[serde(rename = "zh")]
    Chinese,
    #[serde(rename = "ja")]
    Japanese,
}

impl Language {
    pub const ALL: [Self; 9] = [
        Self::English,
        Self::German,
        Self::French,
        Self::Spanish,
        Self::Italian,
        Self::Portuguese,
        Self::Dutch,
        Self::Chinese,
        Self::Japanese,
    ];

    /// BCP 47 tag of the language.
    pub fn tag(self) -> &'static str {
        self.tag_and_name().0
    }

    /// English name of the language.
    pub fn name(self) -> &'static str {
        self.tag_and_name().1
    }

    pub fn is_english(&self) -> bool {
        *self == Self::English
    }

    /// Whether the language has Chinese characters and no spaces between words.
    pub fn is_chinese_or_japanese(self) -> bool {
        matches!(self, Self::Chinese | Self::Japanese)
    }

    fn tag_and_name(self) -> (&'static str, &'static str) {
        match self {
            Self::English => ("en", "English"),
            Self::German => ("de", "German"),
            Self::French => ("fr", "French"),
            Self::Spanish => ("es", "Spanish"),
            Self::Italian => ("it", "Italian"),
            Self::Portuguese => ("pt", "Portuguese"),
            Self::Dutch => ("nl", "Dutch"),
            Self::Chinese => ("zh", "Chinese"),
            Self::Japanese => ("ja", "Japanese"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn languages_without_spaces_between_words_are_two() {
        let without_spaces = Language::ALL.into_iter().filter(|language| language.is_chinese_or_japanese());
        assert!(without_spaces.map(Language::name).eq(["Chinese", "Japanese"]));
    }

    #[test]
    fn a_language_is_written_as_its_tag() {
        for language in Language::ALL {
            let json = serde_json::to_value(language).unwrap();
            assert_eq!(json, language.tag());
            assert_eq!(serde_json::from_value::<Language>(json).unwrap(), language);
        }
        assert!(serde_json::from_str::<Language>("\"xx\"").is_err());
    }
}
