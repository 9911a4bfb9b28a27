//! Translates problems into the visitor's language. Engine, library and documents report problems in English. The catalog lists these texts
//! with numbered placeholders ("tensor {0} ends at byte {1}"). Page texts have named placeholders instead.

use std::fmt::Display;

use super::{Catalog, fill, with_catalog};

/// Maximum length of a translated text, in bytes. Longer texts quote much of a file and stay in English.
const LONGEST: usize = 2_500;
/// Maximum nesting depth of texts in texts, such as "this model cannot be downloaded from {0} now: {1}".
const DEEPEST: usize = 4;
/// Names of the placeholders. No text has more.
const NAMES: [&str; 6] = ["0", "1", "2", "3", "4", "5"];

/// Translates a problem or an error into the visitor's language. Text that the catalog lacks stays in English.
pub fn problem_text(english: &str) -> String {
    with_catalog(|catalog| translated(catalog, english, DEEPEST)).unwrap_or_else(|| english.to_owned())
}

/// Translates a text that is in the catalog, or the sentence that [`crate::problem::Problem`] makes of such a text: capitalized, with a
/// period. Returns `None` if the catalog lacks the text.
fn translated(catalog: &Catalog, english: &str, depth: usize) -> Option<String> {
    if depth == 0 || english.len() > LONGEST {
        return None;
    }
    let without_stop = english.strip_suffix('.');
    let spellings = [Some(english), without_stop].into_iter().flatten().flat_map(|text| [Some(text.to_owned()), small(text)]).flatten();
    let spellings: Vec<String> = spellings.collect();
    let found = spellings.iter().find_map(|text| Some((text, catalog.text(text)?.to_owned())));
    let (text, translation) = found.or_else(|| filled_in(catalog, &spellings, depth))?;
    let translation = if text.chars().next() == english.chars().next() { translation } else { with_first(&translation, large) };
    let stop = if text.ends_with('.') { None } else { without_stop.and_then(|_| catalog.text("{words}.")) };
    Some(stop.map_or_else(|| translation.clone(), |sentence| fill(sentence, &[("words", &translation)])))
}

/// Finds the matching template with the most literal text. Returns the spelling that it matched and the filled-in translation.
fn filled_in<'a>(catalog: &Catalog, spellings: &'a [String], depth: usize) -> Option<(&'a String, String)> {
    let templates = || catalog.texts().filter(|(english, _)| english.contains("{0}"));
    let fits = spellings.iter().flat_map(|text| templates().filter_map(move |(template, to)| Some((text, to, values(template, text)?))));
    // `min_by_key` returns the first of equals, so the original spelling takes precedence.
    let (text, to, values) = fits.min_by_key(|(_, _, values)| values.iter().map(|value| value.len()).sum::<usize>())?;
    // Values without a space are names and stay unchanged: a tensor may be called "output".
    let quoted = |value: &str| match value.strip_suffix(" GB") {
        Some(number) if !number.contains(' ') => Some(number.replace('.', &catalog.separators[0].to_string()) + "\u{a0}GB"),
        _ if value.contains(' ') => translated(catalog, value, depth - 1),
        _ => None,
    };
    let values: Vec<String> = values.into_iter().map(|value| quoted(value).unwrap_or_else(|| value.to_owned())).collect();
    Some((text, with_values(to, &values)))
}

fn with_values(template: &str, values: &[String]) -> String {
    let named: Vec<(&str, &dyn Display)> = NAMES.into_iter().zip(values.iter().map(|value| value as &dyn Display)).collect();
    fill(template, &named)
}

/// Values of the template's placeholders, if the template can produce the text. Earlier values are as long as possible.
fn values<'a>(template: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut literals = template.split('{').map(|part| part.split_once('}').map_or(part, |(_, literal)| literal));
    let mut rest = text.strip_prefix(literals.next()?)?;
    let literals: Vec<&str> = literals.collect();
    let (last, between) = literals.split_last()?;
    rest = rest.strip_suffix(last)?;
    let mut values = Vec::with_capacity(literals.len());
    for literal in between.iter().rev() {
        let (before, value) = rest.rsplit_once(literal)?;
        values.push(value);
        rest = before;
    }
    values.push(rest);
    values.reverse();
    Some(values)
}

fn small(text: &str) -> Option<String> {
    text.starts_with(char::is_uppercase).then(|| with_first(text, |first| first.to_lowercase().collect()))
}

fn large(first: char) -> String {
    first.to_uppercase().collect()
}

