//! Sources other than sentences and words: paragraphs, lines, and the visitor's own parts.

use super::browser::Browser;
use super::steps::{copied_link, explain_given, open_link, server};

const PROMPT: &str = "Ann has 3 figs. She eats 1.\n  - Bob has 4 nuts.\n\nWhat does Bob have?";
const ANSWER: &str = "Bob has 4 nuts. The answer is 4.";

/// Chooses what a source is.
async fn explain_by(browser: &Browser, unit: &str) {
    browser.open_details_of("explain-button").await;
    browser.open_details_of("unit").await;
    browser.select("unit", unit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paragraphs_are_explained_shared_and_split_into_words() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    explain_by(&browser, "paragraph").await;
    browser.pictures_of("unit", "units-setting").await;
    explain_given(&browser, PROMPT, ANSWER).await;
    browser.explained().await;
    assert_eq!(browser.labels().await, ["P1", "P2", "G1", "G2"]);
    browser.shows("sentence-P1", |text| text.contains("She eats 1.\n  - Bob has 4 nuts.")).await;
    browser.shows("manifest", |text| text.contains("2 paragraphs and 2 sentences")).await;
    browser.pictures_of("sentence-P1", "by-paragraphs").await;
    let picture = browser.picture().await;
    browser.click("open-P1").await;
    browser.shows("by-words", |text| text.contains("blanked out alone")).await;
    browser.stopped().await;
    browser.pictures_of("open-P1", "by-paragraphs-words").await;
    browser.click("tab-table").await;
    browser.shows("table", |text| text.contains("P2")).await;
    browser.screenshot("by-paragraphs-table-light").await;
    let link = copied_link(&browser).await;
    server.take_requests();
    open_link(&browser, &link).await;
    assert_eq!(browser.picture().await, picture);
    let requests = server.take_requests();
    assert!(!requests.iter().any(|path| path.contains("engine") || path.contains("/models/")), "{requests:?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_split_both_texts_and_brackets_only_the_prompt() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    explain_by(&browser, "line").await;
    explain_given(&browser, PROMPT, ANSWER).await;
    browser.explained().await;
    assert_eq!(browser.labels().await, ["P1", "P2", "P3", "G1"]);
    browser.shows("manifest", |text| text.contains("4 lines")).await;
    browser.pictures_of("sentence-P1", "by-lines").await;
    explain_by(&browser, "bracket").await;
    explain_given(&browser, "[[Ann has 3 figs. Bob has 4 nuts.]] What does Bob have?", ANSWER).await;
    browser.explained().await;
    assert_eq!(browser.labels().await, ["P1", "P2", "G1", "G2"]);
    browser.shows("sentence-P1", |text| text.contains("figs. Bob has 4 nuts.") && !text.contains('[')).await;
    // The document does not contain the brackets, but measures the same parts again.
    let link = copied_link(&browser).await;
    open_link(&browser, &link).await;
    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;
    explain_by(&browser, "bracket").await;
    explain_given(&browser, "[[Ann has 3 figs.", ANSWER).await;
    assert!(browser.problem().await.contains("[[ without ]] after it"), "{}", browser.problem().await);
    browser.close().await;
}
