//! Back, Forward and a reload: every explanation is an entry of the browser's history.

use super::browser::{Browser, PHONE};
use super::fault_steps::{PAUSE, hold_at};
use super::steps::{ask, copied_link, example_prompt, explain_given, open_gallery, reaches_pass, server};

const HOME: &str = "Glasscage: why did the model give this answer?";

async fn title(browser: &Browser) -> String {
    browser.driver.title().await.expect("a title")
}

/// Waits for the page without an explanation by the visitor. It shows the welcome explanation unless the prompt field has text.
async fn is_home(browser: &Browser) {
    browser.find("gallery-1").await;
    let is_welcome = browser.try_find("welcome-intro").await.is_some();
    let has_asked = !browser.value("prompt-input").await.is_empty();
    assert_eq!((is_welcome, browser.try_find("sentence-G1").await.is_some()), (!has_asked, !has_asked), "nothing else is explained");
    assert_eq!(title(browser).await, HOME, "the title of the page without an explanation");
}

async fn back(browser: &Browser) {
    browser.driver.back().await.expect("the page goes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn history_and_reload_restore_explanations() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    is_home(&browser).await;
    open_gallery(&browser, 1).await;
    let (made_before, its_title) = (browser.picture().await, title(&browser).await);
    let address = browser.driver.current_url().await.expect("an address").to_string();
    assert!(address.contains("#gallery=01-"), "{address}");
    assert!(its_title.ends_with("Glasscage") && its_title != HOME, "{its_title}");
    browser.shows("title", |title| its_title.starts_with(title.trim_end_matches('\u{2026}'))).await;
    browser.pictures_of("title", "titled").await;
    browser.click("home").await;
    is_home(&browser).await;
    browser.screenshot("home-light").await;

    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let own = browser.picture().await;
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.find("sentence-G1").await;
    assert_eq!(browser.picture().await, own);
    assert!(browser.try_find("badge").await.is_none(), "this one was made here");
    browser.screenshot("reloaded-light").await;

    back(&browser).await;
    is_home(&browser).await;
    back(&browser).await;
    browser.find("badge").await;
    assert_eq!((browser.picture().await, title(&browser).await), (made_before.clone(), its_title));
    back(&browser).await;
    is_home(&browser).await;
    browser.driver.forward().await.expect("the page goes forward");
    browser.find("badge").await;
    assert_eq!(browser.picture().await, made_before);
    browser.close().await;
}

/// Number of entries in the history of the tab.
async fn n_entries(browser: &Browser) -> u64 {
    browser.driver.execute("return history.length", Vec::new()).await.expect("a script runs").json().as_u64().expect("a number")
}

/// Safari's Back button skips history entries that a page adds more than ten seconds after the last user action. So the page adds the entry
/// of an explanation at the click, before the engine arrives.
#[tokio::test(flavor = "multi_thread")]
async fn back_leaves_explanation_after_long_run() {
    let (server, _turn) = server().await;
    server.hold("engine_bg.wasm");
    let browser = Browser::open(&server.url).await;
    let before = n_entries(&browser).await;
    ask(&browser, &example_prompt()).await;
    browser.wait("the entry", async || (n_entries(&browser).await == before + 1).then_some(())).await;
    assert!(browser.is_running().await);
    server.release();
    browser.explained().await;
    assert_eq!(n_entries(&browser).await, before + 1, "the explanation replaces the entry");
    back(&browser).await;
    is_home(&browser).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn link_tolerates_copied_text_and_survives_recomputation() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&format!("{}#utm_source=x", server.url)).await;
    is_home(&browser).await;
    assert!(browser.try_find("problem").await.is_none(), "what is no link is no error");
    open_gallery(&browser, 1).await;
    let link = copied_link(&browser).await;
    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.driver.goto(format!("{link})")).await.expect("the link opens");
    browser.find("badge").await;
    let shared = browser.picture().await;
    browser.click("again").await;
    browser.explained().await;
    assert_eq!(browser.driver.current_url().await.expect("an address").fragment(), None);
    back(&browser).await;
    browser.find("badge").await;
    assert_eq!(browser.picture().await, shared);
    assert!(browser.driver.current_url().await.expect("an address").as_str().starts_with(&link));

    // One character of the link is changed.
    let (before, after) = link.split_at(link.len() / 2);
    let digit = if after.starts_with('x') { 'y' } else { 'x' };
    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.driver.goto(format!("{before}{digit}{}", &after[1..])).await.expect("the link opens");
    assert!(browser.problem().await.contains("damaged"), "{}", browser.problem().await);
    browser.look(PHONE, "light").await;
    browser.screenshot("damaged-phone").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reload_keeps_measurements() {
    let (server, _turn) = server().await;
    server.begin_workers_with(&hold_at("Column", &[3]));
    server.hold(PAUSE);
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, &"Tom has 3 figs. ".repeat(6), &"Tom has 3 figs. ".repeat(4)).await;
    // Shares may also be estimates.
    reaches_pass(&browser, 3).await;
    browser.driver.refresh().await.expect("the page is loaded again");
    server.release();
    browser.shows("stopped", |text| text.starts_with("Stopped after ") && !text.contains(" 0 of")).await;
    assert!(!browser.picture().await[0][1].is_empty(), "the first source stays measured");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn back_closes_dialogs() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    browser.click("export").await;
    browser.find("export-dialog-close").await;
    back(&browser).await;
    browser.wait("no dialog", async || browser.try_find("export-dialog-close").await.is_none().then_some(())).await;
    is_home(&browser).await;
    browser.close().await;
}
