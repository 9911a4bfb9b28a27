//! Chooses, loads and changes the language of the page.

use js_sys::{Array, Intl, Number};
use leptos::prelude::{document, window};
use wasm_bindgen_futures::spawn_local;
use web_sys::Url;

use super::browser;
use super::i18n::{self, Catalog, LANGUAGES, choose};
use super::state::storage_keys;

/// The query parameter that selects a language.
const PARAMETER: &str = "lang";

/// Loads the catalog of a language, then calls `go_on` with whether a catalog that should exist is missing. The page is in English without
/// a catalog.
pub fn load(tag: &str, go_on: impl FnOnce(bool) + 'static) {
    if tag == LANGUAGES[0].tag {
        return go_on(false);
    }
    let tag = tag.to_owned();
    spawn_local(async move {
        let json = browser::fetch_text(&format!("locales/{tag}.json")).await;
        let catalog = json.and_then(|json| Catalog::parse(&json, category(&tag), separators(&tag)));
        let is_missing = catalog.is_none() && LANGUAGES.iter().any(|language| language.tag == tag);
        if let Some(catalog) = catalog {
            i18n::set(catalog);
            if let Some(root) = document().document_element() {
                // Only an invalid attribute name can fail.
                drop(root.set_attribute("lang", &tag));
            }
        }
        go_on(is_missing);
    });
}

/// The language tag from the address, an earlier visit, or the browser.
pub fn tag() -> String {
    chosen(browser::remembered(storage_keys::LANGUAGE))
}

/// The language tag from the address or the browser. Ignores earlier visits.
pub fn tag_without_storage() -> String {
    chosen(None)
}

fn chosen(remembered: Option<String>) -> String {
    let asked = browser::parameter(PARAMETER);
    // The tag becomes part of a file name, so accept only safe characters.
    let asked = asked.filter(|tag| tag.len() <= 35 && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let preferred = window().navigator().languages().iter().filter_map(|tag| tag.as_string()).collect::<Vec<_>>();
    choose(asked, remembered, preferred.into_iter())
}

/// Reloads the page in another language and remembers the language for later visits. The content on screen stays.
pub fn change(tag: &str) {
    browser::remember_for_visits(storage_keys::LANGUAGE, Some(tag));
    if let Ok(url) = Url::new(&browser::address()) {
        url.search_params().delete(PARAMETER);
        browser::replace_entry(&url.href(), browser::entry().as_deref());
    }
    // If the reload fails, the next visit shows the language.
    drop(window().location().reload());
}

/// Returns a function from a number to its plural category.
fn category(tag: &str) -> impl Fn(usize) -> String + use<> {
    let rules = Intl::PluralRules::new(&Array::of1(&tag.into()), &js_sys::Object::new());
    move |n| rules.select(n as f64).into()
}

/// The decimal mark and the thousands separator.
fn separators(tag: &str) -> [char; 2] {
    let written: String = Number::from(12_345.5).to_locale_string(tag).into();
    let is_mark = |c: &char| !c.is_numeric();
    let marks: Vec<char> = written.chars().filter(is_mark).collect();
    match marks[..] {
        [group, point] => [point, group],
        _ => i18n::separators(),
    }
}
