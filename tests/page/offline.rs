//! The service worker: page, engine and stored models work without a network. A new version is offered and replaces the old one as a whole.

use std::path::PathBuf;

use tokio::sync::SemaphorePermit;

use super::browser::{Browser, Kind};
use super::download_steps::{download, explains, large_model, model_is_ready};
use super::hub::Hub;
use super::server::Server;
use super::site::{copy, sha256};
use super::steps::server_with_service_worker;

/// Waits until the service worker controls this page and has stored all files.
pub async fn is_available_offline(browser: &Browser) {
    let script = "return navigator.serviceWorker.controller !== null && navigator.serviceWorker.controller.state === 'activated'";
    browser
        .wait("a service worker", async || {
            let is_active = browser.driver.execute(script, Vec::new()).await.ok()?.json().as_bool()?;
            is_active.then_some(())
        })
        .await;
}

/// A server of a copy of the page, which a test can change. Also returns the folder of the copy.
async fn server_of_copy(name: &str) -> (Server, PathBuf, SemaphorePermit<'static>) {
    let (original, turn) = server_with_service_worker().await;
    let dist = Kind::chosen().folder().join(name);
    std::fs::remove_dir_all(&dist).ok();
    copy(original.dist(), &dist);
    (Server::start_with_service_worker(&dist).await, dist, turn)
}

