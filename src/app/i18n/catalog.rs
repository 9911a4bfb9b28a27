//! Translations, keyed by the English text.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Translated texts of one language. They stay in memory as long as the page.
pub struct Catalog {
    texts: &'static BTreeMap<String, Translation>,
    /// Returns the CLDR plural category of a number ("one", "other", ..).
    category: Box<dyn Fn(usize) -> String>,
    /// Decimal separator and thousands separator.
    pub separators: [char; 2],
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Translation {
    Text(String),
    /// One text per plural category.
    Forms(BTreeMap<String, String>),
}

impl Catalog {
    /// Parses a catalog: `{"Close": "Schließen", "{n} edges": {"one": "{n} Kante", "other": "{n} Kanten"}}`. Its texts stay in memory until
    /// the page closes. Returns `None` if the JSON is not a catalog.
    pub fn parse(json: &str, category: impl Fn(usize) -> String + 'static, separators: [char; 2]) -> Option<Self> {
        let texts = serde_json::from_str(json).ok()?;
        Some(Self { texts: Box::leak(Box::new(texts)), category: Box::new(category), separators })
    }

    pub(super) fn text(&self, english: &str) -> Option<&'static str> {
        match self.texts.get(english)? {
            Translation::Text(text) => Some(text),
            Translation::Forms(_) => None,
        }
    }

    pub(super) fn form(&self, n: usize, english: &str) -> Option<&'static str> {
        match self.texts.get(english)? {
            Translation::Forms(forms) => forms.get(&(self.category)(n)).or_else(|| forms.get("other")).map(String::as_str),
            Translation::Text(_) => None,
        }
    }
}
