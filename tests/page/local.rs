//! Local model files: chosen or dropped, whole or in parts, read in place, and copied on request.

use super::browser::Browser;
use super::download_steps::{explains, has_reached, large_model, model_is_ready, small_storage, stored_models_are_listed};
use super::offline::is_available_offline;
use super::site::sha256;
use super::split::demo_in_parts;
use super::steps::{ask, demo_model, example_prompt, file, server, server_with_service_worker};

const NAMES: [&str; 3] = ["demo-00001-of-00003.gguf", "demo-00002-of-00003.gguf", "demo-00003-of-00003.gguf"];

/// A worker script that simulates a slow disk: it writes 1 MB/s, and each read takes 2 s.
const SLOW: &str = "const { read, write } = FileSystemSyncAccessHandle.prototype;
FileSystemSyncAccessHandle.prototype.write = function (bytes, ...where) {
  for (const until = Date.now() + bytes.length / 1000; Date.now() < until; );
  return write.call(this, bytes, ...where);
};
FileSystemSyncAccessHandle.prototype.read = function (...how) {
  for (const until = Date.now() + 2000; Date.now() < until; );
  return read.apply(this, how);
};";

async fn keep_a_copy(browser: &Browser) {
    browser.click("keep-copy").await;
    browser.wait("the copy", async || browser.text("copied").await.contains("kept in this browser").then_some(())).await;
}

/// Number of stored models in the list of models.
async fn stored_models(browser: &Browser) -> usize {
    browser.click("models-button").await;
    stored_models_are_listed(browser).await;
    let stored = browser.count("stored-model").await;
    browser.click("models-close").await;
    stored
}

