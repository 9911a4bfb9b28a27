//! Accessibility. axe-core finds no violation of WCAG 2.2 A and AA (including target size) or of its best-practice rules. The page also
//! works in narrow windows, at 200 % zoom and with forced colors.

use std::cell::Cell;

use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::json;

use super::browser::{Browser, DESKTOP, Kind, PHONE};
use super::phone::fields_are_seen;
use super::states::visit_states;
use super::steps::{is_thorough, open_gallery, server};

const AXE: &[u8] = include_bytes!("../golden/axe/axe.min.js.zlib");
const RUN: &str = "const [done] = arguments;
    const describe = ({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 120)).join(' and ')}`;
    axe.run({rules: {'target-size': {enabled: true}}}).then(({violations}) => done(violations.map(describe)));";

/// The rules that the page violates in its current state, each with its elements.
async fn violations(browser: &Browser) -> Vec<String> {
    let is_loaded = browser.driver.execute("return 'axe' in window", Vec::new()).await.expect("a script runs");
    if is_loaded.json() == false {
        let axe = String::from_utf8(decompress_to_vec_zlib(AXE).expect("a zlib stream")).expect("a script is text");
        browser.driver.execute(axe, Vec::new()).await.expect("axe-core is loaded");
    }
    let found = browser.driver.execute_async(RUN, Vec::new()).await.expect("axe-core runs");
    found.convert().expect("a list")
}

async fn is_accessible(browser: &Browser, state: &str) {
    let looks = [(DESKTOP, "desktop", "light"), (PHONE, "phone", "dark"), (DESKTOP, "desktop", "dark"), (PHONE, "phone", "light")];
    for (size, device, scheme) in looks.into_iter().take(if is_thorough() { 4 } else { 1 }) {
        browser.look(size, scheme).await;
        browser.settled().await;
        let found = violations(browser).await;
        assert!(found.is_empty(), "{state}, {device}, {scheme}: {found:#?}");
    }
    browser.look(DESKTOP, "light").await;
}

/// A window of 1280 pixels at 400 % zoom, or half of one at 200 %.
const NARROW: (u32, u32) = (320, 640);

/// Checks that the page does not scroll sideways in a narrow window, with small and with large type.
async fn fits_narrow_window(browser: &Browser, state: &str) {
    browser.look(NARROW, "light").await;
    browser.settled().await;
    browser.screenshot(&format!("narrow-{}", state.replace(' ', "-"))).await;
    for type_size in ["own type size", "other type size"] {
        let wide = "const right = element => element.getBoundingClientRect().right;
            return [...document.querySelectorAll('body *')].filter(element => right(element) > innerWidth + 0.5)
                .map(element => `${element.tagName}.${element.className} ${right(element)}`).slice(0, 8)";
        let wide = browser.driver.execute(wide, Vec::new()).await.expect("a script runs");
        assert!(browser.overflow().await <= 0, "{state}, {type_size}: {}", wide.json());
        let other_size = "document.documentElement.toggleAttribute('data-presenting')";
        browser.driver.execute(other_size, Vec::new()).await.expect("a script runs");
    }
    browser.look(DESKTOP, "light").await;
}

/// One walk through all states for three checks, because the walk takes longer than they do.
#[tokio::test(flavor = "multi_thread")]
async fn everybody_can_use_the_page() {
    let (server, _turn) = server().await;
    let browser = Browser::start(None).await;
    let fields = Cell::new(0);
    let visit = async |browser: &Browser, state: &str| {
        is_accessible(browser, state).await;
        fits_narrow_window(browser, state).await;
        if browser.kind() == Kind::Chromium {
            fields.set(fields.get() + fields_are_seen(browser, state).await);
        }
    };
    visit_states(&browser, &server.url, visit).await;
    assert!(browser.kind() != Kind::Chromium || fields.get() >= 20, "{} fields in all states", fields.get());
    browser.close().await;
}

/// Forces the colors of the system.
async fn force_colors(browser: &Browser) {
    let media = json!({"features": [{"name": "forced-colors", "value": "active"}]});
    browser.driver.cdp().send_raw("Emulation.setEmulatedMedia", media).await.expect("colors of the system");
}

/// Records what live regions announce. [`said`] returns it.
async fn listen(browser: &Browser) {
    let listen = "window.said = [];
        const last = new Map();
        const spoken = region => {
            const copy = region.cloneNode(true);
            copy.querySelectorAll('[aria-live=off]').forEach(part => part.remove());
            return copy.textContent.trim();
        };
        new MutationObserver(() => {
            for (const region of document.querySelectorAll('[aria-live=polite], [role=status], [role=alert]')) {
                const text = spoken(region);
                if (text && text !== last.get(region)) window.said.push(text);
                last.set(region, text);
            }
        }).observe(document.body, { subtree: true, childList: true, characterData: true });";
    browser.driver.execute(listen, Vec::new()).await.expect("a script runs");
}

async fn said(browser: &Browser) -> Vec<String> {
    browser.driver.execute("return window.said", Vec::new()).await.expect("a script runs").convert().expect("texts")
}

#[tokio::test(flavor = "multi_thread")]
async fn copied_link_is_announced_without_its_options() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    listen(&browser).await;
    browser.click("copy-link").await;
    browser.find("link-text").await;
    for (button, part) in [("show-parts", "link-tabs"), ("show-qr", "qr-code")] {
        browser.click(button).await;
        browser.find(part).await;
    }
    let said = said(&browser).await;
    assert!(said.iter().any(|text| text.contains("The link contains the whole text")), "{said:#?}");
    assert!(!said.iter().any(|text| text.contains("Top bar") || text.contains("QR code")), "{said:#?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_seen_without_colors_and_announced_by_phases() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    force_colors(&browser).await;
    let colors = "return ['.track', '.track span'].map(part => getComputedStyle(document.querySelector(part)).backgroundColor)";
    let [track, done]: [String; 2] = browser.driver.execute(colors, Vec::new()).await.expect("a script runs").convert().expect("colors");
    assert_ne!(track, done);
    open_gallery(&browser, 1).await;
    browser.click("tab-without").await;
    browser.click("mark-strongest-1").await;
    listen(&browser).await;
    browser.click("answer-without").await;
    browser.find("explain-variant-0").await;
    browser.stopped().await;
    let said = said(&browser).await;
    assert!(
        said.len() <= 10 && said.iter().any(|text| text.contains("last sentence") || text.starts_with("The same answer")),
        "phases and the result: {said:#?}"
    );
    browser.close().await;
}

/// The strength of each of these elements, and the width of the line below it in pixels.
async fn underlines(browser: &Browser, selector: &str) -> Vec<(f64, f64)> {
    let script = "return [...document.querySelectorAll(arguments[0])].map(element => {
        const style = getComputedStyle(element);
        return [+style.getPropertyValue('--strength'), parseFloat(style.borderBottomWidth)];
    })";
    browser.driver.execute(script, vec![selector.into()]).await.expect("a script runs").convert().expect("numbers")
}

#[tokio::test(flavor = "multi_thread")]
async fn influence_is_seen_without_colors_and_at_twice_the_size() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 1).await;
    force_colors(&browser).await;
    let lines = "return [...document.querySelectorAll('.sentence')].map(row => [+row.dataset.share, \
                 parseFloat(getComputedStyle(row.querySelector('.words')).borderBottomWidth)])";
    let lines: Vec<(f64, f64)> = browser.driver.execute(lines, Vec::new()).await.expect("a script runs").convert().expect("numbers");
    let is_thicker = |(share, width): &(f64, f64)| lines.iter().all(|(other, thinner)| share <= other || width >= thinner);
    assert!(lines.iter().all(is_thicker), "the stronger, the thicker: {lines:?}");
    assert!(lines.iter().any(|(_, width)| *width <= 1.0) && lines.iter().any(|(_, width)| *width >= 5.0), "{lines:?}");
    browser.screenshot("forced-colors").await;
    for (tab, drawn) in [("tab-text", ".swatch"), ("tab-table", ".heat tbody td:not(.absent)"), ("tab-path", ".path .node:not(.output)")] {
        browser.click(tab).await;
        let lines = browser.wait(tab, async || Some(underlines(&browser, drawn).await).filter(|lines| !lines.is_empty())).await;
        let is_thicker = |(strength, width): &(f64, f64)| lines.iter().all(|(other, thinner)| strength <= other || width >= thinner);
        assert!(lines.iter().all(is_thicker), "{drawn}: the stronger, the thicker: {lines:?}");
        assert!(lines.iter().any(|(_, width)| *width >= 3.0), "{drawn}: {lines:?}");
    }
    // A window of 1280 x 900 at 200%.
    browser.look((640, 450), "light").await;
    for tab in ["tab-text", "tab-path", "tab-table", "tab-check", "tab-methods", "tab-without"] {
        browser.click(tab).await;
        // A new view moves at first, and can then be wider than the window.
        browser.wait(tab, async || (browser.overflow().await == 0).then_some(())).await;
        browser.screenshot(&format!("zoomed-{tab}")).await;
    }
    browser.close().await;
}
