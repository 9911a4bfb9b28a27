//! A fact that the text states twice: single sentences miss it, pairs find it.

use super::browser::Browser;
use super::steps::{ask, copied_link, open_link, server};

/// Share of P1 in the last sentence, in percent.
async fn share_of_first_sentence(browser: &Browser) -> f64 {
    let picture = browser.picture().await;
    let row = picture.iter().find(|row| row[0] == "P1").expect("there is a first sentence");
    row[1].parse().unwrap_or_else(|_| panic!("P1 has a share: {row:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn pairs_show_fact_stated_twice() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    ask(&browser, "The game begins at 4 o'clock. It takes 3 hours. When does it arrive?").await;
    browser.explained().await;
    assert!(share_of_first_sentence(&browser).await > 10.0, "either copy is enough, so both count");
    let together = browser.text("joint-effects").await;
    assert!(together.contains("Either P1 or G1 is enough for \u{201c}4\u{201d} in G2"), "{together}");
    // The page shows a range with the share.
    browser.shows("range", |text| text.contains(" to ")).await;
    // The arcs of both copies are marked.
    browser.shows("marks", |text| text.contains("or")).await;
    browser.screenshot("pairs-light").await;
    browser.click("tab-table").await;
    // The cells of both copies are marked, too.
    browser.shows("table", |text| text.contains("or")).await;
    browser.screenshot("pairs-table").await;
    browser.click("tab-text").await;
    browser.pictures_of("joint-effects", "pairs-together").await;

    let link = copied_link(&browser).await;

    // The method Flow also finds the first copy, without additional forward passes.
    browser.open_details_of("method").await;
    browser.select("method", "flow").await;
    browser.click("explain-button").await;
    browser.explained().await;
    assert!(share_of_first_sentence(&browser).await > 10.0, "attention reads both copies");
    browser.screenshot("flow-light").await;

    browser.select("method", "pert").await;
    browser.click("explain-button").await;
    browser.explained().await;
    assert!(share_of_first_sentence(&browser).await < 2.0, "the model says the 4 again in its first step");
    assert_eq!(browser.count("joint-effects").await, 0);

    // The document contains the joint effects, so the link shows them without a model.
    open_link(&browser, &link).await;
    browser.shows("joint-effects", |text| text == together).await;
    browser.close().await;
}
