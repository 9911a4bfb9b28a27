//! Interrupted downloads: no network, refused storage, full storage.

use std::collections::VecDeque;
use std::time::Duration;

use super::browser::Browser;
use super::download_steps::{
    STORAGE_REFUSED, detail, download, explains, explains_as, has_reached, is_at_two_thirds, large_model, little_is_sent_again, look_at,
    look_at_small, model_is_ready, small_hub, small_storage, stop_at_two_thirds, stored_models_are_listed,
};
use super::hub::Hub;
use super::steps::{demo_model, file, server};

/// A worker script that simulates a slow disk: each read but the first ends only after the server has answered a request for [`DISK`].
const SLOW: &str = "const read = FileSystemSyncAccessHandle.prototype.read;
let n_reads = 0;
FileSystemSyncAccessHandle.prototype.read = function (...how) {
  n_reads += 1;
  if (n_reads > 1) {
    const disk = new XMLHttpRequest();
    disk.open('GET', 'the-disk', false);
    disk.send();
  }
  return read.apply(this, how);
};";
/// A path whose answers a test can hold back.
const DISK: &str = "/the-disk";
const MISSING: &str = "Object.defineProperty(WorkerNavigator.prototype, 'storage', { value: undefined });";

#[tokio::test(flavor = "multi_thread")]
async fn offline_download_waits_for_network() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    let browser = Browser::open(&server.url).await;
    look_at_small(&browser, &hub).await;
    // The connection breaks after the page has read all bytes that were sent.
    hub.rules().gate = Some(2_000_000);
    hub.rules().cuts = VecDeque::from([2_100_000]);
    browser.click("download-button").await;
    has_reached(&browser, 22).await;
    browser.set_online(false).await;
    hub.rules().gate = None;
    browser.wait("a word about it", async || detail(&browser).await.contains("when this device is online again").then_some(())).await;
    browser.pictures_of("download", "download-offline").await;
    hub.take_asked();
    // Longer than the first waits between retries.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(hub.take_asked().is_empty(), "nobody is asked without a network");
    browser.set_online(true).await;
    model_is_ready(&browser).await;
    little_is_sent_again(&hub, &model);
    explains(&browser).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requested_wait_is_shown_and_can_be_paused() {
    let (server, _turn) = server().await;
    let hub = Hub::start(&[("small.gguf", large_model(1))]).await;
    let browser = Browser::open(&server.url).await;
    look_at_small(&browser, &hub).await;
    hub.rules().refusals = VecDeque::from([(429, Some("300"))]);
    browser.click("download-button").await;
    browser.wait("the wait", async || detail(&browser).await.contains("busy (429); next try in 2").then_some(())).await;
    browser.pictures_of("download", "download-waiting").await;
    browser.click("pause-download").await;
    browser.click("resume-download").await;
    model_is_ready(&browser).await;
    browser.close().await;
}

