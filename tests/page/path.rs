//! The Path tab: the layered graph behind an answer, and the step-by-step walk through it.

use std::sync::Arc;

use glasscage::explanation::{Document, Passage};
use glasscage::table::Table;
use thirtyfour::{By, Key};

use super::browser::Browser;
use super::steps::{file, focus_is_on, open_gallery, server};

async fn press(browser: &Browser, key: Key) {
    browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
}

/// Opens the tab and waits until its sentences no longer move.
async fn open(browser: &Browser, node: &str) {
    browser.click("tab-path").await;
    browser.find(node).await;
    browser.wait("the sentences stand still", async || browser.is_still().await.then_some(())).await;
}

/// Number of drawn sentences.
async fn drawn(browser: &Browser) -> usize {
    browser.driver.find_all(By::Css(".path .node")).await.expect("sentences can be counted").len()
}

/// Complete text of a node, including hidden text.
async fn spoken(browser: &Browser, node: &str) -> String {
    browser.find(node).await.prop("textContent").await.expect("properties can be read").expect("it has a text")
}

#[tokio::test(flavor = "multi_thread")]
async fn tab_opens_if_browser_refuses_motion() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 5).await;
    // The first visit loads the tab, so it does not move.
    open(&browser, "node-G7").await;
    browser.click("tab-text").await;
    browser.wait("the text stands still", async || browser.is_still().await.then_some(())).await;
    let refuse = "document.startViewTransition = () => { throw new Error('refused'); }";
    browser.driver.execute(refuse, Vec::new()).await.expect("a script runs");
    browser.click("tab-path").await;
    let is_selected = async || browser.find("tab-path").await.attr("aria-selected").await.ok()?.filter(|selected| selected == "true");
    browser.wait("the tab", is_selected).await;
    let is_moving = "return document.documentElement.hasAttribute('data-moving')";
    assert_eq!(browser.driver.execute(is_moving, Vec::new()).await.expect("a script runs").json(), false);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_and_walk_follow_path_to_answer() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 5).await;
    open(&browser, "node-G7").await;
    browser.pictures_of("path", "path").await;
    assert!(spoken(&browser, "node-G7").await.contains("G7 depends on G6 ("));
    assert!(browser.try_find("node-P6").await.is_none(), "what does not matter is not drawn");

    browser.focus("node-G7").await;
    press(&browser, Key::Up).await;
    focus_is_on(&browser, "node-G6").await;
    press(&browser, Key::Up).await;
    focus_is_on(&browser, "node-G5").await;
    press(&browser, Key::Up).await;
    focus_is_on(&browser, "node-P7").await;
    press(&browser, Key::Left).await;
    focus_is_on(&browser, "node-G4").await;

    let chain = browser.text("path-2").await;
    assert!(chain.starts_with('P') && chain.contains("\u{2192} G7"), "{chain}");
    let words = browser.find("path-2").await.attr("title").await.expect("attributes can be read");
    assert!(words.expect("a description").contains(" of G7 comes "));
    browser.click("path-2").await;
    browser.shows("walk-words", |text| text.starts_with("Start at G7")).await;
    browser.click("walk-next").await;
    browser.shows("walk-words", |text| text.contains("of G7 comes from G6")).await;
    browser.pictures_of("walk-words", "walk").await;
    // The walk waits until a visitor has read the words, which takes several seconds.
    let hurry = "const wait = window.setTimeout;
        let left = 1;
        window.setTimeout = (handler, millis, ...rest) => wait(handler, millis > 2000 && left-- > 0 ? 500 : millis, ...rest);";
    browser.driver.execute(hurry, Vec::new()).await.expect("a script runs");
    browser.click("walk-play").await;
    browser.wait("the walk to go on by itself", async || browser.text("walk-words").await.contains("of G6").then_some(())).await;
    browser.click("walk-play").await;
    browser.shows("walk-play", |text| text == "Play").await;

    // A click on another sentence explains it in the same tab.
    browser.click("node-G6").await;
    assert!(spoken(&browser, "node-G6").await.starts_with("G6 explained"));
    assert!(browser.try_find("walk-words").await.is_none() && browser.try_find("node-G7").await.is_none());
    browser.close().await;
}

/// An explanation of 39 sentences after 21 of the prompt. Each depends on all sentences before it, and on different ones most.
fn sixty_sentences() -> Document {
    let passage = |n: usize| {
        let sentences: Vec<String> = (1..=n).map(|k| format!("Box {k} has {k} pens. ")).collect();
        let mut end = 0;
        let spans: Vec<_> = sentences
            .iter()
            .map(|sentence| {
                let start = end;
                end += sentence.len();
                start..end
            })
            .collect();
        Arc::new(Passage::new(&sentences.concat(), &spans, vec![7; n]))
    };
    let mut document = Document::from_json(include_str!("../../crates/core/tests/golden/linked.json")).expect("an explanation");
    (document.prompt, document.generation) = (passage(21), passage(39));
    document.table = Table::from_fn(21, 39, |i, j| Some(1.0 / (1 + (7 * i + 3 * j) % 11) as f64));
    document.output = vec![38];
    (document.alone, document.flow, document.support) = (None, None, Vec::new());
    document.joint.clear();
    document.check().expect("a valid explanation");
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn the_path_through_sixty_sentences_fits() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("open-json", &file("sixty.json", sixty_sentences().to_json().as_bytes())).await;
    browser.find("sentence-G39").await;
    open(&browser, "node-G39").await;
    // At first, the graph shows only the most important sentences.
    browser.pictures_of("path", "path-of-sixty").await;
    let few = drawn(&browser).await;
    assert!((2..=18).contains(&few), "{few} sentences");
    browser.click("path-all").await;
    assert!(drawn(&browser).await > few);
    browser.pictures_of("path", "path-of-all-sixty").await;
    assert_eq!(browser.overflow().await, 0);
    browser.close().await;
}
