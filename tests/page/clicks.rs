//! A click that arrives at the wrong element fails the test. Parts of the page that load late do not move the elements that a visitor is
//! about to click.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::browser::{Browser, DESKTOP, PHONE};
use super::steps::{open_gallery, server};

#[tokio::test(flavor = "multi_thread")]
async fn click_that_lands_elsewhere_is_noticed() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    // The page changes after the driver computed the position of the button and before the click, as after a late response of the server.
    // In WebKitGTK, a change at the movement of the pointer comes too late.
    let script = "for (const event of ['mousemove', 'mousedown']) addEventListener(event, () => {
        if (document.querySelector(`[data-testid='late']`)) return;
        const late = document.createElement('div');
        late.dataset.testid = 'late';
        late.style.cssText = 'position: fixed; inset: 0; z-index: 1000';
        document.body.append(late);
    }, { capture: true, once: true });";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs");
    let click = AssertUnwindSafe(browser.click("explain-button")).catch_unwind().await;
    let message = click.expect_err("the click is not taken for one that arrived");
    let message = message.downcast_ref::<String>().expect("a message");
    // WebKitGTK has pressed the button by then, so the click belongs to the body, which contains both.
    let places = ["late: the page moved", "<body"].map(|place| format!("a click on explain-button arrived at {place}"));
    assert!(places.iter().any(|place| message.starts_with(place)), "{message}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn click_waits_until_its_target_holds_still() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    // For ten frames, a block above the form grows.
    let script = "const block = document.createElement('div');
        document.querySelector(\"[data-testid='prompt-input']\").before(block);
        let height = 0;
        const grow = () => { height += 20; block.style.height = `${height}px`; if (height < 200) requestAnimationFrame(grow); };
        requestAnimationFrame(grow);
        window.clicks = [];
        addEventListener('click', event => clicks.push([event.target.closest('[data-testid]')?.dataset.testid, height]), true);";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs");
    browser.click("example-2").await;
    browser.click("models-button").await;
    let clicks: Vec<(String, u32)> =
        browser.driver.execute("return window.clicks", Vec::new()).await.expect("a script runs").convert().expect("clicks");
    let names: Vec<&str> = clicks.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["example-2", "models-button"]);
    assert_eq!(clicks[1].1, 200, "the button below was pressed when it had stopped moving");
    browser.close().await;
}

/// Distance of an element from the top of the page, in pixels.
async fn top(browser: &Browser, id: &str) -> i64 {
    let script = "return Math.round(arguments[0].getBoundingClientRect().top + scrollY)";
    let element = browser.find(id).await.to_json().expect("an element has a name");
    browser.driver.execute(script, vec![element]).await.expect("a script runs").json().as_i64().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn late_parts_move_nothing() {
    let (server, _turn) = server().await;
    for size in [DESKTOP, PHONE] {
        // Start a new browser each time, because the page remembers the choice to show all numbers.
        let browser = Browser::start(None).await;
        browser.look(size, "light").await;
        server.hold("demo-examples.json");
        browser.driver.goto(&server.url).await.expect("the page opens");
        browser.open_details_of("prompt-input").await;
        let before = top(&browser, "prompt-input").await;
        server.release();
        browser.find("example-1").await;
        assert_eq!(top(&browser, "prompt-input").await, before, "the examples move nothing at {size:?}");

        server.hold("split_derivation");
        open_gallery(&browser, 1).await;
        browser.click("all-numbers").await;
        let before = top(&browser, "sentence-P1").await;
        server.release();
        browser.find("derivation").await;
        assert_eq!(top(&browser, "sentence-P1").await, before, "the line above the sentences moves nothing at {size:?}");
        browser.close().await;
    }
}
