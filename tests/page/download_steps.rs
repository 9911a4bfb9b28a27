//! Steps of tests that download models.

use super::browser::Browser;
use super::hub::Hub;
use super::server::Server;
use super::site::sha256;
use super::steps::{ask, demo_model, example_prompt};

/// Most bytes in the browser's buffers that are lost when a connection breaks.
pub const LOST_BY_A_BREAK: u64 = 1 << 20;

/// A worker script that makes the storage refuse access, as in a private window. Does nothing where `WebKitGTK` has no `StorageManager`.
pub const STORAGE_REFUSED: &str = "if (globalThis.StorageManager)
  StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('It is not allowed', 'SecurityError'));";

/// The demo model followed by `megabytes` MB that no tensor uses: a large, valid model file.
pub fn large_model(megabytes: usize) -> Vec<u8> {
    let mut model = demo_model();
    let end = model.len() + megabytes * 1_000_000;
    model.extend((model.len()..end).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0]));
    model
}

/// A hub with one file, `small.gguf`: the demo model followed by `megabytes` MB. Also returns the bytes of the file.
pub async fn small_hub(megabytes: usize) -> (Vec<u8>, Hub) {
    let model = large_model(megabytes);
    let hub = Hub::start(&[("small.gguf", model.clone())]).await;
    (model, hub)
}

/// Makes the hub stop after 6 MB, two thirds of the file of `small_hub(5)`, until the test opens the gate. Up to there it sends 3 MB/s,
/// because the page reports progress only every 0.1 s.
pub fn stop_at_two_thirds(hub: &Hub) {
    let mut rules = hub.rules();
    (rules.bytes_per_second, rules.gate) = (Some(3_000_000), Some(6_000_000));
}

/// Waits until the page has read all bytes that [`stop_at_two_thirds`] lets through. Unread bytes are lost when the connection ends.
pub async fn is_at_two_thirds(browser: &Browser) {
    has_reached(browser, 68).await;
}

/// Looks at the model of [`small_hub`] and waits for its preview.
pub async fn look_at_small(browser: &Browser, hub: &Hub) {
    look_at(browser, &hub.address("small.gguf")).await;
    browser.find("preview").await;
}

/// Checks that the hub sent at most [`LOST_BY_A_BREAK`] bytes of `model` twice.
pub fn little_is_sent_again(hub: &Hub, model: &[u8]) {
    let twice = hub.take_sent().saturating_sub(model.len() as u64);
    assert!(twice <= LOST_BY_A_BREAK, "{twice} bytes were sent twice: {:?}", hub.take_asked());
}

/// Opens the list of models and looks up `address`.
pub async fn look_at(browser: &Browser, address: &str) {
    browser.click("models-button").await;
    browser.fill("address", address).await;
    browser.click("look-up").await;
}

/// Waits until the list of models shows the stored models. Each time it opens, it first has none.
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
    browser.try_text("download-detail").await.unwrap_or_default()
}

/// Waits until the page shows that at least `percent` % of a download have arrived.
pub async fn has_reached(browser: &Browser, percent: u32) {
    let here = |detail: &str| detail.split_once("%)")?.0.rsplit_once('(')?.1.parse::<u32>().ok();
    browser.wait("a part of the download", async || here(&detail(browser).await).filter(|here| *here >= percent)).await;
}

/// Explains the example prompt, by the method with the fewest passes. The model in all files of these tests can answer it.
pub async fn explains(browser: &Browser) {
    browser.open_details_of("method").await;
    browser.select("method", "pert").await;
    ask(browser, &example_prompt()).await;
    browser.explained().await;
}

/// Explains the example prompt and checks that exactly this model did it.
pub async fn explains_as(browser: &Browser, model: &[u8]) {
    explains(browser).await;
    let manifest = browser.text("manifest").await;
    assert!(manifest.contains(&sha256(model)[..8]), "{manifest}");
}

/// Limits the storage of the page to `bytes`.
pub async fn small_storage(browser: &Browser, server: &Server, bytes: u64) {
    let origin = server.url.split("/some").next().expect("an origin");
    let quota = serde_json::json!({"origin": origin, "quotaSize": bytes});
    browser.driver.cdp().send_raw("Storage.overrideQuotaForOrigin", quota).await.expect("a small storage");
}
