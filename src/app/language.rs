//! The language of the page: found, loaded and changed.

use js_sys::{Array, Intl, Number};
use leptos::prelude::{document, window};
use wasm_bindgen_futures::spawn_local;
use web_sys::Url;

use super::browser;
use super::i18n::{self, Catalog, LANGUAGES, choose};
use super::state::storage_keys;

/// The parameter of the page's address that asks for a language.
const PARAMETER: &str = "lang";

/// Loads the catalog of a language, then goes on; without a catalog in English.
pub fn load(tag: &str, go_on: impl FnOnce() + 'static) {
    if tag == LANGUAGES[0].tag {
        return go_on();
    }
    let tag = tag.to_owned();
    spawn_local(async move {
        let json = browser::fetch_text(&format!("locales/{tag}.json")).await;
        if let Some(catalog) = json.and_then(|json| Catalog::parse(&json, category(&tag), separators(&tag))) {
            i18n::set(catalog);
            if let Some(root) = document().document_element() {
                // Only an attribute's name can be refused.
                drop(root.set_attribute("lang", &tag));
            }
        }
        go_on();
    });
}

/// The tag of the language that is asked for, now or on an earlier visit.
pub fn tag() -> String {
    chosen(browser::remembered(storage_keys::LANGUAGE))
}

/// The tag of the language that the address or the browser asks for.
pub fn tag_without_storage() -> String {
    chosen(None)
}

fn chosen(remembered: Option<String>) -> String {
    let asked = browser::parameter(PARAMETER);
    // A file's name is made of it.
    let asked = asked.filter(|tag| tag.len() <= 35 && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    let preferred = window().navigator().languages().iter().filter_map(|tag| tag.as_string()).collect::<Vec<_>>();
    choose(asked, remembered, preferred.into_iter())
}

/// Reloads the page in another language, which later visits keep. What is on screen stays.
pub fn change(tag: &str) {
    browser::remember_for_visits(storage_keys::LANGUAGE, Some(tag));
    if let Ok(url) = Url::new(&browser::address()) {
        url.search_params().delete(PARAMETER);
        browser::replace_entry(&url.href(), browser::entry().as_deref());
    }
    // A browser that does not reload shows the language at the next visit.
    drop(window().location().reload());
}

/// The plural category of a number.
fn category(tag: &str) -> impl Fn(usize) -> String + use<> {
    let rules = Intl::PluralRules::new(&Array::of1(&tag.into()), &js_sys::Object::new());
    move |n| rules.select(n as f64).into()
}

/// Before the fraction of a number, and between thousands.
fn separators(tag: &str) -> [char; 2] {
    let written: String = Number::from(12_345.5).to_locale_string(tag).into();
    let is_mark = |c: &char| !c.is_numeric();
    let marks: Vec<char> = written.chars().filter(is_mark).collect();
    match marks[..] {
        [group, point] => [point, group],
        _ => i18n::separators(),
    }
}
