//! The page on hosts with the rules of the recipes in `docs/deploying.md`.

use super::browser::Browser;
use super::download_steps::explains;
use super::offline::is_available_offline;
use super::recipes::hosts;
use super::steps::{copied_link, server_with_service_worker};

/// Collects what the policy of the page refuses.
const WATCH: &str = "window.broken = [];
    document.addEventListener('securitypolicyviolation', event => window.broken.push(`${event.violatedDirective} ${event.blockedURI}`));";

#[tokio::test(flavor = "multi_thread")]
async fn every_host_serves_page_frame_and_offline_use() {
    let mut tried = Vec::new();
    for host in hosts() {
        let rules = (host.headers.clone(), host.hides_endings);
        if tried.contains(&rules) {
            continue;
        }
        tried.push(rules);
        let (server, _turn) = server_with_service_worker().await;
        server.set_headers(&host.headers);
        server.set_hides_endings(host.hides_endings);
        let browser = Browser::open(&server.url).await;
        browser.driver.execute(WATCH, Vec::new()).await.expect("a script runs");
        explains(&browser).await;
        let link = copied_link(&browser).await;
        let broken = browser.driver.execute("return window.broken", Vec::new()).await.expect("a list");
        assert_eq!(broken.json(), &serde_json::json!([]), "{} breaks the policy", host.name);
        is_available_offline(&browser).await;
        let fragment = link.split_once('#').expect("a fragment").1;
        browser.driver.goto("about:blank").await.expect("the page closes");
        browser.driver.goto(format!("{}embed.html#{fragment}", server.url)).await.expect("the viewer opens");
        browser.find("sentence-G1").await;
        server.stop();
        browser.goto(&server.url).await;
        explains(&browser).await;
        browser.close().await;
    }
}
