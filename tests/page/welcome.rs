//! The first view of a visitor: an explained answer.

use glasscage::explanation::Document;
use serde_json::json;

use super::browser::{Browser, DESKTOP, PHONE};
use super::download_steps::large_model;
use super::hub::Hub;
use super::steps::{ask, example_prompt, focus_is_on, server};

/// Reloads the page and checks that it opens with the form closed.
async fn first_look(browser: &Browser) {
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.find("welcome-intro").await;
    assert!(!browser.find("prompt-input").await.is_displayed().await.expect("it is there"), "the form comes second");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_opens_with_clickable_explained_answer() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    first_look(&browser).await;
    browser.pictures_of("welcome-intro", "welcome").await;
    browser.look(PHONE, "light").await;
    assert!(browser.is_in_view("sentence-P4").await, "the picture is in sight on a phone");
    browser.look(DESKTOP, "light").await;
    assert!(browser.is_in_view("sentence-G2").await, "prompt and answer are in sight");
    let requests = server.take_requests();
    assert!(requests.iter().all(|path| !path.contains("engine") && !path.ends_with(".gguf")), "nothing runs yet: {requests:?}");
    let of_the_answer = browser.picture().await;
    browser.click("sentence-G1").await;
    let of_the_first_step = browser.picture().await;
    assert_ne!(of_the_answer, of_the_first_step);

    browser.click("more-examples").await;
    browser.wait("the gallery in sight", async || browser.is_in_view("gallery-1").await.then_some(())).await;
    browser.click("larger-model").await;
    // The list grows when it loads, and moves the button.
    browser.find("known-model").await;
    browser.click("models-close").await;
    browser.click("try-own-words").await;
    focus_is_on(&browser, "prompt-input").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn welcome_explanation_asks_before_model_is_downloaded() {
    let (server, _turn) = server().await;
    let hub = Hub::start(&[("smollm2.gguf", large_model(1))]).await;
    let welcome = Document::from_json(include_str!("../../public/gallery/welcome.json")).expect("an explanation");
    let known = json!({ "models": [{
        "name": "SmolLM2", "architecture": "llama", "parameters_millions": 135, "quantization": "Q4_1",
        "sha256": welcome.manifest.model.sha256, "license": "Apache-2.0", "context_length": 8192, "bytes_per_token": 46080,
        "about": "Small.", "address": hub.address("smollm2.gguf"),
    }] });
    server.set_registry(&known.to_string());
    let browser = Browser::open(&server.url).await;
    first_look(&browser).await;
    browser.click("again").await;
    browser.shows("preview", |text| text.contains("Apache-2.0")).await;
    browser.pictures_of("preview", "welcome-again").await;
    assert!(hub.take_sent() <= 65_536, "only the beginning was sent");
    browser.click("preview-back").await;
    browser.click("models-close").await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    assert!(browser.try_find("welcome-intro").await.is_none());
    browser.close().await;
}
