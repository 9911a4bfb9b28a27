//! The page with a real model from a local file, compared with transformers.

use std::path::Path;

use super::browser::Browser;
use super::download_steps::model_is_ready;
use super::server::Server;
use super::smollm2::{assert_expected, expected, model_file};
use super::steps::{ask, server};

/// The text does not name Peter's wife. The model does.
const UNSUPPORTED: &str = "Peter Hale was born in Leeds in 1920. His friend George Dunn was born in York in 1924. Peter became an engineer \
    and built bridges in India. George became a teacher and wrote songs for children. Peter died in 1991. George lived until 2010. What \
    was the name of Peter's wife?";

/// A browser with the page, which has loaded `SmolLM2`.
async fn browser_with_smollm2(server: &Server) -> Browser {
    let browser = Browser::open(&server.url).await;
    browser.choose_file("model-file", Path::new(&model_file())).await;
    model_is_ready(&browser).await;
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_answers_and_explains_like_transformers() {
    let (server, _turn) = server().await;
    let browser = browser_with_smollm2(&server).await;
    browser.open_details_of("method").await;
    browser.select("method", "pert").await;
    ask(&browser, &expected().prompt.text).await;
    browser.explained().await;
    assert_expected(&String::from_utf8(browser.saved("save-json").await).expect("UTF-8"));
    browser.shows("manifest", |text| text.contains("Smollm2 135M")).await;
    browser.screenshot("smollm2-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_reproduces_welcome_explanation() {
    let (server, _turn) = server().await;
    let browser = browser_with_smollm2(&server).await;
    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;
    browser.screenshot("smollm2-again-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_answer_without_support_is_marked() {
    let (server, _turn) = server().await;
    let browser = browser_with_smollm2(&server).await;
    ask(&browser, UNSUPPORTED).await;
    browser.explained().await;
    browser.shows("verdict", |text| text.contains("Nothing in the prompt supports this")).await;
    browser.screenshot("smollm2-unsupported-light").await;
    browser.close().await;
}
