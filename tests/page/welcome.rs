//! The first view of a visitor: an explained answer.

use super::browser::{Browser, DESKTOP, PHONE};
use super::dist::built_page;
use super::steps::{ask, example_prompt, focus_is_on, server, server_of};

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
    assert!(browser.is_in_view("sentence-G3").await, "prompt and answer are in sight");
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
async fn welcome_explanation_is_reproduced_and_replaced() {
    // The welcome explanation is part of the program and was computed by the model that ships.
    let (server, _turn) = server_of(built_page()).await;
    let browser = Browser::open(&server.url).await;
    first_look(&browser).await;
    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.contains("Reproduced")).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    assert!(browser.try_find("welcome-intro").await.is_none());
    browser.close().await;
}
