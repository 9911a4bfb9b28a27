//! Warnings of the answer classifier of the built-in model.

use super::browser::{Browser, DESKTOP, PHONE};
use super::steps::{ask, example_prompt, server};

/// A prompt outside the scope of the model.
const OUT_OF_SCOPE: &str = "Sehr geehrte Damen und Herren, wie wird das Wetter morgen in Hamburg? \u{201e}Sonnig\u{201c} oder doch Regen?";
/// A problem worded differently from the training problems. The model makes a mistake in it, as in most such problems.
const UNUSUAL: &str = "The bakery baked 48 rolls this morning. By noon 19 of them had been sold, and in the afternoon 12 more \
                       went. How many rolls remained in the evening?";

#[tokio::test(flavor = "multi_thread")]
async fn doubtful_answers_and_prompts_out_of_scope_say_so() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    // The warnings depend on the answer only, so take the method with the fewest passes.
    browser.open_details_of("method").await;
    browser.select("method", "pert").await;
    ask(&browser, OUT_OF_SCOPE).await;
    browser.explained().await;
    let warning = "This small model can only solve small problems. Choose a larger model for this prompt.";
    browser.shows("answer-warning", |text| text.starts_with(warning)).await;
    browser.screenshot("out-of-scope-light").await;
    browser.look(PHONE, "dark").await;
    browser.screenshot("out-of-scope-phone-dark").await;
    browser.look(DESKTOP, "light").await;
    browser.click("choose-larger").await;
    browser.find("models").await;
    browser.click("models-close").await;

    ask(&browser, UNUSUAL).await;
    browser.explained().await;
    let words = browser.text("answer-warning").await;
    assert_eq!(words, "This answer is doubtful: it shows signs of a mistake. Check it before you use it.");
    browser.screenshot("doubtful-light").await;

    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    assert!(browser.try_find("answer-warning").await.is_none(), "an ordinary problem needs no warning");

    browser.close().await;
}
