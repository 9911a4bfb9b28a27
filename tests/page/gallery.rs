//! The gallery: explanations that open without an engine and can be computed again with one.

use thirtyfour::By;

use super::browser::{Browser, DESKTOP, PHONE};
use super::steps::{ask, example_prompt, open_gallery, server};

#[tokio::test(flavor = "multi_thread")]
async fn gallery_explanation_opens_without_engine_and_is_reproduced() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.fill("prompt-input", "My own question?").await;
    browser.find("gallery-1").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("gallery-light").await;
    browser.look(PHONE, "dark").await;
    browser.find("gallery-1").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("gallery-phone-dark").await;
    browser.look(DESKTOP, "light").await;

    open_gallery(&browser, 1).await;
    browser.shows("badge", |text| text.contains("beforehand")).await;
    let made_before = browser.picture().await;
    let requests = server.take_requests();
    assert!(!requests.iter().any(|path| path.contains("engine") || path.contains(".gguf")), "{requests:?}");
    browser.screenshot("gallery-opened-light").await;

    browser.click("again").await;
    browser.explained().await;
    browser.shows("reproduction", |text| text.starts_with("Reproduced here")).await;
    assert_eq!(browser.picture().await, made_before);
    assert!(browser.try_find("badge").await.is_none(), "this one was made here");
    browser.find("reproduction").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("reproduced-light").await;
    browser.look(PHONE, "dark").await;
    browser.find("reproduction").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("reproduced-phone-dark").await;
    browser.look(DESKTOP, "light").await;

    // The visitor's own text was saved for later.
    browser.click("set-aside").await;
    assert_eq!(browser.value("prompt-input").await, "My own question?");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clp_says_what_it_measures() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.open_details_of("method").await;
    browser.select("method", "clp").await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    browser.shows("manifest", |text| text.contains("CLP")).await;
    browser.click("exactly").await;
    browser.shows("verdict", |text| text.contains("divergence")).await;
    browser.screenshot("clp-light").await;
    browser.find("method").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("settings-light").await;
    browser.look(PHONE, "dark").await;
    browser.find("method").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("settings-phone-dark").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_model_says_what_it_is_for() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.fill("prompt-input", "Who wrote Faust?").await;
    browser.shows("built-in-hint", |text| text.contains("only solves small problems")).await;
    browser.screenshot("hint-light").await;
    browser.fill("prompt-input", &example_prompt()).await;
    browser.wait("no hint", async || browser.text("built-in-hint").await.is_empty().then_some(())).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_stands_beside_the_right_answer() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 12).await;
    let details = async || browser.driver.find(By::Css(".details")).await.ok()?.text().await.ok();
    let has_answer = async || details().await?.contains("The right answer is 49.").then_some(());
    browser.wait("the right answer", has_answer).await;
    browser.screenshot("mistake-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_explanation_can_be_put_to_the_test() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    browser.click("tab-check").await;
    browser.wait("what is known", async || browser.text("coverage").await.contains("by CAGE").then_some(())).await;
    browser.click("check-button").await;
    let check = browser.text("check").await;
    assert!(check.contains("CAGE") && check.contains("RISE") && check.contains("sentences deleted"), "{check}");
    browser.shows("check-verdict", |text| text.contains("sooner than in random order")).await;
    browser.find("check").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("check-light").await;
    browser.look(PHONE, "dark").await;
    browser.find("check").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("check-phone-dark").await;
    browser.close().await;
}

/// A card that is opened scrolls the page, and a sentence may come to lie under the pointer.
#[tokio::test(flavor = "multi_thread")]
async fn sentence_under_resting_pointer_is_not_previewed() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    let events = |events: &str| {
        format!(
            "const row = document.querySelector('[data-testid=\"sentence-G1\"]');
            const pointer = (kind, place) =>
                row.dispatchEvent(new PointerEvent(kind, {{pointerType: 'mouse', bubbles: kind === 'pointermove', ...place}}));
            const [here, there] = [{{screenX: 5, screenY: 5}}, {{screenX: 6, screenY: 5}}];
            {events}"
        )
    };
    // The pointer moves, leaves, and then the sentence comes to it.
    let comes =
        events("pointer('pointermove', here); pointer('pointerleave', here); pointer('pointerenter', here); pointer('pointermove', here);");
    let rests = format!("{comes} setTimeout(() => arguments[0](document.querySelectorAll('.details h3 .tag').length), 500)");
    let previews = browser.driver.execute_async(rests, Vec::new()).await.expect("a script runs");
    assert_eq!(*previews.json(), 0);
    browser.driver.execute(events("pointer('pointermove', there);"), Vec::new()).await.expect("a script runs");
    let preview = async || browser.driver.find(By::Css(".details h3 .tag")).await.ok();
    assert_eq!(browser.wait("a preview", preview).await.text().await.expect("a text"), "preview");
    browser.close().await;
}
