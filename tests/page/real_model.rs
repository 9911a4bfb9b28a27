//! The page with a real model from a local file, compared with transformers.

use std::path::Path;

use super::browser::Browser;
use super::download_steps::model_is_ready;
use super::real::{GEMMA3, RealModel, SMOLLM2};
use super::steps::{ask, server};

/// The text does not name Peter's wife. The model does.
const UNSUPPORTED: &str = "Peter Hale was born in Leeds in 1920. His friend George Dunn was born in York in 1924. Peter became an engineer \
    and built bridges in India. George became a teacher and wrote songs for children. Peter died in 1991. George lived until 2010. What \
    was the name of Peter's wife?";

/// A browser with the page at `address`, which has loaded the model.
async fn browser_with(model: &RealModel, address: &str) -> Browser {
    let browser = Browser::open(address).await;
    browser.choose_file("model-file", Path::new(&model.file())).await;
    model_is_ready(&browser).await;
    browser
}

/// Asks the model for its answer, explains it by the method Pert., and compares both with transformers.
async fn check_explanation(browser: &Browser, model: &RealModel) {
    browser.open_details_of("method").await;
    browser.select("method", "pert").await;
    ask(browser, &model.expected().prompt.text).await;
    browser.explained().await;
    model.assert_expected(&String::from_utf8(browser.saved("save-json").await).expect("UTF-8"));
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_answers_and_explains_like_transformers() {
    let (server, _turn) = server().await;
    let browser = browser_with(&SMOLLM2, &server.url).await;
    check_explanation(&browser, &SMOLLM2).await;
    browser.shows("manifest", |text| text.contains("Smollm2 135M")).await;
    browser.screenshot("smollm2-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_on_webgpu_explains_like_transformers() {
    let (server, _turn) = server().await;
    let browser = browser_with(&SMOLLM2, &format!("{}?backend=gpu", server.url)).await;
    check_explanation(&browser, &SMOLLM2).await;
    browser.shows("manifest", |text| text.contains("webgpu-software")).await;
    browser.screenshot("smollm2-on-webgpu-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gemma3_answers_and_explains_like_transformers() {
    let (server, _turn) = server().await;
    let browser = browser_with(&GEMMA3, &server.url).await;
    browser.open_details_of("max-tokens").await;
    browser.fill("max-tokens", "24").await;
    check_explanation(&browser, &GEMMA3).await;
    browser.screenshot("gemma3-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_reproduces_welcome_explanation() {
    let (server, _turn) = server().await;
    let browser = browser_with(&SMOLLM2, &server.url).await;
    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;
    browser.screenshot("smollm2-again-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn smollm2_answer_without_support_is_marked() {
    let (server, _turn) = server().await;
    let browser = browser_with(&SMOLLM2, &server.url).await;
    ask(&browser, UNSUPPORTED).await;
    browser.explained().await;
    browser.shows("verdict", |text| text.contains("Nothing in the prompt supports this")).await;
    browser.screenshot("smollm2-unsupported-light").await;
    browser.close().await;
}
