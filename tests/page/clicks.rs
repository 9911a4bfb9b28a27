//! The clicks of these tests: a click that arrives at the wrong element fails the test.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use super::browser::Browser;
use super::steps::server;

#[tokio::test(flavor = "multi_thread")]
async fn click_that_lands_elsewhere_is_noticed() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    // As a late response of the server can: the page changes after the driver has computed where the button is, and before it presses.
    let script = "addEventListener('mousemove', () => {
        const late = document.createElement('div');
        late.dataset.testid = 'late';
        late.style.cssText = 'position: fixed; inset: 0; z-index: 1000';
        document.body.append(late);
    }, { capture: true, once: true });";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs");
    let click = AssertUnwindSafe(browser.click("explain-button")).catch_unwind().await;
    let message = click.expect_err("the click is not taken for one that arrived");
    let message = message.downcast_ref::<String>().expect("a message");
    assert!(message.starts_with("a click on explain-button arrived at late: the page moved"), "{message}");
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
