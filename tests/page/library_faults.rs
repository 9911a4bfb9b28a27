//! Faults while a model is downloaded and while a local file is copied. [`super::faults`] has the table.

use super::browser::Browser;
use super::download_steps::{detail, download, explains_as, has_reached, large_model, little_is_sent_again, model_is_ready, small_hub};
use super::fault_steps::{freeze, hold_reads, release_reads, trap_at};
use super::hub::Hub;
use super::steps::{file, server};

/// A worker script that simulates a disk that writes 5 MB/s.
const SLOW: &str = "const { write } = FileSystemSyncAccessHandle.prototype;
FileSystemSyncAccessHandle.prototype.write = function (bytes, ...where) {
  for (const until = Date.now() + bytes.length / 5000; Date.now() < until; );
  return write.call(this, bytes, ...where);
};\n";

/// Starts to copy a local model into the browser.
async fn copies(browser: &Browser, model: &[u8]) {
    browser.choose_file("model-file", &file("mine.gguf", model)).await;
    model_is_ready(browser).await;
    browser.click("keep-copy").await;
}

/// The notice about a complete copy is hidden.
async fn the_copy_is_held(browser: &Browser) {
    assert!(!browser.find("copied").await.is_displayed().await.expect("it can be read"), "the copy is held");
}

async fn is_copied(browser: &Browser) {
    browser.wait("the copy", async || browser.text("copied").await.contains("kept in this browser").then_some(())).await;
}

async fn says_that_the_library_stopped(browser: &Browser) {
    let says = async || detail(browser).await.contains("The model library stopped unexpectedly. Stored models are kept").then_some(());
    browser.wait("a word about it", says).await;
}

fn slow(hub: &Hub) {
    hub.rules().bytes_per_second = Some(3_000_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_library_keeps_bytes_and_resumes_on_click() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    slow(&hub);
    server.begin_workers_with(&trap_at("library", "Progress", 12));
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    says_that_the_library_stopped(&browser).await;
    browser.pictures_of("download", "fault-download").await;
    server.begin_workers_with("");
    browser.click("resume-download").await;
    model_is_ready(&browser).await;
    little_is_sent_again(&hub, &model);
    explains_as(&browser, &model).await;
    browser.close().await;

    server.begin_workers_with(&format!("{SLOW}{}", trap_at("library", "Progress", 3)));
    let browser = Browser::open(&server.url).await;
    let model = large_model(6);
    copies(&browser, &model).await;
    says_that_the_library_stopped(&browser).await;
    server.begin_workers_with("");
    browser.shows("model-state", |text| text.starts_with("mine.gguf ready")).await;
    browser.click("resume-download").await;
    is_copied(&browser).await;
    explains_as(&browser, &model).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_tab_continues_download_and_copy() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    slow(&hub);
    // Hold back the rest, because the server sends bytes again that are in the system's buffers while the page is frozen.
    hub.rules().gate = Some(model.len() * 3 / 10);
    server.begin_workers_with(SLOW);
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    has_reached(&browser, 20).await;
    freeze(&browser).await;
    // Chromium may drop the response that it was reading; then the page sends a new request. The server holds back the rest until the
    // download has moved on, because the system's buffers would take in all of it.
    has_reached(&browser, 28).await;
    hub.rules().gate = None;
    model_is_ready(&browser).await;
    little_is_sent_again(&hub, &model);
    explains_as(&browser, &model).await;

    server.begin_workers_with(&format!("{SLOW}{}", hold_reads(3_000_000)));
    browser.goto(&server.url).await;
    let model = large_model(6);
    copies(&browser, &model).await;
    has_reached(&browser, 20).await;
    freeze(&browser).await;
    the_copy_is_held(&browser).await;
    release_reads(&browser).await;
    is_copied(&browser).await;
    explains_as(&browser, &model).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_needs_no_network() {
    let (server, _turn) = server().await;
    server.begin_workers_with(&format!("{SLOW}{}", hold_reads(3_000_000)));
    let browser = Browser::open(&server.url).await;
    copies(&browser, &large_model(4)).await;
    has_reached(&browser, 10).await;
    server.set_unavailable(true);
    browser.set_online(false).await;
    the_copy_is_held(&browser).await;
    release_reads(&browser).await;
    is_copied(&browser).await;
    browser.close().await;
}
