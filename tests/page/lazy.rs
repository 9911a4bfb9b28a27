//! Code of the page that the browser fetches on demand.

use thirtyfour::Key;

use super::browser::Browser;
use super::steps::server;

#[tokio::test(flavor = "multi_thread")]
async fn tab_views_load_on_demand_and_after_failure() {
    let (server, _turn) = server().await;
    // Open the page like a new visitor, with the form closed.
    let browser = Browser::start(None).await;
    browser.driver.goto(&server.url).await.expect("the page opens");
    browser.find("sentence-G1").await;
    let requests = server.take_requests();
    assert!(requests.iter().all(|path| !path.contains("split_")), "the text needs no part: {requests:?}");
    server.set_unavailable(true);
    browser.click("tab-table").await;
    browser.find("not-loaded").await;
    browser.screenshot("part-not-loaded").await;
    server.set_unavailable(false);
    browser.focus("load-again").await;
    browser.driver.action_chain().send_keys(Key::Enter).perform().await.expect("a key is pressed");
    browser.find("table").await;
    // The focused button is gone. If the table is drawn soon, its first button takes the focus, otherwise the tab does.
    let focused = "return Boolean(document.activeElement.closest(\"[data-testid='tab-table'], [role='tabpanel']\"))";
    let focused = async || (browser.driver.execute(focused, Vec::new()).await.ok()?.json() == true).then_some(());
    browser.wait("the focus on the tab or in its view", focused).await;
    let requests = server.take_requests();
    assert!(requests.iter().any(|path| path.contains("split_panels")), "{requests:?}");
    browser.close().await;
}
