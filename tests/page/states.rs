//! All states of the page, one after another. Tests of accessibility and pictures visit each.

use super::browser::Browser;
use super::steps::{ask, example_prompt, file, open_tab};

const WITH_PASSAGES: &[u8] = include_bytes!("../../crates/core/tests/golden/passages.json");

/// Brings the page at `url` into each of its states and calls `visit` with the state's name.
pub async fn visit_states(browser: &Browser, url: &str, visit: impl AsyncFn(&Browser, &str)) {
    browser.goto(url).await;
    browser.open_details_of("method").await;
    visit(browser, "the form and its settings").await;
    browser.click("explain-button").await;
    browser.problem().await;
    visit(browser, "a problem").await;
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.find("welcome-intro").await;
    visit(browser, "the first look").await;
    browser.click("lesson-4").await;
    browser.find("choose-1").await;
    visit(browser, "a question of a lesson").await;
    browser.click("lesson-next").await;
    browser.click("lesson-next").await;
    browser.find("mark-5").await;
    visit(browser, "sentences to mark").await;
    browser.click("mark-5").await;
    browser.click("lesson-reveal").await;
    browser.find("mark-score").await;
    visit(browser, "what was marked beside what was measured").await;
    browser.click("lesson-edit").await;
    browser.find("lesson-text").await;
    visit(browser, "the editor of a lesson").await;
    browser.open_details_of("lesson-size").await;
    visit(browser, "the explanations of a lesson").await;
    browser.click("copy-link").await;
    browser.click("show-parts").await;
    browser.find("link-tabs").await;
    visit(browser, "the parts of the page that a link shows").await;
    browser.click("present").await;
    visit(browser, "large type").await;
    browser.click("present").await;
    browser.click("home").await;
    browser.find("welcome-intro").await;
    // The next click scrolls the page. A pointer that is then over a sentence shows its preview, which moves the page.
    browser.driver.action_chain().move_to(1, 1).perform().await.expect("the pointer moves");
    browser.click("larger-model").await;
    browser.find("known-model").await;
    visit(browser, "the models").await;
    browser.click("models-close").await;

    ask(browser, &example_prompt()).await;
    browser.explained().await;
    visit(browser, "an explanation").await;
    browser.click("contrast-open").await;
    browser.fill("contrast-alternative", "No.").await;
    browser.click("contrast-run").await;
    browser.find("contrast-verdict").await;
    browser.stopped().await;
    visit(browser, "a contrast").await;
    browser.click("contrast-open").await;
    browser.click("all-numbers").await;
    visit(browser, "an explanation with all numbers").await;
    browser.click("all-numbers").await;
    browser.click("how-sure").await;
    browser.find("certainty").await;
    browser.click("token-0").await;
    visit(browser, "how sure the model was").await;
    browser.click("alternative-1").await;
    browser.click("continue").await;
    browser.find("explain-continuation-0").await;
    browser.stopped().await;
    visit(browser, "an answer continued from an alternative").await;
    browser.click("how-sure").await;
    browser.click("export").await;
    browser.find("export-html").await;
    visit(browser, "what can be exported").await;
    browser.click("export-dialog-close").await;
    for tab in ["table", "check", "methods", "without", "path"] {
        open_tab(browser, tab).await;
        visit(browser, &format!("tab-{tab}")).await;
    }
    browser.click("path-1").await;
    browser.click("walk-next").await;
    visit(browser, "the walk").await;
    browser.choose_file("open-json", &file("passages.json", WITH_PASSAGES)).await;
    browser.click("tab-text").await;
    browser.click("show-passages").await;
    browser.find("citations").await;
    visit(browser, "passages and citations").await;
}