/// The script of the service worker with another version.
fn of_version(script: &str, prefix: &str) -> String {
    script.replacen("const VERSION = \"", &format!("const VERSION = \"{prefix}-"), 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn built_in_and_stored_models_work_offline() {
    let (server, _turn) = server_with_service_worker().await;
    let hub = Hub::start(&[("small.gguf", large_model(2))]).await;
    let browser = Browser::open(&server.url).await;
    download(&browser, &hub.address("small.gguf")).await;
    model_is_ready(&browser).await;
    is_available_offline(&browser).await;
    server.take_requests();
    server.stop();
    hub.rules().files.clear();
    browser.goto(&server.url).await;
    browser.find("prompt-input").await;
    explains(&browser).await;
    browser.shows("model-state", |text| text.contains("small")).await;
    browser.pictures_of("model-state", "offline-stored").await;
    browser.click("models-button").await;
    browser.click("use-built-in").await;
    explains(&browser).await;
    browser.shows("model-state", |text| text.contains("Built-in model")).await;
    browser.shows("model-state", |text| text.ends_with("works offline")).await;
    browser.pictures_of("model-state", "offline-built-in").await;
    // Browsers check by themselves whether the service worker has changed.
    let requests: Vec<String> = server.take_requests().into_iter().filter(|path| !path.ends_with("/sw.js")).collect();
    assert!(requests.is_empty(), "{requests:?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_version_is_offered_and_taken_as_a_whole() {
    let (server, dist, _turn) = server_of_copy("updated").await;
    let browser = Browser::open(&server.url).await;
    explains(&browser).await;
    is_available_offline(&browser).await;

    // A style sheet that changed without the service worker belongs to another version, so it is not served.
    let style = dist.join("index.css");
    let changed = std::fs::read_to_string(&style).expect("a style sheet") + "\nbody { outline: 3px solid red; }\n";
    let old = sha256(&std::fs::read(&style).expect("a style sheet"));
    std::fs::write(&style, &changed).expect("a new style sheet");
    browser.goto(&server.url).await;
    let outline =
        async || browser.driver.execute("return getComputedStyle(document.body).outlineStyle", Vec::new()).await.expect("a style");
    assert_eq!(outline().await.json(), "none");
    assert!(browser.try_find("update").await.is_none());

    let sw = dist.join("sw.js");
    let script = std::fs::read_to_string(&sw).expect("a service worker").replace(&old, &sha256(changed.as_bytes()));
    std::fs::write(&sw, of_version(&script, "next")).expect("a new service worker");
    browser.goto(&server.url).await;
    browser.find("take-update").await;
    assert_eq!(outline().await.json(), "none", "nothing changes before the visitor wants it");
    browser.pictures_of("update", "update").await;
    browser.click("take-update").await;
    browser.wait("the new version", async || (outline().await.json() == "solid").then_some(())).await;
    browser.wait("no update", async || browser.try_find("update").await.is_none().then_some(())).await;
    explains(&browser).await;
    browser.close().await;
}

/// Makes the page available offline at once, instead of after a model is loaded.
async fn keep_for_offline(browser: &Browser) {
    browser.driver.execute("navigator.serviceWorker.register('./sw.js')", Vec::new()).await.expect("a script runs");
    is_available_offline(browser).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn second_tab_takes_update_after_first() {
    let (server, dist, _turn) = server_of_copy("updated-in-two-tabs").await;
    let browser = Browser::open(&server.url).await;
    keep_for_offline(&browser).await;
    let sw = dist.join("sw.js");
    let script = std::fs::read_to_string(&sw).expect("a service worker");
    std::fs::write(&sw, of_version(&script, "next")).expect("a new service worker");

    let driver = &browser.driver;
    let tabs = [driver.window().await.expect("a tab"), driver.new_tab().await.expect("a second tab")];
    for tab in &tabs {
        driver.switch_to_window(tab.clone()).await.expect("a tab");
        browser.goto(&server.url).await;
        browser.find("take-update").await;
        driver.execute("window.isOld = true", Vec::new()).await.expect("a script runs");
    }
    let is_new = async || {
        let is_old = driver.execute("return window.isOld === true || document.readyState !== 'complete'", Vec::new()).await.ok()?;
        (is_old.json() == false && browser.try_find("update").await.is_none()).then_some(())
    };
    for tab in tabs {
        driver.switch_to_window(tab).await.expect("a tab");
        browser.click("take-update").await;
        browser.wait("the new version", is_new).await;
        browser.find("welcome-intro").await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_update_leaves_the_old_version_offline() {
    let (server, dist, _turn) = server_of_copy("updated-in-vain").await;
    let browser = Browser::open(&server.url).await;
    keep_for_offline(&browser).await;

    // One file of the new version does not arrive.
    let sw = dist.join("sw.js");
    let script = std::fs::read_to_string(&sw).expect("a service worker");
    let style = sha256(&std::fs::read(dist.join("index.css")).expect("a style sheet"));
    let broken = of_version(&script.replace(&style, &sha256(b"another style sheet")), "broken");
    std::fs::write(&sw, broken).expect("a new service worker");
    let update = "const [done] = arguments;
        navigator.serviceWorker.ready.then(registration => {
            registration.onupdatefound = () => {
                const worker = registration.installing;
                worker.onstatechange = () => done(worker.state);
            };
            return registration.update();
        }).catch(error => done(`${error}`));";
    let state = browser.driver.execute_async(update, Vec::new()).await.expect("a script runs");
    assert_eq!(state.json(), "redundant");
    server.set_unavailable(true);
    browser.goto(&server.url).await;
    explains(&browser).await;
    assert!(browser.try_find("update").await.is_none());

    server.set_unavailable(false);
    std::fs::write(&sw, of_version(&script, "next")).expect("a new service worker");
    browser.goto(&server.url).await;
    browser.find("take-update").await;
    browser.close().await;
}

/// Requests a style sheet with this Range header. The answer: status, Content-Range, and the bytes.
const FETCH_RANGE: &str = "const [range, done] = arguments;
    fetch('index.css', {headers: {range}}).then(async response => {
        done([response.status, response.headers.get('content-range'), await response.text()]);
    }, error => done(`${error}`));";

#[tokio::test(flavor = "multi_thread")]
async fn kept_files_answer_ranges_as_hosts_do() {
    let (server, _turn) = server_with_service_worker().await;
    let style = std::fs::read_to_string(server.dist().join("index.css")).expect("a style sheet");
    let length = style.len();
    assert!(style.is_ascii() && length > 100);
    let browser = Browser::open(&server.url).await;
    keep_for_offline(&browser).await;
    // From here on, only the service worker answers.
    server.stop();
    let part = |start: usize, end: usize| (206, Some(format!("bytes {start}-{}/{length}", end - 1)), &style[start..end]);
    let whole = (200, None, &*style);
    let nothing = (416, Some(format!("bytes */{length}")), "");
    let last = length - 1;
    for (range, (status, content_range, text)) in [
        ("bytes=0-".to_owned(), part(0, length)),
        ("bytes=10-19".into(), part(10, 20)),
        (format!("bytes=10-{}", length + 5), part(10, length)),
        (format!("bytes={last}-"), part(last, length)),
        (format!("bytes={length}-"), nothing.clone()),
        (format!("bytes={}-{}", length + 5, length + 9), nothing.clone()),
        ("bytes=-10".into(), part(length - 10, length)),
        (format!("bytes=-{}", length + 5), part(0, length)),
        ("bytes=-0".into(), nothing),
        ("bytes=20-10".into(), whole.clone()),
        ("bytes=0-1,5-6".into(), whole.clone()),
        ("bytes=-".into(), whole.clone()),
        ("lines=0-1".into(), whole),
    ] {
        let answer = browser.driver.execute_async(FETCH_RANGE, vec![range.clone().into()]).await.expect("a script runs");
        assert_eq!(answer.json(), &serde_json::json!([status, content_range, text]), "{range}");
    }
    // Bytes of another version are never continued.
    let other = FETCH_RANGE.replace("{range}", "{range, 'if-range': 'Thu, 01 Jan 1970 00:00:00 GMT'}");
    let answer = browser.driver.execute_async(other, vec!["bytes=10-19".into()]).await.expect("a script runs");
    assert_eq!(answer.json(), &serde_json::json!([200, null, style]));
    browser.close().await;
}

/// Headers by which a host restricts its pages.
const SECURITY_HEADERS: [(&str, &str); 3] = [
    ("content-security-policy", "frame-ancestors 'none'; object-src 'none'"),
    ("cross-origin-opener-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
];

#[tokio::test(flavor = "multi_thread")]
async fn security_headers_survive_second_visit() {
    let (server, _turn) = server_with_service_worker().await;
    server.set_headers(&SECURITY_HEADERS);
    let browser = Browser::open(&server.url).await;
    keep_for_offline(&browser).await;
    // From here on, only the service worker answers.
    server.stop();
    browser.goto(&server.url).await;
    for (name, value) in SECURITY_HEADERS {
        for file in ["./", "engine_loader.js"] {
            let script = "const [file, name, done] = arguments;
                fetch(file).then(response => done(response.headers.get(name)), error => done(`${error}`));";
            let found = browser.driver.execute_async(script, vec![file.into(), name.into()]).await.expect("a script runs");
            assert_eq!(found.json(), value, "{name} of {file}");
        }
    }
    let frame = "const [done] = arguments;
        const frame = document.createElement('iframe');
        frame.onload = () => done(frame.contentDocument ? 'drawn' : 'refused');
        frame.src = './';
        document.body.append(frame);";
    let framed = browser.driver.execute_async(frame, Vec::new()).await.expect("a script runs");
    assert_eq!(framed.json(), "refused", "frame-ancestors applies to the kept page");
    browser.close().await;
}

/// The content security policy allows everything that the page does, and blocks code and images of other sites.
#[tokio::test(flavor = "multi_thread")]
async fn the_pages_policy_forbids_code_of_others() {
    let (server, _turn) = server_with_service_worker().await;
    let browser = Browser::open(&server.url).await;
    let script = "
        window.broken = [];
        document.addEventListener('securitypolicyviolation', event => window.broken.push(event.violatedDirective));
        const inline = document.createElement('script');
        inline.textContent = 'window.ran = true';
        document.head.append(inline);
        const other = document.createElement('img');
        other.src = 'https://example.org/pixel.png';
        document.body.append(other);";
    browser.driver.execute(script, Vec::new()).await.expect("a script runs");
    let broken = browser
        .wait("what the policy refuses", async || {
            let broken = browser.driver.execute("return window.broken.concat(window.ran ? ['ran'] : [])", Vec::new()).await.ok()?;
            let broken: Vec<String> = serde_json::from_value(broken.json().clone()).expect("texts");
            let refuses = |kind: &str| broken.iter().any(|rule| rule.starts_with(kind));
            (refuses("script-src") && refuses("img-src")).then_some(broken)
        })
        .await;
    assert!(!broken.contains(&"ran".to_owned()));
    browser.driver.execute("window.broken = []", Vec::new()).await.expect("a script runs");
    explains(&browser).await;
    let own = browser.driver.execute("return window.broken", Vec::new()).await.expect("a list");
    assert_eq!(own.json(), &serde_json::json!([]), "the page breaks its own policy");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_can_be_installed() {
    let (server, _turn) = server_with_service_worker().await;
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(server.dist().join("manifest.webmanifest")).expect("a manifest")).expect("JSON");
    for icon in manifest["icons"].as_array().expect("icons") {
        let file: PathBuf = server.dist().join(icon["src"].as_str().expect("a file"));
        assert!(file.is_file(), "{}", file.display());
    }
    let browser = Browser::open(&server.url).await;
    let found = browser.driver.cdp().send_raw("Page.getAppManifest", serde_json::json!({})).await.expect("a manifest");
    assert_eq!(found["errors"], serde_json::json!([]), "{found}");
    let errors = browser.driver.cdp().send_raw("Page.getInstallabilityErrors", serde_json::json!({})).await.expect("a list");
    let errors: Vec<String> =
        errors["installabilityErrors"].as_array().into_iter().flatten().map(|error| error["errorId"].to_string()).collect();
    assert!(errors.is_empty() || errors == ["\"in-incognito\""], "{errors:?}");
    browser.close().await;
}
