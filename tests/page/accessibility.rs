//! axe-core finds nothing that keeps people from using the page: WCAG 2.2 A and AA, and what it calls best practice.

use std::time::Duration;

use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::json;

use super::browser::{Browser, DESKTOP, PHONE};
use super::steps::{ask, example_prompt, open_gallery, server};

const AXE: &[u8] = include_bytes!("../golden/axe/axe.min.js.zlib");
const RUN: &str = "const done = arguments[0]; axe.run().then(({violations}) => done(violations.map(({id, nodes}) => \
                   `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' and ')}`)))";

/// Longer than colors take to change.
const TRANSITION: Duration = Duration::from_millis(400);

/// What axe-core finds in this state of the page, each with its elements.
async fn violations(browser: &Browser) -> Vec<String> {
    let axe = String::from_utf8(decompress_to_vec_zlib(AXE).expect("a zlib stream")).expect("a script is text");
    browser.driver.execute(axe, Vec::new()).await.expect("axe-core is loaded");
    let found = browser.driver.execute_async(RUN, Vec::new()).await.expect("axe-core runs");
    found.convert().expect("a list")
}

async fn is_accessible(browser: &Browser, state: &str) {
    for (size, device) in [(DESKTOP, "desktop"), (PHONE, "phone")] {
        for scheme in ["light", "dark"] {
            browser.look(size, scheme).await;
            tokio::time::sleep(TRANSITION).await;
            let found = violations(browser).await;
            assert!(found.is_empty(), "{state}, {device}, {scheme}: {found:#?}");
        }
    }
    browser.look(DESKTOP, "light").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_can_use_the_page() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.open_details_of("method").await;
    is_accessible(&browser, "the form and its settings").await;
    browser.click("explain-button").await;
    browser.problem().await;
    is_accessible(&browser, "a problem").await;
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.find("welcome-intro").await;
    is_accessible(&browser, "the first look").await;
    browser.click("lesson-4").await;
    browser.find("choose-1").await;
    is_accessible(&browser, "a question of a lesson").await;
    browser.click("lesson-next").await;
    browser.click("lesson-next").await;
    browser.find("mark-5").await;
    is_accessible(&browser, "sentences to mark").await;
    browser.click("mark-5").await;
    browser.click("lesson-reveal").await;
    browser.find("mark-score").await;
    is_accessible(&browser, "what was marked beside what was measured").await;
    browser.click("lesson-edit").await;
    browser.find("lesson-text").await;
    is_accessible(&browser, "the editor of a lesson").await;
    browser.open_details_of("lesson-size").await;
    is_accessible(&browser, "the explanations of a lesson").await;
    browser.click("copy-link").await;
    browser.click("show-parts").await;
    browser.find("link-tabs").await;
    is_accessible(&browser, "the parts of the page that a link shows").await;
    browser.click("present").await;
    is_accessible(&browser, "large type").await;
    browser.click("present").await;
    browser.click("home").await;
    browser.find("welcome-intro").await;
    browser.click("larger-model").await;
    browser.find("models-close").await;
    is_accessible(&browser, "the models").await;
    browser.click("models-close").await;

    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    is_accessible(&browser, "an explanation").await;
    browser.click("export").await;
    browser.find("export-html").await;
    is_accessible(&browser, "what can be exported").await;
    browser.click("export-dialog-close").await;
    for tab in ["tab-table", "tab-check", "tab-methods", "tab-without", "tab-path"] {
        browser.click(tab).await;
        is_accessible(&browser, tab).await;
    }
    browser.click("path-1").await;
    browser.click("walk-next").await;
    is_accessible(&browser, "the walk").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn influence_is_seen_without_colors_and_at_twice_the_size() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    let media = json!({"features": [{"name": "forced-colors", "value": "active"}]});
    browser.driver.cdp().send_raw("Emulation.setEmulatedMedia", media).await.expect("colors of the system");
    let lines = "return [...document.querySelectorAll('.sentence')].map(row => [+row.dataset.share, \
                 parseFloat(getComputedStyle(row.querySelector('.words')).borderBottomWidth)])";
    let lines: Vec<(f64, f64)> = browser.driver.execute(lines, Vec::new()).await.expect("a script runs").convert().expect("numbers");
    let is_thicker = |(share, width): &(f64, f64)| lines.iter().all(|(other, thinner)| share <= other || width >= thinner);
    assert!(lines.iter().all(is_thicker), "the stronger, the thicker: {lines:?}");
    assert!(lines.iter().any(|(_, width)| *width <= 1.0) && lines.iter().any(|(_, width)| *width >= 5.0), "{lines:?}");
    browser.screenshot("forced-colors").await;
    // A window of 1280 x 900 at 200%.
    browser.look((640, 450), "light").await;
    for tab in ["tab-text", "tab-path", "tab-table", "tab-check", "tab-methods", "tab-without"] {
        browser.click(tab).await;
        // A view that comes in moves at first.
        browser.wait(tab, async || (browser.overflow().await == 0).then_some(())).await;
        browser.screenshot(&format!("zoomed-{tab}")).await;
    }
    browser.close().await;
}