#[tokio::test(flavor = "multi_thread")]
async fn requested_copy_of_local_file_works_offline() {
    let (server, _turn) = server_with_service_worker().await;
    let model = demo_model();
    let browser = Browser::open(&server.url).await;
    let path = file("mine.gguf", &model);
    browser.choose_file("model-file", &path).await;
    model_is_ready(&browser).await;
    explains(&browser).await;
    let picture = browser.picture().await;
    assert_eq!(stored_models(&browser).await, 0, "nothing is copied unasked");
    browser.pictures_of("keep-copy", "local-file").await;
    keep_a_copy(&browser).await;
    // The loaded model stays in use.
    browser.shows("model-state", |text| text.contains("ready")).await;
    browser.pictures_of("copied", "local-file-copied").await;

    is_available_offline(&browser).await;
    server.take_requests();
    server.stop();
    browser.goto(&server.url).await;
    browser.shows("model-state", |text| text.contains("mine.gguf")).await;
    explains(&browser).await;
    assert_eq!(browser.picture().await, picture);
    browser.shows("manifest", |text| text.contains(&sha256(&model)[..8])).await;
    browser.click("models-button").await;
    let stored = browser.text("stored-model").await;
    assert!(stored.contains("mine.gguf") && stored.contains(&sha256(&model)[..8]), "{stored}");
    browser.pictures_of("stored-model", "stored-copy").await;
    browser.click("models-close").await;

    // After the copy is deleted, the page offers to keep one again. The loaded model still answers.
    browser.choose_file("model-file", &path).await;
    model_is_ready(&browser).await;
    keep_a_copy(&browser).await;
    browser.click("models-button").await;
    stored_models_are_listed(&browser).await;
    browser.click("delete-stored").await;
    browser.wait("no stored model", async || (browser.count("stored-model").await == 0).then_some(())).await;
    browser.click("models-close").await;
    browser.wait("the button to keep a copy", async || browser.try_find("keep-copy").await).await;
    explains(&browser).await;

    // Copying the same file twice keeps one copy.
    keep_a_copy(&browser).await;
    browser.choose_file("model-file", &path).await;
    model_is_ready(&browser).await;
    keep_a_copy(&browser).await;
    assert_eq!(stored_models(&browser).await, 1);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_copy_resumes_when_file_is_reopened() {
    let (server, _turn) = server().await;
    let model = large_model(10);
    let path = file("mine.gguf", &model);
    server.begin_workers_with(SLOW);
    let browser = Browser::open(&server.url).await;
    browser.choose_file("model-file", &path).await;
    model_is_ready(&browser).await;
    browser.click("keep-copy").await;
    has_reached(&browser, 20).await;
    browser.pictures_of("download", "copying").await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    browser.shows("download", |text| text.contains("Copy paused")).await;
    browser.pictures_of("download", "copy-paused").await;
    browser.goto(&server.url).await;
    browser.click("models-button").await;
    stored_models_are_listed(&browser).await;
    assert!(browser.try_find("download").await.is_none(), "the file cannot be read any more");
    browser.shows("stored-model", |text| text.contains("open the file again")).await;
    assert!(browser.try_find("resume-stored").await.is_none(), "there is nothing to read it from");
    browser.pictures_of("stored-model", "stored-half-a-copy").await;
    browser.click("models-close").await;

    browser.choose_file("model-file", &path).await;
    model_is_ready(&browser).await;
    browser.click("keep-copy").await;
    browser.wait("the check", async || browser.text("download").await.contains("Checking what was downloaded earlier").then_some(())).await;
    browser.wait("the copy to go on", async || browser.text("download").await.contains("Copying").then_some(())).await;
    browser.click("pause-download").await;
    browser.click("resume-download").await;
    browser.wait("the copy", async || browser.text("copied").await.contains("kept in this browser").then_some(())).await;
    browser.click("models-button").await;
    let sha256 = sha256(&model);
    browser.shows("stored-model", |text| text.contains(&sha256[..8])).await;
    assert_eq!(browser.count("stored-model").await, 1);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_without_space_keeps_file_in_use() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    small_storage(&browser, &server, 1_000_000).await;
    browser.choose_file("model-file", &file("mine.gguf", &demo_model())).await;
    model_is_ready(&browser).await;
    browser.click("keep-copy").await;
    let problem = browser.problem().await;
    assert!(problem.contains("No copy was kept") && problem.contains("storage for this site is full"), "{problem}");
    browser.pictures_of("problem", "copy-without-room").await;
    assert_eq!(stored_models(&browser).await, 0, "no half of it is left");
    browser.driver.execute("document.querySelector('.problem .close').click()", Vec::new()).await.expect("a click");
    explains(&browser).await;
    browser.shows("model-state", |text| text.contains("mine.gguf")).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_parts_form_model_and_missing_are_named() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    let parts = demo_in_parts(3);
    let paths: Vec<_> = NAMES.iter().zip(&parts).map(|(name, bytes)| file(name, bytes)).collect();
    browser.drop_files(&[paths[2].clone(), paths[0].clone()]).await;
    let problem = browser.problem().await;
    assert!(problem.contains("has 3 parts") && problem.contains(NAMES[1]) && !problem.contains(NAMES[0]), "{problem}");
    browser.pictures_of("problem", "split-missing-part").await;

    browser.drop_files(&[paths[2].clone(), paths[0].clone(), paths[1].clone()]).await;
    model_is_ready(&browser).await;
    explains(&browser).await;
    browser.pictures_of("model-state", "split-dropped").await;
    let picture = browser.picture().await;
    keep_a_copy(&browser).await;
    browser.goto(&server.url).await;
    explains(&browser).await;
    browser.shows("model-state", |text| text.contains("demo")).await;
    assert_eq!(browser.picture().await, picture);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_ended_the_tab_is_named_on_return() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    // From another page in the same tab, store the marker that remains if the browser ends a tab while a model loads.
    browser.driver.goto(format!("{}icon.svg", server.url)).await.expect("the icon opens");
    let script = "sessionStorage.setItem('glasscage.loading', 'large.gguf')";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs");
    browser.goto(&server.url).await;
    assert!(browser.problem().await.contains("large.gguf"), "{}", browser.problem().await);
    browser.screenshot("ended-while-loading-light").await;
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.find("explain-button").await;
    assert!(browser.try_find("problem").await.is_none(), "it is said once");
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    browser.close().await;
}
