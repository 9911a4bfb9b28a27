//! Selects the language of the page.

/// A language that the page offers.
#[derive(Debug, PartialEq, Eq)]
pub struct PageLanguage {
    /// BCP 47 tag.
    pub tag: &'static str,
    /// Name of the language in the language itself.
    pub name: &'static str,
    /// Whether a speaker of the language has reviewed the translation.
    pub is_reviewed: bool,
}

/// The available languages. The first one, English, needs no catalog.
pub const LANGUAGES: [PageLanguage; 3] = [
    PageLanguage { tag: "en", name: "English", is_reviewed: true },
    PageLanguage { tag: "de", name: "Deutsch", is_reviewed: false },
    PageLanguage { tag: "zh", name: "\u{4e2d}\u{6587}", is_reviewed: false },
];

/// Tag of the page language: the language in the address, else the one chosen on an earlier visit, else the first available language of the
/// browser, else English. Any language in the address is accepted. Without a catalog for it, the page shows English texts.
pub fn choose(asked: Option<String>, remembered: Option<String>, preferred: impl Iterator<Item = String>) -> String {
    let known = |tag: String| {
        let primary = tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.tag == primary).map(|language| language.tag.to_owned())
    };
    asked.or_else(|| remembered.into_iter().chain(preferred).find_map(known)).unwrap_or_else(|| LANGUAGES[0].tag.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_decides_then_the_visitor_then_the_browser() {
        let browser = || ["fr-CH", "de-AT", "en"].map(String::from).into_iter();
        assert_eq!(choose(Some("en-XA".into()), Some("zh".into()), browser()), "en-XA");
        assert_eq!(choose(None, Some("zh".into()), browser()), "zh");
        assert_eq!(choose(None, Some("tlh".into()), browser()), "de");
        assert_eq!(choose(None, None, ["fr".into()].into_iter()), "en");
    }
}
