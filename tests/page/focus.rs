//! Keyboard focus: it stays in a useful place after every button.

use serde_json::json;
use thirtyfour::Key;

use super::browser::Browser;
use super::download_steps::large_model;
use super::hub::Hub;
use super::steps::{focus_is_on, focused, open_gallery, server};

/// Focuses an element and presses Enter.
async fn press(browser: &Browser, id: &str) {
    browser.focus(id).await;
    focus_is_on(browser, id).await;
    browser.driver.action_chain().send_keys(Key::Enter).perform().await.expect("a key is pressed");
}

/// Presses an element and waits until one of `places` has the focus.
async fn leads_to(browser: &Browser, id: &str, places: &[&str]) {
    press(browser, id).await;
    let is_there = async || places.contains(&focused(browser).await.as_str()).then_some(());
    browser.wait(&format!("the focus on {places:?} after {id}"), is_there).await;
}

/// The focused element after the page is drawn: its test id, id, class or tag name.
async fn place(browser: &Browser) -> String {
    let script = "const [done] = arguments;
        const frame = then => requestAnimationFrame(() => requestAnimationFrame(then));
        frame(() => frame(() => {
            const { dataset, id, className, tagName } = document.activeElement;
            done(dataset.testid || id || className || tagName);
        }));";
    let found = browser.driver.execute_async(script, Vec::new()).await.expect("a script runs");
    found.json().as_str().expect("a name").to_owned()
}

/// Waits until this element has the focus. The page may draw several times before.
async fn is_at(browser: &Browser, name: &str) {
    browser.wait(&format!("the focus on {name}"), async || (place(browser).await == name).then_some(())).await;
}

/// Waits until an element has the focus.
async fn is_somewhere(browser: &Browser) {
    browser.wait("the focus on an element", async || (place(browser).await != "BODY").then_some(())).await;
}

/// Focuses the element that matches a CSS selector, and presses Enter.
async fn press_found(browser: &Browser, selector: &str) {
    let script = "document.querySelector(arguments[0]).focus()";
    browser.driver.execute(script, vec![json!(selector)]).await.expect("a script runs");
    browser.driver.action_chain().send_keys(Key::Enter).perform().await.expect("a key is pressed");
}

async fn escape(browser: &Browser) {
    browser.driver.action_chain().send_keys(Key::Escape).perform().await.expect("a key is pressed");
}

#[tokio::test(flavor = "multi_thread")]
async fn focus_survives_every_button_of_an_explanation() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    press(&browser, "explain-button").await;
    browser.problem().await;
    press_found(&browser, ".problem .close").await;
    focus_is_on(&browser, "explain-button").await;
    press(&browser, "gallery-1").await;
    focus_is_on(&browser, "tab-text").await;
    press(&browser, "copy-link").await;
    browser.focus("link-text").await;
    escape(&browser).await;
    focus_is_on(&browser, "copy-link").await;

    // A run that removes the explanation moves the focus to Stop, and then back to the open tab.
    browser.click("tab-table").await;
    leads_to(&browser, "again", &["stop-button", "tab-table"]).await;
    browser.explained().await;
    focus_is_on(&browser, "tab-table").await;
    browser.find("table").await;

    browser.click("tab-check").await;
    press(&browser, "check-button").await;
    focus_is_on(&browser, "check-button").await;
    browser.find("check").await;
    is_at(&browser, "check-button").await;
    browser.click("tab-methods").await;
    press(&browser, "compare-clp").await;
    browser.find("show-clp").await;
    is_at(&browser, "table-scroll").await;
    press(&browser, "show-clp").await;
    is_at(&browser, "show-pairs").await;

    browser.click("tab-without").await;
    browser.click("mark-strongest-1").await;
    press(&browser, "answer-without").await;
    browser.find("explain-variant-0").await;
    browser.stopped().await;
    is_at(&browser, "answer-without").await;
    press(&browser, "undo-edits").await;
    is_at(&browser, "undo-edits").await;
    press(&browser, "explain-variant-0").await;
    browser.find("open-variant-0").await;
    browser.stopped().await;
    is_at(&browser, "open-variant-0").await;
    leads_to(&browser, "open-variant-0", &["tab-text"]).await;

    // The keyboard can also open the words of a sentence, with its button.
    press(&browser, "open-P1").await;
    browser.find("by-words").await;
    is_at(&browser, "sentence-P1").await;

    browser.fill("prompt-input", "Ann has 3 figs. Bob has 4 nuts. What does Bob have?").await;
    // A script presses Stop, because the answer may end before a driver could press it.
    let stop = "new MutationObserver((changes, observer) => {
            const stop = document.querySelector('[data-testid=stop-button]');
            if (stop.disabled) return;
            observer.disconnect();
            stop.focus();
            stop.click();
        }).observe(document.body, { subtree: true, childList: true, attributes: true });";
    browser.driver.execute(stop, Vec::new()).await.expect("a script runs");
    browser.find("explain-button").await.send_keys(Key::Enter).await.expect("it is pressed");
    browser.wait("the end of the run", async || browser.text("status").await.starts_with("Stopped").then_some(())).await;
    is_somewhere(&browser).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn focus_survives_every_button_of_a_lesson() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    press(&browser, "lesson-1").await;
    focus_is_on(&browser, "lesson-step").await;
    browser.click("choose-1").await;
    leads_to(&browser, "lesson-why", &["lesson-verdict"]).await;
    leads_to(&browser, "lesson-next", &["lesson-step"]).await;
    browser.find("mark-1").await;
    browser.click("mark-1").await;
    browser.click("mark-4").await;
    leads_to(&browser, "lesson-reveal", &["mark-score"]).await;
    leads_to(&browser, "lesson-back", &["lesson-step"]).await;
    leads_to(&browser, "lesson-edit", &["lesson-title"]).await;
    leads_to(&browser, "lesson-try", &["lesson-step"]).await;
    press(&browser, "lesson-end").await;
    let is_gone = async || browser.try_find("lesson").await.is_none().then_some(());
    browser.wait("the explanation without the lesson", is_gone).await;
    is_at(&browser, "tab-text").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn focus_survives_every_button_of_the_models() {
    let hub = Hub::start(&[("small.gguf", large_model(3))]).await;
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    press(&browser, "models-button").await;
    browser.fill("address", &hub.address("small.gguf")).await;
    press(&browser, "look-up").await;
    browser.find("preview").await;
    is_at(&browser, "preview-name").await;
    press(&browser, "preview-back").await;
    browser.find("use-built-in").await;
    is_at(&browser, "stored-models").await;
    browser.fill("address", &hub.address("small.gguf")).await;
    press(&browser, "look-up").await;
    hub.rules().bytes_per_second = Some(200_000);
    leads_to(&browser, "download-button", &["models-button"]).await;
    leads_to(&browser, "pause-download", &["resume-download"]).await;
    press(&browser, "dismiss-download").await;
    let is_gone = async || browser.try_find("download").await.is_none().then_some(());
    browser.wait("the form without the download", is_gone).await;
    is_somewhere(&browser).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn focus_left_by_visitor_stays_left() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    browser.focus("tab-text").await;
    // The title cannot take the focus.
    browser.click("title").await;
    browser.click_with("sentence-G1", Key::Control).await;
    browser.click("title").await;
    assert_eq!(place(&browser).await, "BODY", "a click elsewhere is no loss");
    browser.close().await;
}
