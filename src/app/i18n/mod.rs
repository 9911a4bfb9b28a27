//! Page texts in the visitor's language.
//!
//! The code contains English texts in [`t!`] and [`plural!`]. A catalog (`public/locales/de.json`) maps each English text to its
//! translation, like gettext. `en.json` next to this file lists all texts, and a test keeps it complete. Numbers and plurals follow the
//! rules of the language (the browser's CLDR data).
//!
//! Workers, documents and the page report problems as messages: a template and its arguments. [`message_text`] translates them when they
//! are displayed.
//!
//! The catalog is set once, before the first view, and a change of language reloads the page. Texts in documents and links, and text that
//! errors quote from a file, are not translated.

mod catalog;
mod language;
mod messages;

use std::cell::OnceCell;
use std::fmt::{self, Display, Formatter};

use crate::number::NumberFormat;

pub use catalog::Catalog;
pub use language::{LANGUAGES, choose};
pub use messages::{message_text, problem_text, sentence_text};

thread_local! {
    static CATALOG: OnceCell<Catalog> = const { OnceCell::new() };
}

/// Sets the catalog of this page. Later calls change nothing.
pub fn set(catalog: Catalog) {
    // `set` fails if a catalog is already set. Keep that one.
    drop(CATALOG.with(|cell| cell.set(catalog)));
}

fn with_catalog<T>(look: impl FnOnce(&Catalog) -> Option<T>) -> Option<T> {
    CATALOG.with(|cell| look(cell.get()?))
}

/// Translates a text into the visitor's language. Returns the English text if the catalog lacks it.
pub fn text(english: &'static str) -> &'static str {
    with_catalog(|catalog| catalog.text(english)).unwrap_or(english)
}

/// Like [`text`], for texts that are built at run time.
pub fn text_of(english: String) -> String {
    with_catalog(|catalog| catalog.text(&english)).map_or(english, str::to_owned)
}

/// Selects the plural form for `n` in the visitor's language. Without a translation, selects one of the English forms for one and for other
/// numbers.
pub fn form(n: usize, [one, other]: [&'static str; 2]) -> &'static str {
    with_catalog(|catalog| catalog.form(n, other)).unwrap_or(if n == 1 { one } else { other })
}

/// Decimal separator and thousands separator of the visitor's language.
pub fn separators() -> [char; 2] {
    with_catalog(|catalog| Some(catalog.separators)).unwrap_or(['.', ','])
}

/// Replaces each `{name}` in the template with its value.
pub fn fill(template: &str, values: &[(&str, &dyn Display)]) -> String {
    glasscage_message::fill(template, &|name| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()))
}

/// Whether a text has no `{name}` placeholder.
pub const fn is_plain(text: &str) -> bool {
    let mut i = 0;
    while i < text.len() {
        if text.as_bytes()[i] == b'{' {
            return false;
        }
        i += 1;
    }
    true
}

/// Translates a text into the visitor's language. Returns `&'static str` for a text without values and `String` for a text with values:
/// `t!("Answer without {names}", names)`, `t!("{part} of {whole}", part = a, whole = b)`.
macro_rules! t {
    ($text:literal) => {{
        const { assert!($crate::app::i18n::is_plain($text), "a text with values needs their names") };
        $crate::app::i18n::text($text)
    }};
    ($text:literal, $($name:ident $(= $value:expr)?),+ $(,)?) => {
        $crate::app::i18n::t!(@fill [$text] ($crate::app::i18n::text($text)) $($name $(= $value)?),+)
    };
    (@fill [$($text:literal),+] ($template:expr) $($name:ident $(= $value:expr)?),+) => {
        match ($($crate::app::i18n::t!(@value $name $(= $value)?),)+) {
            ($($name,)+) => {
                // Never runs: lets the compiler check that each text has a placeholder for each value, and no other.
                if false {
                    $crate::app::i18n::t!(@check_all [$($text),+] ($($name),+));
                }
                let values: &[(&str, &dyn std::fmt::Display)] = &[$((stringify!($name), $name)),+];
                $crate::app::i18n::fill($template, values)
            }
        }
    };
    (@check_all [$($text:literal),+] $names:tt) => { $(_ = $crate::app::i18n::t!(@check $text $names);)+ };
    (@check $text:literal ($($name:ident),+)) => { format_args!($text, $($name = $name),+) };
    (@value $name:ident) => { &$name };
    (@value $name:ident = $value:expr) => { &$value };
}

/// Translates a text about `n` things, given the English forms for one and for other numbers. Both forms contain the number, with its
/// digits grouped: `plural!(n = edges.len(), "{n} edge", "{n} edges")`. More values can follow.
macro_rules! plural {
    ($n:ident $(= $count:expr)?, $one:literal, $other:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        let count: usize = *$crate::app::i18n::t!(@value $n $(= $count)?);
        $crate::app::i18n::t!(
            @fill [$one, $other] ($crate::app::i18n::form(count, [$one, $other]))
            $n = $crate::app::i18n::Grouped(count) $(, $name $(= $value)?)*
        )
    }};
}

/// Marks a text that is translated when it is displayed: `text(LABEL)`.
macro_rules! translatable {
    ($text:literal) => {
        $text
    };
}

pub(crate) use {plural, t, translatable};

/// The text after another one, with the space between them. Chinese has none after its full-width marks.
pub fn following(text: &str) -> String {
    t!(" {text}", text)
}

/// A count, displayed with the thousands separators of the page's language.
pub struct Grouped(pub usize);

impl Display for Grouped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [decimal_point, thousands_separator] = separators();
        let format = NumberFormat { decimal_point, thousands_separator, percent: "", too_large: "" };
        f.write_str(&format.grouped(self.0 as u64))
    }
}

/// Sentences one after another, with the space between them.
pub fn in_sequence(sentences: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut sentences = sentences.into_iter();
    let first = sentences.next().map_or_else(String::new, |first| first.as_ref().to_owned());
    sentences.fold(first, |text, next| text + &following(next.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_catalog_texts_are_english() {
        let names = ["P1"];
        assert_eq!(t!("Close"), "Close");
        assert_eq!(t!("{part} of {whole}", whole = 2, part = names[0]), "P1 of 2");
        let n = 1;
        assert_eq!(plural!(n, "{n} edge", "{n} edges"), "1 edge");
        assert_eq!(plural!(n = names.len() + 1, "{n} {what}", "{n} {what}s", what = "edge"), "2 edges");
        assert_eq!("One.".to_owned() + &following("Two."), "One. Two.");
    }

    #[test]
    fn values_may_stand_in_another_order_and_hold_braces() {
        assert_eq!(fill("{b} {a}{", &[("a", &"{b}"), ("b", &2)]), "2 {b}{");
    }

    #[test]
    fn the_catalog_is_set_once() {
        let catalog = r#"{"Close": "Schlie\u00dfen", " {text}": "{text}", "{n} edges": {"one": "{n} Kante", "other": "{n} Kanten"}}"#;
        let catalog = || Catalog::parse(catalog, |n| if n == 1 { "one".into() } else { "other".into() }, [',', '.']).unwrap();
        set(catalog());
        assert_eq!((t!("Close"), t!("Open")), ("Schlie\u{df}en", "Open"));
        assert_eq!([1, 7].map(|n| plural!(n, "{n} edge", "{n} edges")), ["1 Kante", "7 Kanten"]);
        assert_eq!((separators(), following("Two.").as_str()), ([',', '.'], "Two."));
    }
}
