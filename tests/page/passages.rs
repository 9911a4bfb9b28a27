//! Documents as sources: named passages with shares and effects, citations, and texts that are dropped on the page.

use super::browser::Browser;
use super::steps::{copied_link, explain_given, file, open_link, server};

const PROMPT: &str = "[1] Ann has 3 figs. Ann eats 1 fig.\n[2] Bob has 4 nuts.\n\nHow many nuts does Bob have?";
const ANSWER: &str = "Bob has 4 nuts [2]. Bob has 4 nuts [1].";

#[tokio::test(flavor = "multi_thread")]
async fn passages_show_shares_effects_and_citations() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    assert!(browser.try_find("show-passages").await.is_none(), "the first screen has no passages");
    explain_given(&browser, PROMPT, ANSWER).await;
    browser.explained().await;
    assert!(browser.try_find("passages").await.is_none(), "they are off until asked for");
    browser.click("sentence-G1").await;
    browser.click("show-passages").await;
    browser.shows("passages", |text| text.contains("How much G1 depends") && text.contains("[1]") && text.contains("P1 \u{2013} P2")).await;
    browser.shows("citations", |text| text.contains("G1 supported: cites [2]") && text.contains("G2")).await;
    browser.pictures_of("passages", "passages").await;
    let citations = browser.text("citations").await;

    // Without the passage that the answer needs, the model writes another one.
    browser.click("without-P3").await;
    browser.shows("answers-without", |text| text.contains("Without [2], the answer is different:")).await;
    browser.stopped().await;
    browser.pictures_of("answers-without", "answers-without").await;
    browser.click("tab-without").await;
    browser.shows("variants", |text| text.contains("Without P3")).await;
    browser.click("tab-text").await;

    let link = copied_link(&browser).await;
    server.take_requests();
    open_link(&browser, &link).await;
    browser.click("sentence-G1").await;
    browser.click("show-passages").await;
    browser.shows("passages", |text| text.contains("How much G1 depends") && text.contains("P1 \u{2013} P2")).await;
    browser.shows("citations", |text| text == citations).await;
    let requests = server.take_requests();
    assert!(!requests.iter().any(|path| path.contains("engine") || path.contains("/models/")), "{requests:?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_texts_become_passages() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.open_form().await;
    browser.fill("prompt-input", "How many nuts does Bob have?").await;
    let texts = [file("ann.md", b"Ann has 3 figs.\n"), file("bob.txt", b"Bob has 4 nuts.\r\n")];
    browser.drop_files(&texts).await;
    let prompt = "[ann.md]\nAnn has 3 figs.\n\n[bob.txt]\nBob has 4 nuts.\n\nHow many nuts does Bob have?";
    browser.wait("the passages", async || (browser.value("prompt-input").await == prompt).then_some(())).await;
    browser.drop_files(&[file("noise.txt", b"\0\xff")]).await;
    assert!(browser.problem().await.contains("noise.txt\u{201d} is not a text"));
    assert_eq!(browser.value("prompt-input").await, prompt);
    browser.click("explain-button").await;
    browser.explained().await;
    browser.click("show-passages").await;
    browser.shows("passages", |text| text.contains("[ann.md]") && text.contains("[bob.txt]")).await;
    browser.screenshot("dropped-texts-light").await;
    browser.close().await;
}
