//! A model that thinks before it answers.

use super::browser::{Browser, DESKTOP, PHONE};
use super::split::demo_that_thinks;
use super::steps::{ask, server};

#[tokio::test(flavor = "multi_thread")]
async fn a_thought_is_one_line_until_it_is_opened() {
    let (server, _turn) = server().await;
    let path = std::env::temp_dir().join(format!("glasscage-thinks-{}.gguf", std::process::id()));
    std::fs::write(&path, demo_that_thinks()).expect("a folder that can be written");
    let browser = Browser::open(&server.url).await;
    browser.open_form().await;
    browser.choose_file("model-file", &path).await;
    ask(&browser, "Tom has 5 figs. Ann gives Tom 3 figs. How many figs does Tom have?").await;
    browser.explained().await;
    assert_eq!(browser.count("thought").await, 0, "it was not asked to think");

    browser.open_details_of("thinks").await;
    browser.click("thinks").await;
    browser.fill("max-thought", "14").await;
    let cost = browser.text("thought-cost").await;
    assert!(
        cost.starts_with("Explaining the longest possible thinking takes 1 more forward pass")
            && cost.contains("Thinking, answer, and explanation together: "),
        "{cost}"
    );
    browser.screenshot("thinking-settings-light").await;
    ask(&browser, "Tom has 5 figs. Ann gives Tom 3 figs. How many figs does Tom have?").await;
    browser.explained().await;
    browser.shows("thought-shares", |text| text.contains("through the thinking")).await;
    let is_seen = async || browser.find("sentence-G1").await.is_displayed().await.expect("a sentence");
    assert!(!is_seen().await, "the thought is folded");
    browser.screenshot("thinking-folded-light").await;
    browser.click("thought").await;
    assert!(is_seen().await);
    browser.screenshot("thinking-open-light").await;
    browser.look(PHONE, "dark").await;
    browser.screenshot("thinking-phone-dark").await;
    browser.look(DESKTOP, "light").await;
    browser.close().await;
    std::fs::remove_file(path).ok();
}
