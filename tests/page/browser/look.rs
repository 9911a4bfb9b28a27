//! Window size, preferred color scheme and network state of a browser.

use axum::http::Method;
use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::prelude::*;
use thirtyfour::{RequestData, SessionId};

use super::driver::Kind;

/// Waits until no transition runs and nothing scrolls or changes its size for two frames. Endless animations do not count.
const SETTLED: &str = "const [done] = arguments;
    const frame = () => new Promise(requestAnimationFrame);
    const isMoving = animation => animation.playState === 'running' && animation.effect.getComputedTiming().endTime !== Infinity;
    (async () => {
        for (let still = 0, before = ''; still < 2; ) {
            await frame();
            const now = [scrollX, scrollY, innerWidth, innerHeight, document.body.scrollHeight].join();
            still = now === before && !document.getAnimations().some(isMoving) ? still + 1 : 0;
            before = now;
        }
        done();
    })();";

/// Returns the size of the page after some frames. A timer replaces frames that do not come.
const SIZE_LATER: &str = "const [n_frames, done] = arguments;
    const frame = () => new Promise(resolve => { requestAnimationFrame(resolve); setTimeout(resolve, 250); });
    (async () => {
        for (let i = 0; i < n_frames; i += 1) await frame();
        done([innerWidth, innerHeight]);
    })();";

/// Smallest width of a page in `WebKitGTK`'s small browser, in CSS pixels. Its own buttons need this room.
const NARROWEST_IN_WEB_KIT: u32 = 447;

/// Sets the context of scripts in Firefox: the page (`content`) or the browser itself (`chrome`).
#[derive(Debug)]
struct SetContext(&'static str);

impl FormatRequestData for SetContext {
    fn format_request(&self, session: &SessionId) -> RequestData {
        RequestData::new(Method::POST, format!("/session/{session}/moz/context")).add_body(json!({"context": self.0}))
    }
}

/// Sets the window size in CSS pixels and the preferred color scheme. `WebKitGTK` cannot change its scheme while it runs.
pub async fn set(driver: &WebDriver, kind: Kind, (width, height): (u32, u32), scheme: &str) {
    match kind {
        Kind::Chromium => {
            let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
            driver.cdp().send_raw("Emulation.setDeviceMetricsOverride", metrics).await.expect("a window size");
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            driver.cdp().send_raw("Emulation.setEmulatedMedia", media).await.expect("a color scheme");
        }
        Kind::Firefox => {
            let value = if scheme == "dark" { 0 } else { 1 };
            // By default, a window of Firefox is at least as wide as its own buttons.
            let script = "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0]);
                document.documentElement.style.minWidth = '0';";
            in_firefox(driver, script, vec![json!(value)]).await;
            resize(driver, kind, width, height).await;
        }
        Kind::WebKit => resize(driver, kind, width, height).await,
    }
}

/// Waits until the page looks as it will stay.
pub async fn settled(driver: &WebDriver) {
    driver.execute_async(SETTLED, Vec::new()).await.expect("a script runs");
}

/// Sets whether the browser reports a network to pages.
pub async fn set_online(driver: &WebDriver, kind: Kind, is_online: bool) {
    match kind {
        Kind::Chromium => {
            let conditions = json!({"offline": !is_online, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
            driver.cdp().send_raw("Network.emulateNetworkConditions", conditions).await.expect("conditions of the network");
        }
        Kind::Firefox => in_firefox(driver, "Services.io.offline = arguments[0]", vec![json!(!is_online)]).await,
        Kind::WebKit => panic!("WebKitGTK cannot be told that it has no network"),
    }
}

/// Runs a script in the context of Firefox itself.
async fn in_firefox(driver: &WebDriver, script: &str, arguments: Vec<Value>) {
    driver.handle().cmd(SetContext("chrome")).await.expect("scripts may see the browser");
    let done = driver.execute(script, arguments).await;
    driver.handle().cmd(SetContext("content")).await.expect("scripts see the page again");
    done.expect("a script runs");
}

/// Sizes the window until the page has this size, in CSS pixels. Windows get their size late, and the size of the browser's own borders is
/// known only then.
async fn resize(driver: &WebDriver, kind: Kind, width: u32, height: u32) {
    let wanted = [if kind == Kind::WebKit { width.max(NARROWEST_IN_WEB_KIT) } else { width }, height];
    let mut size = [0; 2];
    for n_frames in 2..60 {
        // WebKitGTK reports a negative number if its own buttons need more room.
        let around = "return [outerWidth - innerWidth, outerHeight - innerHeight].map(around => Math.max(around, 0))";
        let around: [u32; 2] = driver.execute(around, Vec::new()).await.expect("a script runs").convert().expect("two numbers");
        driver.set_window_rect(0, 0, width + around[0], height + around[1]).await.expect("a window size");
        let later = driver.execute_async(SIZE_LATER, vec![json!(n_frames)]).await.expect("a script runs");
        size = later.convert().expect("two numbers");
        if size == wanted {
            return;
        }
    }
    panic!("the page has {size:?} pixels instead of {wanted:?}");
}
