//! The page in German, in Chinese, and in a pseudo-language that reveals untranslated and cut texts.

use serde_json::{Map, Value};
use thirtyfour::prelude::*;

use super::browser::{Browser, DESKTOP};
use super::steps::{ask, example_prompt, open_gallery, open_tab, server};

const ENGLISH: &str = include_str!("../../src/app/i18n/en.json");
const GERMAN: &str = include_str!("../../public/locales/de.json");
/// The gallery of the small test model. The catalog only has the titles of the published gallery.
const GALLERY: &str = include_str!("../fixtures/gallery/index.json");
/// The narrowest window that the page is made for.
const NARROW: (u32, u32) = (360, 740);

/// Finds visible texts and labels that are not in the pseudo-language. Ignores documents, models and other data, which `lang` or `dir`
/// mark, and labels, numbers, names and keys.
const UNTRANSLATED: &str = r#"
    const isOwn = element => !element.closest('[dir=auto], [lang]:not(html), textarea, dd, .label, kbd');
    const ofNames = text => text.replace(/https:\S+|Glasscage|JSON|CSV|CAGE|Pert\.|Pairs|SHA-256|[PG]\d+/g, '');
    const isText = text => /\p{L}{2}/u.test(ofNames(text)) && !/[\u27e6\u27e7]/.test(text);
    const isSeen = element => element.checkVisibility({visibilityProperty: true});
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const {data, parentElement} = walker.currentNode;
        if (isText(data) && isOwn(parentElement) && isSeen(parentElement)) found.push(data.trim());
    }
    for (const name of ['aria-label', 'title', 'placeholder']) {
        for (const element of document.body.querySelectorAll(`[${name}]`)) {
            const text = element.getAttribute(name);
            if (isText(text) && isOwn(element) && isSeen(element)) found.push(`${name}: ${text}`);
        }
    }
    return [...new Set(found)];
"#;

/// Finds elements that cut off their own text.
const CUT: &str = r#"
    const holdsText = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const isCut = element => {
        const {overflowX, textOverflow, clipPath} = getComputedStyle(element);
        const isMeant = overflowX === 'visible' || textOverflow === 'ellipsis' || clipPath !== 'none';
        return !isMeant && element.scrollWidth > element.clientWidth + 1;
    };
    const elements = [...document.body.querySelectorAll('*:not(textarea, input, select)')];
    const cut = elements.filter(element => holdsText(element) && element.clientWidth && isCut(element));
    return cut.map(({outerHTML}) => outerHTML.slice(0, 150));
"#;

/// Finds elements that make the page wider than the window.
const WIDE: &str = r#"
    const {scrollWidth, clientWidth} = document.documentElement;
    const isWide = element => scrollWidth > clientWidth && element.getBoundingClientRect().right > clientWidth + 1;
    return [...document.body.querySelectorAll('*')].filter(isWide).map(({outerHTML}) => outerHTML.slice(0, 150));
"#;

/// A pseudo-locale: English with accents, a third longer, in brackets that show where a text is cut.
fn pseudo_catalog() -> String {
    let english: Map<String, Value> = serde_json::from_str(ENGLISH).expect("a catalog");
    let gallery: Value = serde_json::from_str(GALLERY).expect("JSON");
    let entries = ["explanations", "lessons"].into_iter().flat_map(|kind| gallery[kind].as_array().expect("a list"));
    let titles = entries.map(|entry| (entry["title"].as_str().expect("a text").to_owned(), entry["title"].clone()));
    let translated = english.into_iter().chain(titles).map(|(text, value)| match value {
        Value::Object(forms) => (text, forms.into_iter().map(|(category, form)| (category, pseudo(&form))).collect()),
        value => (text, pseudo(&value)),
    });
    Value::Object(translated.collect()).to_string()
}

fn pseudo(text: &Value) -> Value {
    let text = text.as_str().expect("a text");
    let mut is_name = false;
    let accented: String = text
        .chars()
        .map(|c| {
            is_name = c == '{' || is_name && c != '}';
            match c {
                _ if is_name => c,
                'a' => '\u{e1}',
                'e' => '\u{eb}',
                'i' => '\u{ee}',
                'o' => '\u{f6}',
                'u' => '\u{fa}',
                _ => c,
            }
        })
        .collect();
    let longer: String = " l\u{f6}ng\u{eb}r".chars().cycle().take(text.chars().count() / 3).collect();
    // Texts that only join others have no letters and need no brackets.
    if text.chars().any(char::is_alphabetic) { format!("\u{27e6}{accented}{longer}\u{27e7}").into() } else { text.into() }
}

async fn list(browser: &Browser, script: &str) -> Vec<String> {
    browser.driver.execute(script, Vec::new()).await.expect("a script runs").convert().expect("a list")
}

/// Untranslated texts, cut texts, and elements wider than a narrow window.
async fn flaws(browser: &Browser, state: &str) -> Vec<String> {
    browser.look(NARROW, "light").await;
    browser.screenshot(&format!("pseudo-{state}")).await;
    let untranslated = list(browser, UNTRANSLATED).await.into_iter().map(|text| format!("{state}: not in the catalog: {text}"));
    let cut = list(browser, CUT).await.into_iter().map(|element| format!("{state}: cut: {element}"));
    let wide = list(browser, WIDE).await.into_iter().map(|element| format!("{state}: wider than the window: {element}"));
    let flaws = untranslated.chain(cut).chain(wide).collect();
    browser.look(DESKTOP, "light").await;
    flaws
}