fn with_first(text: &str, change: impl FnOnce(char) -> String) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| change(first) + chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::errors::{LibraryError, RetryCause};
    use crate::problem::Problem;
    use proptest::prelude::*;

    fn german() -> Catalog {
        Catalog::parse(include_str!("../../../public/locales/de.json"), |_| "other".into(), [',', '.']).unwrap()
    }

    fn of(texts: &[(&str, &str)]) -> Catalog {
        let texts: std::collections::BTreeMap<_, _> = texts.iter().copied().collect();
        Catalog::parse(&serde_json::to_string(&texts).unwrap(), |_| "other".into(), ['.', ',']).unwrap()
    }

    fn check(catalog: &Catalog, english: &str, expected: &str) {
        assert_eq!(translated(catalog, english, DEEPEST).as_deref().unwrap_or(english), expected);
    }

    #[test]
    fn values_are_taken_over_in_any_order() {
        let catalog = of(&[("tensor {0} ends at byte {1}", "bei {1} endet {0}")]);
        check(&catalog, "tensor output.weight ends at byte 17", "bei 17 endet output.weight");
        check(&catalog, "tensor {1} ends at byte {0}", "bei {0} endet {1}");
        check(&catalog, "tensor output.weight is odd", "tensor output.weight is odd");
    }

    #[test]
    fn sentences_stay_sentences() {
        let catalog = of(&[("the file ends", "es endet"), ("{words}.", "{words}\u{3002}"), ("It is {0}.", "{0}!")]);
        check(&catalog, "The file ends.", "Es endet\u{3002}");
        check(&catalog, "the file ends", "es endet");
        check(&catalog, "It is late.", "late!");
    }

    #[test]
    fn most_specific_template_wins_and_quote_is_translated() {
        let texts =
            [("it failed: {0}", "Fehler: {0}"), ("it failed: bad {0}", "schlecht: {0}"), ("a lost wire", "Kabel ab"), ("off", "aus")];
        let catalog = of(&texts);
        check(&catalog, "it failed: bad luck", "schlecht: luck");
        check(&catalog, "it failed: it failed: a lost wire", "Fehler: Fehler: Kabel ab");
        check(&catalog, "it failed: off", "Fehler: off");
    }

    #[test]
    fn sizes_have_separator_of_language() {
        let sentence = "It needs about 1.9 GB of memory with a text of 2048 tokens; this device has about 1.2 GB";
        let shown = translated(&german(), sentence, DEEPEST).unwrap();
        assert!(shown.contains("1,9\u{a0}GB") && shown.contains("1,2\u{a0}GB"), "{shown}");
    }

    #[test]
    fn templates_of_the_page_are_none_of_problems() {
        let catalog = of(&[("{names} and {last}", "{names} und {last}")]);
        check(&catalog, "salt and pepper", "salt and pepper");
    }

    #[test]
    fn a_problem_of_the_library_is_german() {
        let catalog = german();
        let problem = Problem::from(LibraryError::before_download("https://a.org/b.gguf", RetryCause::Busy(503)));
        let [what, remedy] = [problem.what, problem.remedy].map(|text| translated(&catalog, &text, DEEPEST).unwrap());
        assert!(
            what.starts_with("Dieses Modell") && what.contains("a.org") && what.contains("Server") && what.ends_with("(503)."),
            "{what}"
        );
        assert!(remedy.starts_with("Pr\u{fc}fen Sie die Adresse"), "{remedy}");
        let file = "big-00001-of-00003.gguf".to_owned();
        let error = Box::new(LibraryError::before_download("https://a.org/b.gguf", RetryCause::Stalled));
        let what = translated(&catalog, &Problem::from(LibraryError::InFile { error, file, n_files: 3 }).what, DEEPEST).unwrap();
        assert!(what.starts_with("Dieses Modell") && what.contains("30 Sekunden") && what.contains("big-00001"), "{what}");
    }

    #[test]
    fn texts_that_quote_a_file_at_length_stay_english() {
        let catalog = of(&[("the engine failed: {0}", "die Engine: {0}")]);
        for (n, is_translated) in [(1, true), (LONGEST / 19, true), (LONGEST / 19 + 1, false), (1_000_000, false)] {
            let text = "the engine failed: ".repeat(n);
            assert_eq!(translated(&catalog, &text, DEEPEST).is_some(), is_translated, "{n} times");
        }
    }

    #[test]
    fn only_the_outer_texts_are_translated() {
        let catalog = of(&[("outer {0}", "au\u{df}en {0}")]);
        let translated = translated(&catalog, &"outer ".repeat(LONGEST / 6), DEEPEST).unwrap();
        assert_eq!(translated.matches("au\u{df}en").count(), DEEPEST);
    }

    proptest! {
        #[test]
        fn values_make_the_text_again(values in prop::collection::vec("[ab]{0,3}", 3), text in "[ab{}01 ]{0,12}") {
            let template = "a{0}b b{1}a {2}b";
            let made = with_values(template, &values);
            prop_assert!(super::values(template, &made).is_some(), "{made}");
            for text in [made, text] {
                let found = super::values(template, &text).map(|values| values.into_iter().map(str::to_owned).collect::<Vec<_>>());
                prop_assert!(found.is_none_or(|values| with_values(template, &values) == text), "{text}");
            }
        }
    }
}
