//! Links: QR code, share sheet, and the parts of the page that an address hides.

use super::browser::Browser;
use super::steps::{ask, copied_link, example_prompt, focused, open_gallery, open_link, server};

/// Simulates a share sheet that records the shared address.
const SHARE_SHEET: &str = "navigator.share = async data => { window.shared = data.url; }";

#[tokio::test(flavor = "multi_thread")]
async fn link_becomes_qr_code_and_reaches_share_sheet() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.driver.execute(SHARE_SHEET, Vec::new()).await.expect("a script runs");
    open_gallery(&browser, 1).await;
    let link = copied_link(&browser).await;
    browser.click("show-qr").await;
    let code = browser.find("qr-code").await;
    let side = code.attr("viewBox").await.expect("attributes can be read").expect("a size");
    let modules: usize = side.split(' ').next_back().and_then(|side| side.parse().ok()).expect("a number");
    assert!((21 + 8..=177 + 8).contains(&modules) && modules % 4 == 1, "a version of the standard with its margin: {modules}");
    browser.pictures_of("qr-code", "qr-code").await;
    browser.click("share").await;
    let shared = browser.driver.execute("return window.shared", Vec::new()).await.expect("a script runs");
    assert_eq!(shared.json().as_str(), Some(link.as_str()));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_the_page_are_hidden_by_its_address() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    let link = copied_link(&browser).await;
    let hiding = link.replacen('#', "?hide=details,tabs,graph#", 1);
    open_link(&browser, &hiding).await;
    let is_shown = async |css: &str| {
        let script = format!("return document.querySelector('{css}').checkVisibility()");
        browser.driver.execute(script, Vec::new()).await.expect("a script runs").json().as_bool().expect("yes or no")
    };
    for (part, expected) in [(".details", false), (".tabs", false), (".arcs", false), ("header.site", true), (".sentence", true)] {
        assert_eq!(is_shown(part).await, expected, "{part}");
    }
    browser.screenshot("hidden-parts").await;
    assert!(copied_link(&browser).await.contains("?hide=details,tabs,graph#"), "a link made here hides them, too");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unchecked_parts_are_hidden_by_link() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    let link = copied_link(&browser).await;
    browser.click("show-parts").await;
    browser.click("link-details").await;
    browser.click("link-header").await;
    browser.click("link-tabs").await;
    browser.click("link-tabs").await;
    let hiding = link.replacen('#', "?hide=details,header#", 1);
    browser.wait("the link without them", async || (browser.value("link-text").await == hiding).then_some(())).await;
    assert_eq!(focused(&browser).await, "link-tabs", "the boxes stay where they are");
    assert_eq!(browser.driver.current_url().await.expect("an address").as_str(), link, "the page of the author stays as it is");
    browser.pictures_of("link-details", "link-parts").await;
    browser.click("show-qr").await;
    browser.find("qr-code").await;
    open_link(&browser, &hiding).await;
    let script = "return ['.details', 'header.site', '.tabs'].map(css => document.querySelector(css).checkVisibility()).join()";
    let shown = browser.driver.execute(script, Vec::new()).await.expect("a script runs");
    assert_eq!(shown.json().as_str(), Some("false,false,true"));
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_tokens_are_counted_after_model_loads() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.fill("prompt-input", "Tom has 5 apples.").await;
    browser.shows("token-count", |text| text.is_empty()).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let words = async || Some(browser.text("token-count").await).filter(|words| words.contains(" tokens"));
    browser.open_form().await;
    let counted = browser.wait("the tokens", words).await;
    browser.fill("prompt-input", "Tom has 5 apples.").await;
    let fewer = async || words().await.filter(|words| *words != counted);
    let shorter = browser.wait("fewer tokens", fewer).await;
    let number = |words: &str| words.split(' ').next().and_then(|n| n.parse::<usize>().ok()).expect("a number");
    assert!(number(&shorter) < number(&counted), "{shorter}; {counted}");
    browser.close().await;
}
