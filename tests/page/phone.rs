//! The page on phones: on-screen keyboard, touch, little memory.

use std::time::Duration;

use serde_json::{Value, json};

use super::browser::{Browser, DESKTOP, PHONE};
use super::fault_steps::{PAUSE, hold_at, is_held};
use super::steps::{ask, example_prompt, gallery_is_open, server};

/// Page area above the on-screen keyboard of a phone with 360 x 740 CSS pixels.
const ABOVE_KEYBOARD: (u32, u32) = (360, 330);

/// Returns the number of fields, and their problems. Phones zoom in on text below 16 pixels. A focused field must be visible and not
/// covered.
const FIELDS: &str = "const [done] = arguments;
    const box = document.querySelector('dialog[open]') ?? document;
    const fields = [...box.querySelectorAll('textarea, select, input:is([type=text], [type=number])')]
        .filter(field => !field.disabled && field.checkVisibility());
    const wrong = [];
    const frame = () => new Promise(then => requestAnimationFrame(() => requestAnimationFrame(then)));
    (async () => {
        for (const field of fields) {
            const name = field.dataset.testid ?? field.outerHTML.slice(0, 80);
            field.focus();
            await frame();
            const { left, top, right, bottom } = field.getBoundingClientRect();
            const [first, last] = [Math.max(top, 0), Math.min(bottom, innerHeight)];
            const size = parseFloat(getComputedStyle(field).fontSize);
            if (size < 16) wrong.push(`${name}: letters of ${size} pixels`);
            if (last - first < Math.min(30, bottom - top)) wrong.push(`${name}: from ${top} to ${bottom} of ${innerHeight}`);
            else if (document.elementFromPoint((left + right) / 2, (first + last) / 2) !== field) wrong.push(`${name}: covered`);
        }
        document.activeElement.blur();
        done([fields.length, wrong]);
    })();";

/// Checks the text fields of the current state above the on-screen keyboard of a phone. Returns their number.
pub async fn fields_are_seen(browser: &Browser, state: &str) -> usize {
    browser.look(ABOVE_KEYBOARD, "light").await;
    browser.settled().await;
    let found = browser.driver.execute_async(FIELDS, Vec::new()).await.expect("a script runs");
    let (fields, wrong): (usize, Vec<String>) = found.convert().expect("a number and texts");
    assert!(wrong.is_empty(), "{state}: {wrong:#?}");
    browser.look(DESKTOP, "light").await;
    fields
}

async fn cdp(browser: &Browser, command: &str, parameters: Value) {
    browser.driver.cdp().send_raw(command, parameters).await.unwrap_or_else(|error| panic!("{command}: {error}"));
}

/// Taps the center of an element.
async fn tap(browser: &Browser, id: &str) {
    let element = browser.find(id).await;
    element.scroll_into_view().await.expect("it can be scrolled to");
    browser.settled().await;
    let middle = "const { left, top, width, height } = arguments[0].getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };";
    let middle = browser.driver.execute(middle, vec![element.to_json().expect("an element has a name")]).await.expect("a script runs");
    cdp(browser, "Input.dispatchTouchEvent", json!({"type": "touchStart", "touchPoints": [middle.json()]})).await;
    cdp(browser, "Input.dispatchTouchEvent", json!({"type": "touchEnd", "touchPoints": []})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fingers_reach_everything_and_leave_no_preview() {
    let (server, _turn) = server().await;
    let browser = Browser::start(None).await;
    cdp(&browser, "Emulation.setTouchEmulationEnabled", json!({"enabled": true, "maxTouchPoints": 5})).await;
    browser.look(PHONE, "light").await;
    browser.goto(&server.url).await;
    let is_touched = browser.driver.execute("return matchMedia('(pointer: coarse) and (hover: none)').matches", Vec::new()).await;
    assert_eq!(is_touched.expect("a script runs").json(), &json!(true), "a finger is what this device has");

    tap(&browser, "gallery-1").await;
    gallery_is_open(&browser).await;
    let selected = async || {
        let picture = browser.picture().await;
        picture.into_iter().filter(|[_, _, _, selected]| selected == "true").map(|[label, ..]| label).collect::<Vec<String>>()
    };
    for label in ["G1", "G2", "G1"] {
        tap(&browser, &format!("sentence-{label}")).await;
        browser.wait(label, async || (selected().await == [label]).then_some(())).await;
    }
    let of_first = browser.picture().await;
    // Longer than a mouse must rest for a preview.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(browser.picture().await, of_first, "nothing is previewed where no mouse hovers");
    for tab in ["tab-table", "tab-check", "tab-methods", "tab-without", "tab-path", "tab-text"] {
        tap(&browser, tab).await;
        let is_selected = async || browser.find(tab).await.attr("aria-selected").await.ok()?.filter(|selected| selected == "true");
        browser.wait(tab, is_selected).await;
    }
    browser.screenshot("touched").await;
    tap(&browser, "home").await;
    browser.find("welcome-intro").await;
    browser.open_form().await;
    browser.fill("prompt-input", &example_prompt()).await;
    tap(&browser, "explain-button").await;
    browser.explained().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_short_of_memory_explains_as_any_other() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&format!("{}?backend=cpu", server.url)).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let expected = browser.picture().await;
    server.begin_workers_with(&hold_at("Token", &[2]));
    server.hold(PAUSE);
    browser.goto(&format!("{}?backend=cpu", server.url)).await;
    ask(&browser, &example_prompt()).await;
    // The notification that a system sends to a browser before it ends tabs.
    let notify = async || cdp(&browser, "Memory.simulatePressureNotification", json!({"level": "critical"})).await;
    is_held(&browser, &server, "Token").await;
    notify().await;
    server.release();
    while browser.is_running().await {
        notify().await;
    }
    browser.explained().await;
    assert_eq!(browser.picture().await, expected);
    browser.close().await;
}
