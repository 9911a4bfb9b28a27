//! The built-in model that ships with the page. Other tests replace it with a smaller one.

use super::browser::Browser;
use super::dist::built_page;
use super::steps::{ask, open_gallery, server_of};

/// A problem in wordings that do not occur in the training data.
const PROBLEM: &str =
    "How many apples does Rosa have now? She had 17 apples. Her uncle gave her 5 more. Then she lost 3. Her bag is green.";
const OUT_OF_SCOPE: &str = "Write a JavaScript function that sorts an array of objects by the field \"date\".";

#[tokio::test(flavor = "multi_thread")]
async fn built_in_model_reproduces_gallery_and_answers_prompts() {
    let (server, _turn) = server_of(built_page()).await;
    let browser = Browser::open(&server.url).await;
    // Six explanations by each of two other models come first.
    open_gallery(&browser, 14).await;
    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;

    // The answers are the same with every method, so take the method with the fewest passes.
    browser.open_details_of("method").await;
    browser.select("method", "pert").await;
    ask(&browser, PROBLEM).await;
    browser.explained().await;
    browser.shows("sentences", |text| text.contains("The answer is 19.")).await;
    browser.screenshot("visitors-problem-light").await;

    ask(&browser, OUT_OF_SCOPE).await;
    browser.explained().await;
    // The model detects prompts outside its scope.
    browser.shows("answer-warning", |text| text.starts_with("This small model can only solve small problems")).await;
    browser.close().await;
}
