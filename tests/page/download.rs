//! Downloads of real models from a hub: preview, good and bad connections, storage.

use std::collections::VecDeque;
use std::time::Duration;

use thirtyfour::Key;

use super::browser::Browser;
use super::download_steps::{
    LOST_BY_A_BREAK, detail, download, explains, explains_as, is_at_two_thirds, large_model, little_is_sent_again, look_at, look_at_small,
    model_is_ready, small_hub, stop_at_two_thirds, stored_models_are_listed,
};
use super::hub::{Asked, Hub};
use super::site::sha256;
use super::split::demo_in_parts;
use super::steps::{file, is_thorough, server};

fn preflights(asked: &[Asked]) -> usize {
    asked.iter().filter(|asked| asked.method != "GET").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn model_is_previewed_downloaded_once_and_kept() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    let browser = Browser::open(&server.url).await;
    browser.click("models-button").await;
    browser.find("known-model").await;
    stored_models_are_listed(&browser).await;
    browser.pictures_of("known-model", "models").await;
    browser.fill("address", &hub.address("small.gguf")).await;
    browser.click("look-up").await;
    let preview = browser.text("preview").await;
    for told in ["8.8 MB", "License", "qwen3", "127.0.0.1", "software WebGPU (no GPU)", "storage free"] {
        assert!(preview.contains(told), "{told}: {preview}");
    }
    assert!(hub.take_sent() <= 65_536, "a look costs no more than the beginning of the file");
    browser.pictures_of("download-button", "preview").await;

    hub.rules().bytes_per_second = Some(2_000_000);
    hub.rules().gate = Some(6_000_000);
    browser.click("download-button").await;
    browser.wait("a rate", async || detail(&browser).await.contains("/s").then_some(())).await;
    browser.pictures_of("download", "downloading").await;
    hub.rules().gate = None;
    model_is_ready(&browser).await;
    browser.pictures_of("model-state", "downloaded").await;
    assert_eq!(hub.take_sent() + 65_536, model.len() as u64, "no byte is sent twice");
    assert_eq!(preflights(&hub.take_asked()), 0);
    explains(&browser).await;

    browser.goto(&server.url).await;
    // The page chooses the model of the last visit.
    browser.shows("model-state", |text| text.contains("small")).await;
    explains(&browser).await;
    browser.shows("model-state", |text| text.contains("small")).await;
    assert!(hub.take_asked().is_empty(), "what is stored is not asked for again");
    browser.click("models-button").await;
    browser.find("stored-model").await;
    browser.shows("stored-model", |text| text.contains("used today")).await;
    browser.pictures_of("stored-model", "stored").await;
    browser.click("delete-all").await;
    browser.wait("no stored model", async || browser.try_find("stored-model").await.is_none().then_some(())).await;
    browser.pictures_of("storage", "stored-nothing").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_download_resumes_after_reload() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    stop_at_two_thirds(&hub);
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    is_at_two_thirds(&browser).await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    browser.pictures_of("download", "paused").await;
    browser.goto(&server.url).await;
    // The page remembers an unfinished download.
    browser.shows("download", |text| text.contains("small")).await;
    browser.click("models-button").await;
    browser.shows("stored-model", |text| text.contains(" downloaded")).await;
    browser.pictures_of("stored-model", "stored-partial").await;
    browser.click("models-close").await;
    hub.rules().gate = None;
    browser.click("resume-download").await;
    model_is_ready(&browser).await;
    little_is_sent_again(&hub, &model);
    explains(&browser).await;
    browser.close().await;
}

/// A condition under which a signed address is valid for one request.
const EXPIRES: &str = "an address that expires at once";

/// Makes a hub misbehave.
type Condition<'a> = &'a dyn Fn(&Hub);

