//! A masked language model from the visitor, for ReAGent as in the paper.

use super::browser::{Browser, DESKTOP, PHONE};
use super::masked_lm;
use super::steps::{ask, example_prompt, server};

#[tokio::test(flavor = "multi_thread")]
async fn a_masked_language_model_is_chosen_and_explains() {
    let (server, _turn) = server().await;
    let folder = masked_lm::folder("masked-on-the-page");
    let browser = Browser::open(&server.url).await;
    browser.open_details_of("method").await;
    browser.select("method", "reagent-mlm").await;
    browser.screenshot("masked-light").await;
    browser.look(PHONE, "dark").await;
    browser.find("masked-lm-state").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("masked-phone-dark").await;
    browser.look(DESKTOP, "light").await;

    // Without such a model, the page shows a problem before it generates an answer.
    ask(&browser, &example_prompt()).await;
    assert!(browser.problem().await.contains("masked language model"));
    assert!(!browser.is_running().await && browser.is_in_view("problem").await);
    browser.screenshot("masked-missing-light").await;

    // One file alone is not a model.
    let files = ["config.json", "tokenizer.json", "model.safetensors"].map(|name| folder.join(name));
    browser.choose_files("masked-lm", &files[..1]).await;
    browser.wait("a sentence about what is missing", async || browser.problem().await.contains("tokenizer.json").then_some(())).await;
    browser.choose_files("masked-lm", &files).await;
    browser.wait("the masked language model", async || browser.text("masked-lm-state").await.contains("ready").then_some(())).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let manifest = browser.text("manifest").await;
    assert!(manifest.contains("Rewriting by a masked LM (ReAGent)"), "{manifest}");
    browser.screenshot("masked-explained-light").await;
    browser.close().await;
}
