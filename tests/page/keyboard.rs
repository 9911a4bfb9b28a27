//! Without a mouse: keys and fingers.

use thirtyfour::Key;

use super::browser::{Browser, PHONE};
use super::steps::{focus_is_on, open_gallery, server};

#[tokio::test(flavor = "multi_thread")]
async fn arrow_keys_go_through_the_tabs_and_the_pressed_button_keeps_the_focus() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    let tab = browser.find("tab-text").await;
    tab.focus().await.expect("it takes the focus");
    for (key, leads_to) in [
        (Key::Right, "tab-path"),
        (Key::Right, "tab-table"),
        (Key::End, "tab-without"),
        (Key::Right, "tab-text"),
        (Key::Left, "tab-without"),
    ] {
        browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
        focus_is_on(&browser, leads_to).await;
        let selected = browser.find(leads_to).await.attr("aria-selected").await.expect("attributes can be read");
        assert_eq!(selected.as_deref(), Some("true"), "{leads_to}");
    }
    browser.click("home").await;
    browser.click("try-own-words").await;
    focus_is_on(&browser, "prompt-input").await;
    // The examples are one stop of the Tab key.
    browser.find("example-1").await.focus().await.expect("it takes the focus");
    for (key, leads_to) in [(Key::Right, "example-2"), (Key::Left, "example-1"), (Key::Left, "example-12")] {
        browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
        focus_is_on(&browser, leads_to).await;
    }
    browser.fill("prompt-input", "Ann has 3 figs. Bob has 4 nuts. What does Bob have?").await;
    browser.find("explain-button").await.send_keys(Key::Enter).await.expect("it is pressed");
    focus_is_on(&browser, "explain-button").await;
    browser.explained().await;
    focus_is_on(&browser, "explain-button").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fingers_choose_several_sentences() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.look(PHONE, "light").await;
    open_gallery(&browser, 1).await;
    browser.click("all-numbers").await;
    // It comes later, above the sentences.
    browser.find("derivation").await;
    browser.click("several").await;
    browser.click("sentence-G1").await;
    let selected = async || browser.picture().await.iter().filter(|row| row[3] == "true").count();
    assert_eq!(selected().await, 2);
    browser.pictures_of("several", "several").await;
    browser.click("several").await;
    browser.click("sentence-G1").await;
    assert_eq!(selected().await, 1);
    browser.close().await;
}
