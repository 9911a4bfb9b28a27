//! "This device" in the settings: measurements for a bug report.

use super::browser::{Browser, PHONE};
use super::steps::{ask, example_prompt, server};

/// Keeps what the page copies, because browsers without a window have no clipboard.
const KEEP_COPIED: &str = "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: {
    writeText: async text => { window.copied = text; } } })";
/// A browser that refuses to copy.
const REFUSE_TO_COPY: &str = "Object.defineProperty(navigator, 'clipboard', { configurable: true, value: {
    writeText: async () => { throw new Error('refused'); } } })";
/// A script at the start of each worker: the browser has no WebGPU.
const WITHOUT_GPU: &str = "Object.defineProperty(Object.getPrototypeOf(navigator), 'gpu', { configurable: true, value: undefined });";

/// Opens "This device" and measures.
async fn measure(browser: &Browser) {
    browser.open_details_of("method").await;
    browser.click("device").await;
    browser.find("measure-device").await;
    assert_eq!(browser.count("device-facts").await, 0, "nothing is measured before the visitor asks");
    browser.click("measure-device").await;
    browser.find("device-facts").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn device_is_measured_on_request_and_copied_as_text() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&format!("{}?backend=gpu", server.url)).await;
    server.take_requests();
    measure(&browser).await;
    let requests = server.take_requests();
    assert!(requests.iter().any(|path| path.contains("split_device")), "{requests:?}");
    browser.shows("status", |text| text.contains("Measured this device")).await;
    let facts = browser.text("device-facts").await;
    for fact in ["GPU", "(software)", "webgpu-software", "tokens/s", "GFLOP/s", "GB/s", "nats (\u{2264} 1.0e-3)"] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    let kernels = browser.text("device-kernels").await;
    assert!(kernels.contains("RMSNorm") && kernels.contains("GEMM (Q8_0)"), "{kernels}");
    assert!(!kernels.contains("wrong"), "{kernels}");
    browser.pictures_of("measure-device", "device").await;
    browser.pictures_of("copy-device", "device-end").await;

    browser.driver.execute(KEEP_COPIED, Vec::new()).await.expect("a script runs");
    browser.click("copy-device").await;
    let copied = async || browser.driver.execute("return window.copied ?? null", Vec::new()).await.ok()?.json().as_str().map(str::to_owned);
    let copied = browser.wait("the copied text", copied).await;
    assert!(copied.starts_with("Glasscage: ") && copied.contains("\nBrowser: Mozilla/"), "{copied}");
    for line in ["\nGPU: ", "\nEngine: webgpu-software", "\nMemory bandwidth: ", "\n  RMSNorm: "] {
        assert!(copied.contains(line), "{line}: {copied}");
    }
    browser.driver.execute(REFUSE_TO_COPY, Vec::new()).await.expect("a script runs");
    browser.click("copy-device").await;
    assert_eq!(browser.value("device-text").await, copied, "it can be copied by hand");

    // The model still answers.
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn device_without_gpu_is_measured_in_three_languages() {
    let (server, _turn) = server().await;
    server.begin_workers_with(WITHOUT_GPU);
    let browser = Browser::open(&server.url).await;
    for (language, unit, sentence) in [
        ("en", "tokens/s", "This browser gives no access to a GPU, so the CPU engine is used."),
        ("de", "Token/s", "Dieser Browser gibt keinen Zugang zu einer GPU, deshalb wird die CPU-Engine verwendet."),
        ("zh", "词元/秒", "此浏览器不提供对 GPU 的访问，因此使用 CPU 引擎。"),
    ] {
        browser.goto(&format!("{}?lang={language}", server.url)).await;
        measure(&browser).await;
        browser.shows("without-gpu", |text| text == sentence).await;
        let facts = browser.text("device-facts").await;
        assert!(facts.contains("candle-cpu") && facts.contains(unit) && !facts.contains("GB/s"), "{facts}");
        assert_eq!(browser.count("device-kernels").await, 0);
        browser.look(PHONE, "dark").await;
        browser.find("without-gpu").await.scroll_into_view().await.expect("it can be scrolled to");
        browser.screenshot(&format!("device-without-gpu-{language}-phone-dark")).await;
        assert_eq!(browser.overflow().await, 0);
    }
    browser.close().await;
}