/// Pauses the download at two thirds of `model`, resumes it, and checks that nothing was lost.
async fn pause_and_resume(browser: &Browser, hub: &Hub, model: &[u8], name: &str) {
    is_at_two_thirds(browser).await;
    browser.pictures_of("download", name).await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    browser.pictures_of("download", &format!("{name}-paused")).await;
    browser.click("models-button").await;
    stored_models_are_listed(browser).await;
    browser.click("models-close").await;
    hub.rules().gate = None;
    browser.click("resume-download").await;
    model_is_ready(browser).await;
    little_is_sent_again(hub, model);
    explains_as(browser, model).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_storage_keeps_model_in_memory() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    let browser = Browser::open(&server.url).await;
    small_storage(&browser, &server, 3_000_000).await;
    // Browsers round the free space that they report, so only the storage itself shows the limit.
    look_at_small(&browser, &hub).await;
    stop_at_two_thirds(&hub);
    browser.click("download-button").await;
    browser.wait("a word about it", async || browser.text("download").await.contains("storage for this site is full").then_some(())).await;
    pause_and_resume(&browser, &hub, &model, "storage-full").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_part_is_verified_before_resuming() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    server.begin_workers_with(SLOW);
    stop_at_two_thirds(&hub);
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    is_at_two_thirds(&browser).await;
    browser.goto(&server.url).await;
    hub.rules().gate = None;
    hub.take_asked();
    server.hold(DISK);
    browser.click("resume-download").await;
    browser.wait("the check", async || browser.text("download").await.contains("Checking what was downloaded earlier").then_some(())).await;
    assert!(hub.take_asked().is_empty(), "nothing is asked for before that");
    browser.pictures_of("download", "download-checking").await;
    server.release();
    model_is_ready(&browser).await;
    little_is_sent_again(&hub, &model);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unavailable_storage_keeps_model_in_memory() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    for (script, name) in [(STORAGE_REFUSED, "storage-refused"), (MISSING, "storage-missing")] {
        server.begin_workers_with(script);
        stop_at_two_thirds(&hub);
        hub.take_sent();
        let browser = Browser::open(&server.url).await;
        browser.click("models-button").await;
        browser.wait("what the storage is like", async || browser.text("storage").await.contains("private window").then_some(())).await;
        browser.pictures_of("storage", &format!("{name}-models")).await;
        browser.click("models-close").await;
        look_at(&browser, &hub.address("small.gguf")).await;
        browser.shows("preview", |text| text.contains("will be kept in memory")).await;
        browser.pictures_of("download-button", &format!("{name}-preview")).await;
        browser.click("download-button").await;
        browser.wait("a word about it", async || browser.text("download").await.contains("private window").then_some(())).await;
        pause_and_resume(&browser, &hub, &model, name).await;
        // The next visit starts with the built-in model and does not mention a download.
        browser.goto(&server.url).await;
        browser.shows("model-state", |text| text.contains("Built-in")).await;
        assert!(browser.try_find("download").await.is_none());
        browser.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_request_keeps_bytes_in_memory() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    server.begin_workers_with(STORAGE_REFUSED);
    let browser = Browser::open(&server.url).await;
    look_at_small(&browser, &hub).await;
    stop_at_two_thirds(&hub);
    hub.rules().cuts = VecDeque::from([7_000_000]);
    browser.click("download-button").await;
    is_at_two_thirds(&browser).await;
    hub.rules().refusals = VecDeque::from([(404, None)]);
    hub.rules().gate = None;
    browser.find("resume-download").await;
    assert!(detail(&browser).await.contains("no file at this address"), "{}", detail(&browser).await);
    browser.pictures_of("download", "download-refused").await;
    browser.click("resume-download").await;
    model_is_ready(&browser).await;
    little_is_sent_again(&hub, &model);
    explains_as(&browser, &model).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn download_without_storage_restarts_after_closing() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    server.begin_workers_with(STORAGE_REFUSED);
    stop_at_two_thirds(&hub);
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    is_at_two_thirds(&browser).await;
    browser.goto(&server.url).await;
    hub.rules().gate = None;
    browser.click("resume-download").await;
    model_is_ready(&browser).await;
    assert!(hub.take_sent() > model.len() as u64, "what came before is asked for again");
    explains_as(&browser, &model).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_file_is_detected_with_full_storage() {
    let (server, _turn) = server().await;
    let hub = Hub::start(&[("small.gguf", large_model(10))]).await;
    let browser = Browser::open(&server.url).await;
    small_storage(&browser, &server, 12_000_000).await;
    look_at_small(&browser, &hub).await;
    stop_at_two_thirds(&hub);
    hub.rules().gate = Some(12_000_000);
    browser.click("download-button").await;
    browser.wait("a word about it", async || browser.text("download").await.contains("storage for this site is full").then_some(())).await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    // The same model followed by other bytes.
    let mut other = large_model(11);
    other.iter_mut().skip(demo_model().len()).for_each(|byte| *byte ^= 1);
    {
        let mut rules = hub.rules();
        rules.version = 2;
        rules.files[0].1 = std::sync::Arc::new(other.clone());
    }
    browser.click("resume-download").await;
    browser.wait("a word about it", async || browser.text("download").await.contains("was replaced").then_some(())).await;
    // Now the page knows that the bytes belong to the new file.
    has_reached(&browser, 20).await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    hub.rules().gate = None;
    browser.click("resume-download").await;
    model_is_ready(&browser).await;

    // When there is space again, the page does not use the stored bytes of the old file as the start of the new file.
    small_storage(&browser, &server, 1_000_000_000).await;
    browser.goto(&server.url).await;
    browser.click("models-button").await;
    stored_models_are_listed(&browser).await;
    browser.click("resume-stored").await;
    model_is_ready(&browser).await;
    explains_as(&browser, &other).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_model_keeps_paused_download_in_memory() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    server.begin_workers_with(STORAGE_REFUSED);
    let browser = Browser::open(&server.url).await;
    stop_at_two_thirds(&hub);
    download(&browser, &hub.address("small.gguf")).await;
    is_at_two_thirds(&browser).await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    browser.choose_file("model-file", &file("mine.gguf", &demo_model())).await;
    model_is_ready(&browser).await;
    browser.click("keep-copy").await;
    let problem = browser.problem().await;
    assert!(problem.contains("No copy was kept") && !problem.contains("Free up space"), "{problem}");
    hub.rules().gate = None;
    look_at(&browser, &hub.address("small.gguf")).await;
    browser.click("download-button").await;
    let state = async || browser.text("model-state").await;
    browser.wait("the downloaded model", async || state().await.starts_with("small ready").then_some(())).await;
    little_is_sent_again(&hub, &model);
    explains_as(&browser, &model).await;
    browser.close().await;
}
