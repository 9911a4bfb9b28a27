//! Shared steps of tests: serving the page, explaining a prompt.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::browser::{Browser, Kind};
use super::server::Server;
use super::site::page_with_small_model;

/// Limits the number of browsers at a time. A test often waits for timers and for the browser's start, so two more than there are cores
/// keep all cores busy. `cargo xtask test` runs as many tests at a time, whatever memory they need.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    let n_cores = std::thread::available_parallelism().map_or(2, usize::from);
    Semaphore::new((n_cores + 2).min(MAX_BROWSERS))
});
/// Each browser takes half a gigabyte of memory.
const MAX_BROWSERS: usize = 6;

/// Whether `cargo xtask test --all` runs the test. Then it tries more cases.
pub fn is_thorough() -> bool {
    std::env::var_os("GLASSCAGE_THOROUGH").is_some()
}

/// A server of the built page with the small model.
pub async fn server() -> (Server, SemaphorePermit<'static>) {
    server_of(page_with_small_model()).await
}

/// Like [`server`], but with the service worker of the page.
pub async fn server_with_service_worker() -> (Server, SemaphorePermit<'static>) {
    let turn = TURNS.acquire().await.expect("it is never closed");
    (Server::start_with_service_worker(page_with_small_model()).await, turn)
}

/// A server of the page in the folder `page`.
pub async fn server_of(page: &Path) -> (Server, SemaphorePermit<'static>) {
    let turn = TURNS.acquire().await.expect("it is never closed");
    (Server::start(page).await, turn)
}

pub fn demo_model() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf")).expect("the small model is in the checkout")
}

/// The shortest example prompt of the page. An explanation of it takes a quarter of the time of an explanation of the first one.
pub fn example_prompt() -> String {
    let json = include_str!("../fixtures/models/demo-examples.json");
    let examples: serde_json::Value = serde_json::from_str(json).expect("examples are JSON");
    let prompts = examples["examples"].as_array().expect("a list").iter().map(|example| example["prompt"].as_str().expect("a prompt"));
    prompts.min_by_key(|prompt| prompt.len()).expect("an example").to_owned()
}

/// Writes a file with this name and content for the browser, and returns its path. Each file gets a new folder, because a browser rejects a
/// chosen file that changes.
pub fn file(name: &str, content: &[u8]) -> PathBuf {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let folder = Kind::chosen().folder().join("files").join(FILES.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a temporary file");
    path
}

pub async fn ask(browser: &Browser, prompt: &str) {
    browser.open_form().await;
    browser.fill("prompt-input", prompt).await;
    browser.click("explain-button").await;
}

/// Opens this explanation of the gallery and waits until it has replaced the welcome explanation.
pub async fn open_gallery(browser: &Browser, number: usize) {
    browser.click(&format!("gallery-{number}")).await;
    gallery_is_open(browser).await;
}

/// Waits until an explanation of the gallery has replaced the welcome explanation.
pub async fn gallery_is_open(browser: &Browser) {
    let is_gone = async || browser.try_find("welcome-intro").await.is_none().then_some(());
    browser.wait("the explanation of the gallery", is_gone).await;
    browser.find("sentence-G1").await;
}

/// Opens a tab of the explanation on screen and waits for its content, because the code of a tab may be a file of its own.
pub async fn open_tab(browser: &Browser, tab: &str) {
    browser.click(&format!("tab-{tab}")).await;
    let content = match tab {
        "text" => "sentences",
        "check" => "check-button",
        "methods" => "compare-clp",
        "without" => "answer-without",
        tab => tab,
    };
    browser.find(content).await;
}

/// Asks for an explanation of `answer`.
pub async fn explain_given(browser: &Browser, prompt: &str, answer: &str) {
    browser.open_details_of("given-answer").await;
    browser.fill("given-answer", answer).await;
    ask(browser, prompt).await;
}

/// Copies the link of the explanation on screen and returns it.
pub async fn copied_link(browser: &Browser) -> String {
    browser.click("copy-link").await;
    // The address may have had another fragment before.
    let link = browser.wait("the link in the address bar", async || {
        let shown = browser.try_find("link-text").await?.prop("value").await.ok()??;
        let url = browser.driver.current_url().await.ok()?.to_string();
        (url == shown).then_some(url)
    });
    link.await
}

/// Opens a link like a person who received it: as a new page.
pub async fn open_link(browser: &Browser, link: &str) {
    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.driver.goto(link).await.expect("the link opens");
    browser.find("sentence-G1").await;
}

/// The test id of the element that has the focus.
pub async fn focused(browser: &Browser) -> String {
    let script = "return document.activeElement?.dataset.testid ?? ''";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs").convert().expect("a name")
}

/// Waits until this element has the focus.
pub async fn focus_is_on(browser: &Browser, id: &str) {
    browser.wait(&format!("the focus on {id}"), async || (focused(browser).await == id).then_some(())).await;
}

/// Waits until the status shows forward pass `least` or a later one, as in "forward pass 3 of 99".
pub async fn reaches_pass(browser: &Browser, least: usize) {
    let is_reached = |status: &str| {
        let pass = status.split_once("pass ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok());
        pass.is_some_and(|pass| pass >= least)
    };
    browser.shows("status", is_reached).await;
}
