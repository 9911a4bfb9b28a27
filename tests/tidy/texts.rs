//! The texts of the page in the code, and their translations in the catalogs of `public/locales`.

use std::collections::{BTreeMap, BTreeSet};

use glasscage::explanation::{Language, METHODS, MethodText, Unit};
use proc_macro2::TokenTree;
use serde_json::{Map, Value, json};

use crate::message_texts::message_texts;
use crate::tokens::{code, for_all};
use crate::workspace;

/// Macros of `app/i18n`, with the number of texts that each takes.
const MACROS: [(&str, usize); 3] = [("t", 1), ("plural", 2), ("translatable", 1)];
/// Each catalog, with the plural categories of its language for whole numbers (CLDR).
pub const CATALOGS: [(&str, &[&str]); 2] = [("de", &["one", "other"]), ("zh", &["other"])];
const SOURCE: &str = "src/app/i18n/en.json";

#[test]
fn english_catalog_has_all_page_texts() {
    let found = json!(texts());
    if std::env::var_os("GLASSCAGE_WRITE_CATALOG").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE);
        std::fs::write(path, format!("{found:#}\n")).expect("the catalog can be written");
    }
    let written = catalog(SOURCE);
    let [found, written] = [&found, &written].map(|texts| texts.as_object().expect("an object").clone());
    let stale = "update it: GLASSCAGE_WRITE_CATALOG=1 cargo test --test tidy texts";
    assert_eq!((missing(&found, &written), missing(&written, &found)), (Vec::<&String>::new(), Vec::new()), "{SOURCE}: {stale}");
    assert_eq!(found, written, "{SOURCE}: {stale}");
}

#[test]
fn catalogs_translate_all_texts() {
    let english = catalog(SOURCE);
    let english = english.as_object().expect("an object");
    for (tag, categories) in CATALOGS {
        let path = format!("public/locales/{tag}.json");
        let translated = catalog(&path);
        let translated = translated.as_object().expect("an object");
        assert_eq!(missing(english, translated), Vec::<&String>::new(), "not in {path}");
        assert_eq!(missing(translated, english), Vec::<&String>::new(), "no longer in the page: {path}");
        for (text, translation) in translated {
            assert_eq!(forms(translation).keys().copied().collect::<Vec<_>>(), categories_of(&english[text], categories), "{path}: {text}");
            for form in forms(translation).values() {
                assert!(!form.trim().is_empty(), "{path}: {text}");
                assert_eq!(places(form), places(text), "{path}: values of {text}");
            }
        }
    }
}

fn catalog(path: &str) -> Value {
    serde_json::from_str(&workspace::read(path).unwrap_or_else(|| "{}".into())).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn missing<'a>(of: &'a Map<String, Value>, from: &Map<String, Value>) -> Vec<&'a String> {
    of.keys().filter(|text| !from.contains_key(*text)).collect()
}

/// The forms of a text by plural category. A text without plurals has one form with an empty category.
fn forms(text: &Value) -> BTreeMap<&str, &str> {
    match text {
        Value::Object(forms) => forms.iter().map(|(category, form)| (category.as_str(), form.as_str().expect("a text"))).collect(),
        text => [("", text.as_str().expect("a text"))].into(),
    }
}

fn categories_of<'a>(english: &Value, categories: &[&'a str]) -> Vec<&'a str> {
    if english.is_object() { categories.to_vec() } else { vec![""] }
}

/// Names of the placeholders in a text.
fn places(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect()
}

/// Every text of the page and every template of a message, with its plural forms if it has any.
fn texts() -> BTreeMap<String, Value> {
    let mut texts = BTreeMap::new();
    for file in workspace::tracked(&["rs"]).iter().filter(|file| file.starts_with("src/app/")) {
        for_all(code(file), &mut |tokens| match call(tokens).as_deref() {
            Some([text]) => _ = texts.insert(text.clone(), json!(text)),
            Some([one, other]) => _ = texts.insert(other.clone(), json!({ "one": one, "other": other })),
            _ => {}
        });
    }
    texts.extend(Language::ALL.map(|language| (language.name().to_owned(), json!(language.name()))));
    texts.extend(texts_of_our_files().map(|text| (text.clone(), json!(text))));
    for method in METHODS.iter().chain([MethodText::of("")]) {
        let abouts = Unit::ALL.map(|unit| method.about.replace(Unit::Sentence.noun(), unit.general_noun()));
        let words = [method.label, method.score, method.unit].into_iter().chain(abouts.iter().map(String::as_str));
        texts.extend(words.filter(|text| !text.is_empty()).map(|text| (text.to_owned(), json!(text))));
    }
    texts.extend(message_texts().into_iter().map(|text| (text.clone(), json!(text))));
    texts
}

/// Names and descriptions in the site's own files, which the page shows in its language.
fn texts_of_our_files() -> impl Iterator<Item = String> {
    let (registry, gallery) = (catalog("public/models/registry.json"), catalog("public/gallery/index.json"));
    let of = |list: &Value, field: &str| {
        let texts = list.as_array().into_iter().flatten().filter_map(|entry| Some(entry[field].as_str()?.to_owned()));
        texts.collect::<Vec<String>>()
    };
    let (explanations, lessons) = (&gallery["explanations"], &gallery["lessons"]);
    // The topic of an explanation by the built-in model is quoted from its prompt, so it is not translated. Only its files are numbered.
    let is_by_other_model = |entry: &&Value| entry["file"].as_str().is_some_and(|file| !file.starts_with(|c: char| c.is_ascii_digit()));
    let by_other_models: Value = explanations.as_array().into_iter().flatten().filter(is_by_other_model).cloned().collect();
    let titles = [of(explanations, "title"), of(lessons, "title")];
    let abouts = [of(&registry["models"], "about"), of(&by_other_models, "about"), of(lessons, "about")];
    titles.into_iter().chain(abouts).flatten()
}

/// The texts in a macro call of `app/i18n`.
fn call(tokens: &[TokenTree]) -> Option<Vec<String>> {
    let [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(group), ..] = tokens else { return None };
    let (_, n) = MACROS.into_iter().find(|(known, _)| name == known).filter(|_| mark.as_char() == '!')?;
    let literals = group.stream().into_iter().filter_map(|token| syn::parse2::<syn::LitStr>(token.into()).ok());
    let literals: Vec<String> = literals.take(n).map(|literal| literal.value()).collect();
    (literals.len() == n).then_some(literals)
}
