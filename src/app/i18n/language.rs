//! Which language the page speaks.

/// A language that the page has a catalog of.
#[derive(Debug, PartialEq, Eq)]
pub struct PageLanguage {
    /// BCP 47.
    pub tag: &'static str,
    /// In itself.
    pub name: &'static str,
    /// Whether somebody who speaks it has read the translation.
    pub is_reviewed: bool,
}

/// The first needs no catalog.
pub const LANGUAGES: [PageLanguage; 3] = [
    PageLanguage { tag: "en", name: "English", is_reviewed: true },
    PageLanguage { tag: "de", name: "Deutsch", is_reviewed: false },
    PageLanguage { tag: "zh", name: "\u{4e2d}\u{6587}", is_reviewed: false },
];

/// The language asked for in the address, else the one chosen on an earlier visit, else the first of the browser's languages that there
/// is, else English; by its tag. Whatever the address asks for is taken: what has no catalog is shown in English.
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
