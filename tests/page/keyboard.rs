//! Use without a mouse: keyboard and touch.

use thirtyfour::Key;

use super::browser::{Browser, PHONE};
use super::steps::{focus_is_on, open_gallery, server};

#[tokio::test(flavor = "multi_thread")]
async fn arrow_keys_switch_tabs_and_buttons_keep_focus() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    browser.focus("tab-text").await;
    for (key, leads_to) in [
        (Key::Right, "tab-path"),
        (Key::Right, "tab-table"),
        (Key::End, "tab-without"),
        (Key::Right, "tab-text"),
        (Key::Left, "tab-without"),
    ] {
        browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
        focus_is_on(&browser, leads_to).await;
        browser.has(leads_to, "aria-selected", "true").await;
    }
    browser.click("home").await;
    browser.click("try-own-words").await;
    focus_is_on(&browser, "prompt-input").await;
    // The Tab key stops at the examples only once.
    browser.focus("example-1").await;
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

async fn press_key(browser: &Browser, key: Key) {
    browser.driver.action_chain().send_keys(key).perform().await.expect("a key is pressed");
}

/// Focuses the element that matches a CSS selector.
async fn focus(browser: &Browser, selector: &str) {
    browser.driver.execute("document.querySelector(arguments[0]).focus()", vec![selector.into()]).await.expect("a script runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn arrow_keys_belong_to_the_widget_that_has_the_focus() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.click("lesson-2").await;
    for step in ["Step 2", "Step 3"] {
        browser.click("lesson-next").await;
        browser.wait(step, async || browser.text("lesson-step").await.contains(step).then_some(())).await;
    }
    browser.find("table").await;
    focus(&browser, ".table-scroll").await;
    press_key(&browser, Key::Right).await;
    press_key(&browser, Key::Left).await;
    browser.click("tab-text").await;
    focus(&browser, "[data-testid='sentence-G1']").await;
    press_key(&browser, Key::Left).await;
    browser.shows("lesson-step", |text| text.contains("Step 3")).await;
    focus(&browser, "[data-testid='lesson-step']").await;
    press_key(&browser, Key::Left).await;
    browser.wait("the step before", async || browser.text("lesson-step").await.contains("Step 2").then_some(())).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_keys_belong_to_a_table_that_scrolls() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.click("lesson-2").await;
    for step in ["Step 2", "Step 3"] {
        browser.click("lesson-next").await;
        browser.shows("lesson-step", |text| text.contains(step)).await;
    }
    browser.find("table").await;
    browser.click("present").await;
    browser.driver.execute("document.querySelector('.table-scroll').style.maxHeight = '40px'", Vec::new()).await.expect("a script runs");
    focus(&browser, ".table-scroll").await;
    press_key(&browser, Key::PageUp).await;
    browser.shows("lesson-step", |text| text.contains("Step 3")).await;
    focus(&browser, "[data-testid='lesson-step']").await;
    press_key(&browser, Key::PageUp).await;
    browser.shows("lesson-step", |text| text.contains("Step 2")).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_in_a_dialog_leave_the_page_alone() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.click("lesson-2").await;
    browser.click("lesson-next").await;
    browser.shows("lesson-step", |text| text.contains("Step 2")).await;
    browser.click("export").await;
    browser.find("export-html").await;
    browser.focus("export-dialog-close").await;
    press_key(&browser, Key::Left).await;
    browser.driver.action_chain().send_keys("p").perform().await.expect("a key is pressed");
    press_key(&browser, Key::Escape).await;
    let is_closed = async || browser.try_find("export-html").await.is_none().then_some(());
    browser.wait("the page without the dialog", is_closed).await;
    browser.shows("lesson-step", |text| text.contains("Step 2")).await;
    let is_large = browser.driver.execute("return document.documentElement.hasAttribute('data-presenting')", Vec::new()).await;
    assert_eq!(is_large.expect("a script runs").json(), false, "P was pressed in the dialog");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_an_input_method_are_left_to_it() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    browser.click("sentence-G1").await;
    browser.click("tab-without").await;
    browser.fill("reword-P1", "Other words.").await;
    let commit = "const [key, name, is_composing] = arguments;
        const field = document.querySelector(`[data-testid='${name}']`);
        field.focus();
        field.dispatchEvent(new KeyboardEvent('keydown', { key, isComposing: is_composing, bubbles: true, cancelable: true }));";
    let send = async |key: &str, is_composing: bool| {
        let arguments = vec![key.into(), "reword-P1".into(), is_composing.into()];
        browser.driver.execute(commit, arguments).await.expect("a script runs");
    };
    send("Enter", true).await;
    send("Escape", true).await;
    send("Escape", false).await;
    assert!(!browser.is_running().await, "a candidate was chosen, and nothing asked");
    assert!(browser.try_find("explain-variant-0").await.is_none());
    let chosen = browser.driver.execute("return document.querySelector('.details h3').textContent", Vec::new()).await;
    assert!(chosen.expect("a script runs").json().as_str().expect("a text").contains("G1"), "Escape is the field's own");
    send("Enter", false).await;
    browser.find("explain-variant-0").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fingers_choose_several_sentences() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.look(PHONE, "light").await;
    open_gallery(&browser, 1).await;
    browser.click("all-numbers").await;
    // The derivation line loads late and appears above the sentences.
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
