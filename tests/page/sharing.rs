//! Links: QR code, share sheet, and the parts of the page that an address hides.

use qrcodegen::{QrCode, QrCodeEcc};

use super::browser::Browser;
use super::steps::{ask, copied_link, example_prompt, focused, open_gallery, open_link, server};

/// Simulates a share sheet that records the shared address.
const SHARE_SHEET: &str = "navigator.share = async data => { window.shared = data.url; }";

/// Returns the side of the QR code and the places of its dark modules, each of which the path has in a horizontal run.
const MODULES: &str = "const code = document.querySelector('[data-testid=qr-code]');
    const runs = [...code.querySelector('path').getAttribute('d').matchAll(/M(\\d+) (\\d+)h(\\d+)v1h-\\3z/g)];
    const places = runs.flatMap(([, x, y, n]) => Array.from({ length: +n }, (_, i) => [+x + i, +y]));
    return [code.viewBox.baseVal.width, places];";

/// Width of the empty margin that the standard requires, in modules.
const MARGIN: i32 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn link_becomes_qr_code_and_reaches_share_sheet() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.driver.execute(SHARE_SHEET, Vec::new()).await.expect("a script runs");
    open_gallery(&browser, 1).await;
    let link = copied_link(&browser).await;
    browser.click("show-qr").await;
    browser.find("qr-code").await;
    let drawn = browser.driver.execute(MODULES, Vec::new()).await.expect("a script runs");
    let (side, mut dark): (i32, Vec<[i32; 2]>) = drawn.convert().expect("the modules");
    let code = QrCode::encode_text(&link, QrCodeEcc::Low).expect("a short link");
    assert_eq!(side, code.size() + 2 * MARGIN);
    let all = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| [x, y]));
    let expected: Vec<[i32; 2]> = all.filter(|&[x, y]| code.get_module(x, y)).map(|place| place.map(|at| at + MARGIN)).collect();
    dark.sort_by_key(|&[x, y]| [y, x]);
    assert_eq!(dark, expected);
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