/// Temporary failures of the network or the server do not prevent a download.
#[tokio::test(flavor = "multi_thread")]
async fn a_download_survives_breaks_refusals_and_expired_addresses() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(4).await;
    let browser = Browser::open(&server.url).await;
    let cuts = || VecDeque::from([0, 700_000, 1, 2_500_000, 65_536, 333_333]);
    let conditions: [(&str, Condition<'_>); 5] = [
        ("cut in mid-body", &|hub| hub.rules().cuts = cuts()),
        ("busy", &|hub| {
            // `Retry-After` may also be a date. This one is in the past.
            let date = Some("Wed, 21 Oct 2015 07:28:00 GMT");
            hub.rules().refusals = VecDeque::from([(429, Some("1")), (503, None), (503, date), (500, None)]);
        }),
        ("an expired address", &|hub| hub.rules().refusals = VecDeque::from([(403, None)])),
        (EXPIRES, &|hub| {
            hub.rules().signs_once = true;
            hub.rules().cuts = cuts();
        }),
        ("a server that hides the length", &|hub| hub.rules().shows_total = false),
    ];
    for (condition, begin) in conditions {
        look_at_small(&browser, &hub).await;
        begin(&hub);
        browser.click("download-button").await;
        model_is_ready(&browser).await;
        // Without a version that it may read, the page starts over after the preview. The first connection may have sent the whole file.
        let restarted = if hub.rules().shows_total { 0 } else { model.len() as u64 };
        let most = 7 * LOST_BY_A_BREAK + restarted;
        let (twice, asked) = (hub.take_sent().saturating_sub(model.len() as u64), hub.take_asked());
        assert!(twice <= most, "{condition}: {twice} of {} bytes were sent twice: {asked:?}", model.len());
        assert_eq!(preflights(&asked), 0, "{condition}");
        let has_used_twice = asked.iter().any(|asked| asked.status == 403);
        assert!(condition != EXPIRES || !has_used_twice, "each request needs an address of its own: {asked:?}");
        hub.rules().signs_once = false;
        browser.click("models-button").await;
        browser.shows("stored-model", |text| text.contains(&sha256(&model)[..8])).await;
        browser.click("delete-stored").await;
        browser.wait("no stored model", async || browser.try_find("stored-model").await.is_none().then_some(())).await;
        browser.click("use-built-in").await;
        browser.wait("the built-in model", async || browser.text("model-state").await.contains("ready").then_some(())).await;
    }
    browser.close().await;
}

/// A file that is no model.
const NOT_A_MODEL: &[u8] = b"<!doctype html><title>Not found</title>";

/// A model of 30 MB whose header has `by` in place of `what`.
fn patched(what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut model = large_model(30);
    let places: Vec<usize> = (0..400_000).filter(|&at| model[at..].starts_with(what)).collect();
    places.into_iter().for_each(|at| model[at..at + by.len()].copy_from_slice(by));
    model
}

/// The page rejects unsupported files after it has read the header, and says what it supports.
#[tokio::test(flavor = "multi_thread")]
async fn unsupported_model_is_rejected_before_download() {
    let (server, _turn) = server().await;
    let hub = Hub::start(&[("bloom.gguf", patched(b"qwen3", b"bloom")), ("page.gguf", NOT_A_MODEL.to_vec())]).await;
    let browser = Browser::open(&server.url).await;
    let problem = async || browser.wait("a problem", async || browser.try_text("models-problem").await).await;
    let refused = VecDeque::from([(403, None), (403, None), (403, None)]);
    let busy = VecDeque::from([(429, Some("7200"))]);
    for (file, name, refusals, says) in [
        ("bloom.gguf", "refused-architecture", VecDeque::new(), "llama, qwen2, qwen3"),
        ("page.gguf", "refused-no-gguf", VecDeque::new(), "not a GGUF"),
        ("missing.gguf", "refused-missing", VecDeque::new(), "no file at this address"),
        ("bloom.gguf", "refused-licence", refused, "accept a license"),
        ("bloom.gguf", "refused-busy", busy, "try again in 120 min"),
        (
            "part-00002-of-00003.gguf",
            "refused-missing-part",
            VecDeque::new(),
            "part-00001-of-00003.gguf, one of this model\u{2019}s 3 files. Check",
        ),
    ] {
        browser.goto(&server.url).await;
        hub.rules().refusals = refusals;
        look_at(&browser, &hub.address(file)).await;
        let problem = problem().await;
        assert!(problem.contains(says), "{file}: {problem}");
        browser.pictures_of("models-problem", name).await;
    }
    browser.goto(&server.url).await;
    // The same with the keyboard alone: open, type, Enter. Escape closes the list.
    browser.find("models-button").await.send_keys("" + Key::Enter).await.expect("it takes a key");
    let address = browser.find("address").await;
    address.send_keys("https://huggingface.co/Qwen/Qwen3-0.6B-GGUF" + Key::Enter).await.expect("it takes keys");
    assert!(problem().await.contains("whole repository"));
    address.send_keys("" + Key::Escape).await.expect("it takes a key");
    browser.wait("a closed list", async || browser.try_find("address").await.is_none().then_some(())).await;
    let focus = "return document.activeElement.dataset.testid";
    assert_eq!(browser.driver.execute(focus, Vec::new()).await.expect("an element").json(), "models-button");
    browser.close().await;
}