#[tokio::test(flavor = "multi_thread")]
async fn all_texts_are_translated_and_fit_phones() {
    let (server, _turn) = server().await;
    server.set_catalog("en-XA", &pseudo_catalog());
    let browser = Browser::start(None).await;
    browser.driver.goto(format!("{}?lang=en-XA", server.url)).await.expect("the page opens");
    browser.find("welcome-intro").await;
    let mut found = Vec::new();
    found.extend(flaws(&browser, "first-look").await);
    browser.open_form().await;
    browser.open_details_of("method").await;
    browser.open_details_of("given-answer").await;
    found.extend(flaws(&browser, "form").await);
    browser.click("explain-button").await;
    browser.problem().await;
    found.extend(flaws(&browser, "problem").await);
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    found.extend(flaws(&browser, "explanation").await);
    for tab in ["path", "table", "check", "methods", "without"] {
        open_tab(&browser, tab).await;
        browser.settled().await;
        found.extend(flaws(&browser, &format!("tab-{tab}")).await);
    }
    browser.click("home").await;
    browser.click("lesson-2").await;
    browser.find("lesson-next").await;
    found.extend(flaws(&browser, "lesson").await);
    browser.click("lesson-edit").await;
    browser.find("lesson-text").await;
    found.extend(flaws(&browser, "lesson-editor").await);
    browser.open_details_of("lesson-size").await;
    browser.click("copy-link").await;
    browser.click("show-parts").await;
    browser.find("link-tabs").await;
    found.extend(flaws(&browser, "lesson-explanations").await);
    browser.click("home").await;
    browser.click("models-button").await;
    browser.find("known-model").await;
    found.extend(flaws(&browser, "models").await);
    assert_eq!(found, [""; 0]);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_language_is_said_and_loaded_again() {
    let (server, _turn) = server().await;
    server.remove("locales/de.json");
    let browser = Browser::start(None).await;
    browser.driver.goto(format!("{}?lang=de", server.url)).await.expect("the page opens");
    let problem = browser.problem().await;
    assert!(problem.contains("The page could not be loaded in your language."), "{problem}");
    server.set_catalog("de", GERMAN);
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.shows("welcome-intro", |text| !text.is_empty()).await;
    browser
        .wait("German", async || {
            (browser.driver.execute("return document.documentElement.lang", Vec::new()).await.ok()?.json() == "de").then_some(())
        })
        .await;
    assert!(browser.try_find("problem").await.is_none());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_speaks_german_and_chinese() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    let picture = browser.picture().await;
    browser.click("language-de").await;
    let german: Map<String, Value> = serde_json::from_str(GERMAN).expect("a catalog");
    let in_german = async || {
        let text = browser.driver.find(By::Css("[data-testid='tab-table']")).await.ok()?.text().await.ok()?;
        (text == german["Table"].as_str()?).then_some(())
    };
    browser.wait("German", in_german).await;
    assert_eq!(browser.picture().await, picture, "what is on screen stays");
    let root = browser.driver.find(By::Css("html")).await.expect("a page");
    assert_eq!(root.attr("lang").await.expect("attributes can be read").as_deref(), Some("de"));
    let row = browser.text("sentence-P1").await;
    assert!(row.contains(" %"), "numbers are written as German writes them: {row}");
    browser.pictures_of("tab-table", "german").await;
    browser.driver.goto(format!("{}?lang=de#g3.damaged", server.url)).await.expect("the page opens");
    let problem = browser.problem().await;
    let damaged = german["this link is damaged; it may have been cut off where it was copied"].as_str().expect("a text");
    let (_, after_the_first_letter) = damaged.split_at(1);
    assert!(problem.contains(after_the_first_letter), "what is wrong is said in German: {problem}");
    browser.driver.goto(format!("{}?lang=zh", server.url)).await.expect("the page opens");
    browser.find("welcome-intro").await;
    browser.screenshot("chinese").await;
    browser.driver.goto(&server.url).await.expect("the page opens");
    browser.wait("German again: the choice is kept", in_german).await;
    browser.driver.goto(format!("{}?lang=de#gallery=lesson-what-an-attribution-is", server.url)).await.expect("the page opens");
    let of_step = async |words: &str| {
        let look = async || browser.try_text("lesson").await?.contains(words).then_some(());
        browser.wait(words, look).await;
    };
    of_step("Ein Sprachmodell bekam die sechs S\u{e4}tze einer Aufgabe.").await;
    let legend = browser.driver.find(By::Css("[data-testid='lesson'] legend")).await.expect("a question");
    assert_eq!(legend.attr("lang").await.expect("attributes can be read").as_deref(), Some("de"));
    browser.pictures_of("lesson", "lesson-in-german").await;
    browser.click("lesson-next").await;
    of_step("Auf welchen zwei S\u{e4}tzen").await;
    browser.click("language-zh").await;
    of_step("\u{4f9d}\u{636e}\u{7684}\u{662f}\u{54ea}\u{4e24}\u{4e2a}\u{53e5}\u{5b50}").await;
    browser.pictures_of("lesson", "lesson-in-chinese").await;
    browser.click("language-en").await;
    of_step("Which two sentences").await;
    browser.close().await;
}
