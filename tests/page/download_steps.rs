//! Steps of tests that download models.

use super::browser::Browser;
use super::hub::Hub;
use super::server::Server;
use super::site::sha256;
use super::steps::{ask, demo_model, example_prompt};

/// What a connection that breaks takes with it, at most, in the browser's buffers.
pub const LOST_BY_A_BREAK: u64 = 1 << 20;

/// A script that makes a worker's storage refuse, as in a private window. Where `WebKitGTK` has none, there is nothing to refuse.
pub const STORAGE_REFUSED: &str = "if (globalThis.StorageManager)
  StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('It is not allowed', 'SecurityError'));";

/// The demo model with so many bytes behind it that nothing reads: a large file that is a good model.
pub fn large_model(megabytes: usize) -> Vec<u8> {
    let mut model = demo_model();
    let end = model.len() + megabytes * 1_000_000;
    model.extend((model.len()..end).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]));
    model
}

/// A hub of one model, `small.gguf`, with so many megabytes behind it.
pub async fn small_hub(megabytes: usize) -> (Vec<u8>, Hub) {
    let model = large_model(megabytes);
    let hub = Hub::start(&[("small.gguf", model.clone())]).await;
    (model, hub)
}

/// The rest of a file of [`small_hub`] is sent when the gate is opened. Slow on the way there: the page says every tenth of a second how
/// much has arrived.
pub fn stop_at_two_thirds(hub: &Hub) {
    let mut rules = hub.rules();
    (rules.bytes_per_second, rules.gate) = (Some(3_000_000), Some(6_000_000));
}

/// Waits until the page has read all that [`stop_at_two_thirds`] lets through. What it has not read is lost when the connection ends.
pub async fn is_at_two_thirds(browser: &Browser) {
    has_reached(browser, 68).await;
}

/// Looks at the model of [`small_hub`] until the page shows its preview.
pub async fn look_at_small(browser: &Browser, hub: &Hub) {
    look_at(browser, &hub.address("small.gguf")).await;
    browser.find("preview").await;
}

/// Of `model` no more was sent a second time than what one break of the connection costs.
pub fn little_is_sent_again(hub: &Hub, model: &[u8]) {
    let twice = hub.take_sent().saturating_sub(model.len() as u64);
    assert!(twice <= LOST_BY_A_BREAK, "{twice} bytes were sent twice: {:?}", hub.take_asked());
}

/// Opens the list of models and looks at what is at `address`.
pub async fn look_at(browser: &Browser, address: &str) {
    browser.click("models-button").await;
    browser.fill("address", address).await;
    browser.click("look-up").await;
}

/// Waits until the list of models says what is stored.
pub async fn stored_models_are_listed(browser: &Browser) {
    browser.wait("the list of stored models", async || (!browser.text("storage").await.contains("Looking")).then_some(())).await;
}

pub async fn download(browser: &Browser, address: &str) {
    look_at(browser, address).await;
    browser.click("download-button").await;
}

pub async fn model_is_ready(browser: &Browser) {
    browser
        .wait("the downloaded model", async || {
            let state = browser.text("model-state").await;
            (state.contains("ready") && !state.contains("Built-in")).then_some(())
        })
        .await;
}

pub async fn detail(browser: &Browser) -> String {
    match browser.try_find("download-detail").await {
        Some(detail) => detail.text().await.unwrap_or_default(),
        None => String::new(),
    }
}

/// Waits until so many percent of a download are here.
pub async fn has_reached(browser: &Browser, percent: u32) {
    let here = |detail: &str| detail.split_once("%)")?.0.rsplit_once('(')?.1.parse::<u32>().ok();
    browser.wait("a part of the download", async || here(&detail(browser).await).filter(|here| *here >= percent)).await;
}

/// Explains the example, which the model behind every file here can.
pub async fn explains(browser: &Browser) {
    ask(browser, &example_prompt()).await;
    browser.explained().await;
}

/// The example is explained by exactly this model.
pub async fn explains_as(browser: &Browser, model: &[u8]) {
    explains(browser).await;
    let manifest = browser.text("manifest").await;
    assert!(manifest.contains(&sha256(model)[..8]), "{manifest}");
}

/// From now on the page can store so many bytes.
pub async fn small_storage(browser: &Browser, server: &Server, bytes: u64) {
    let origin = server.url.split("/some").next().expect("an origin");
    let quota = serde_json::json!({"origin": origin, "quotaSize": bytes});
    browser.driver.cdp().send_raw("Storage.overrideQuotaForOrigin", quota).await.expect("a small storage");
}