/// The first bytes name the architecture, but only the header lists the tensors.
#[tokio::test(flavor = "multi_thread")]
async fn download_of_unsupported_model_stops_after_its_header() {
    let (server, _turn) = server().await;
    let hub =
        Hub::start(&[("ssm.gguf", patched(b"blk.0.attn_q.weight", b"blk.0.ssm_in.weight")), ("page.gguf", NOT_A_MODEL.to_vec())]).await;
    let browser = Browser::open(&server.url).await;
    hub.rules().gate = Some(1_500_000);
    download(&browser, &hub.address("ssm.gguf")).await;
    let problem = browser.problem().await;
    assert!(problem.contains("blk.0.attn_q.weight"), "{problem}");
    browser.pictures_of("problem", "refused-tensors").await;
    // If the download were still active, it would continue now, while the page looks at another file.
    hub.rules().gate = None;
    look_at(&browser, &hub.address("page.gguf")).await;
    browser.find("models-problem").await;
    // Sockets hold some megabytes that nobody reads.
    let sent = hub.take_sent();
    assert!(sent < 15_000_000, "the rest is not downloaded, but {sent} bytes were sent: {:?}", hub.take_asked());
    browser.close().await;
}

/// The start of the file and the length that the server reports are enough for this decision.
#[tokio::test(flavor = "multi_thread")]
async fn too_large_model_is_refused_before_download() {
    let (server, _turn) = server().await;
    let hub = Hub::start(&[("huge.gguf", large_model(1))]).await;
    hub.rules().claims = Some(5_000_000_000);
    let browser = Browser::open(&server.url).await;
    look_at(&browser, &hub.address("huge.gguf")).await;
    let preview = browser.text("preview").await;
    for told in ["5.00 GB", "This model cannot run on this device", "too large for a browser without a GPU", "up to 3.5 GB"] {
        assert!(preview.contains(told), "{told}: {preview}");
    }
    assert!(!browser.find("download-button").await.is_enabled().await.expect("a button"));
    browser.pictures_of("verdict-fit", "too-large").await;
    assert!(hub.take_sent() <= 65_536, "only the beginning was sent");
    // After a click on Back, the visitor can look at another model.
    browser.click("preview-back").await;
    hub.rules().claims = None;
    browser.fill("address", &hub.address("huge.gguf")).await;
    browser.click("look-up").await;
    browser
        .wait("a preview", async || browser.find("download-button").await.is_enabled().await.ok().filter(|is_enabled| *is_enabled))
        .await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_bytes_are_noticed_and_deleted() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(3).await;
    let known = |bytes: usize, sha256: &str| {
        let address = hub.address("small.gguf");
        format!(
            r#"{{"models": [{{"name": "Small", "architecture": "qwen3", "parameters_millions": 3, "quantization": "Q8_0", "bytes": {bytes},
                "sha256": "{sha256}", "license": "MIT", "context_length": 1024, "bytes_per_token": 10, "about": "Small.",
                "address": "{address}"}}]}}"#
        )
    };
    server.set_registry(&known(model.len(), &"0".repeat(64)));
    let browser = Browser::open(&server.url).await;
    browser.click("models-button").await;
    browser.click("known-model").await;
    browser.shows("preview", |text| text.contains("MIT")).await;
    browser.click("download-button").await;
    let problem = browser.problem().await;
    assert!(problem.contains("not the expected one") && problem.contains("deleted"), "{problem}");
    browser.pictures_of("problem", "wrong-bytes").await;
    browser.click("models-button").await;
    stored_models_are_listed(&browser).await;
    assert!(browser.try_find("stored-model").await.is_none(), "nothing of it is stored");
    browser.click("models-close").await;

    server.set_registry(&known(model.len() + 1, &"0".repeat(64)));
    browser.goto(&server.url).await;
    browser.click("models-button").await;
    browser.click("known-model").await;
    let problem = browser.text("models-problem").await;
    assert!(problem.contains("not the expected one"), "{problem}");

    let sha256 = sha256(&model);
    server.set_registry(&known(model.len(), &sha256));
    browser.goto(&server.url).await;
    browser.click("models-button").await;
    browser.click("known-model").await;
    browser.click("download-button").await;
    model_is_ready(&browser).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn download_without_ranges_starts_over_after_break() {
    let (server, _turn) = server().await;
    let hub = Hub::start(&[("small.gguf", large_model(3))]).await;
    hub.rules().ranges = false;
    let browser = Browser::open(&server.url).await;
    look_at(&browser, &hub.address("small.gguf")).await;
    browser.shows("preview", |text| text.contains("starts over")).await;
    browser.pictures_of("download-button", "preview-without-ranges").await;
    hub.rules().cuts = VecDeque::from([1_500_000]);
    browser.click("download-button").await;
    browser.find("resume-download").await;
    assert!(detail(&browser).await.contains("does not support resuming"), "{}", detail(&browser).await);
    browser.pictures_of("download", "stopped-without-ranges").await;
    browser.click("resume-download").await;
    model_is_ready(&browser).await;
    explains(&browser).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resumed_download_detects_replaced_file() {
    let (server, _turn) = server().await;
    let (_, hub) = small_hub(5).await;
    stop_at_two_thirds(&hub);
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    is_at_two_thirds(&browser).await;
    browser.click("pause-download").await;
    browser.find("resume-download").await;
    let mut other = large_model(5);
    other.iter_mut().skip(4_000_000).for_each(|byte| *byte ^= 1);
    {
        let mut rules = hub.rules();
        rules.version = 2;
        rules.files[0].1 = std::sync::Arc::new(other.clone());
        // Firefox hands out no response before its first bytes.
        rules.gate = Some(6_500_000);
    }
    browser.click("resume-download").await;
    browser.wait("a word about it", async || browser.text("download").await.contains("was replaced").then_some(())).await;
    hub.rules().gate = None;
    model_is_ready(&browser).await;
    explains_as(&browser, &other).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_do_not_download_the_same_model() {
    let (server, _turn) = server().await;
    let (model, hub) = small_hub(5).await;
    stop_at_two_thirds(&hub);
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    browser.wait("some bytes", async || detail(&browser).await.contains("MB of").then_some(())).await;
    let first = browser.driver.window().await.expect("a tab");
    let second = browser.driver.new_tab().await.expect("another tab");
    browser.driver.switch_to_window(second).await.expect("another tab");
    browser.goto(&server.url).await;
    browser.click("resume-download").await;
    browser.wait("a word about it", async || detail(&browser).await.contains("Another tab").then_some(())).await;
    browser.pictures_of("download", "another-tab").await;
    hub.rules().gate = None;
    browser.driver.switch_to_window(first).await.expect("the first tab");
    model_is_ready(&browser).await;
    assert!(hub.take_sent() <= model.len() as u64 + 65_536);
    browser.close().await;
}

/// Resumes the stored part of the download, or starts it if nothing is stored yet. Fails if the list offers the part as a whole model.
async fn begin_or_resume(browser: &Browser, hub: &Hub) {
    browser.click("models-button").await;
    stored_models_are_listed(browser).await;
    assert!(browser.try_find("use-stored").await.is_none(), "a part is taken for the whole");
    match browser.try_find("resume-stored").await {
        Some(resume) if resume.is_enabled().await.unwrap_or(false) => browser.click("resume-stored").await,
        _ => {
            browser.fill("address", &hub.address("large.gguf")).await;
            browser.click("look-up").await;
            browser.click("download-button").await;
        }
    }
}

/// Kills the browser during a download, 2 or 10 times. The page never uses the stored part as a whole model.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_killed_at_any_moment_leaves_no_wrong_model() {
    let (server, _turn) = server().await;
    let model = large_model(30);
    let hub = Hub::start(&[("large.gguf", model.clone())]).await;
    // A killed page loses the bytes since its last checkpoint. At this rate they are few even if a busy disk writes it seconds late.
    hub.rules().bytes_per_second = Some(500_000);
    let profile = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed");
    std::fs::remove_dir_all(&profile).ok();
    let mut browser = Browser::open_in(Some(&profile), &server.url).await;
    begin_or_resume(&browser, &hub).await;
    let mut random = 7_u64;
    let kills = if is_thorough() { 10 } else { 2 };
    for _ in 0..kills {
        browser.find("download").await;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        tokio::time::sleep(Duration::from_millis(20 + (random >> 33) % 600)).await;
        browser.kill();
        for lock in ["SingletonLock", "SingletonCookie", "SingletonSocket"] {
            std::fs::remove_file(profile.join(lock)).ok();
        }
        browser = Browser::open_in(Some(&profile), &server.url).await;
        begin_or_resume(&browser, &hub).await;
    }
    hub.rules().bytes_per_second = None;
    model_is_ready(&browser).await;
    explains(&browser).await;
    let sha256 = sha256(&model);
    browser.shows("manifest", |text| text.contains(&sha256[..8])).await;
    let twice = hub.take_sent().saturating_sub(model.len() as u64);
    println!("{kills} kills cost {twice} bytes of {}", model.len());
    assert!(twice <= kills * LOST_BY_A_BREAK);
    browser.close().await;
    std::fs::remove_dir_all(&profile).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_in_several_files_is_one_model() {
    let (server, _turn) = server().await;
    let parts = demo_in_parts(3);
    let names = [1, 2, 3].map(|i| format!("demo-0000{i}-of-00003.gguf"));
    let files: Vec<(&str, Vec<u8>)> = names.iter().map(String::as_str).zip(parts.iter().cloned()).collect();
    let hub = Hub::start(&files).await;
    hub.rules().cuts = VecDeque::from([usize::MAX, usize::MAX, usize::MAX, 500_000]);
    let browser = Browser::open(&server.url).await;
    // The address of any part stands for the whole model.
    look_at(&browser, &hub.address(&names[1])).await;
    browser.shows("preview", |text| text.contains("in 3 files")).await;
    browser.pictures_of("download-button", "preview-split").await;
    browser.click("download-button").await;
    model_is_ready(&browser).await;
    let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
    assert!(hub.take_sent() <= total + LOST_BY_A_BREAK);
    explains(&browser).await;

    let paths: Vec<_> = files.iter().rev().map(|(name, bytes)| file(name, bytes)).collect();
    browser.choose_files("model-file", &paths).await;
    model_is_ready(&browser).await;
    explains(&browser).await;
    browser.choose_file("model-file", &paths[1]).await;
    let problem = browser.problem().await;
    assert!(problem.contains("has 3 parts; missing: demo-00001-of-00003.gguf, demo-00003-of-00003.gguf"), "{problem}");
    browser.close().await;
}
