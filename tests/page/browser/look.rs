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
            resize(driver, width, height).await;
        }
        Kind::WebKit => resize(driver, width, height).await,
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

/// Sizes the window so that the page has this size, in CSS pixels.
async fn resize(driver: &WebDriver, width: u32, height: u32) {
    // The size of the browser's own borders is known only after the window has a size. WebKitGTK reports -62 if its own buttons need more
    // room.
    for _ in 0..2 {
        let around = "return [outerWidth - innerWidth, outerHeight - innerHeight].map(around => Math.max(around, 0))";
        let around: [u32; 2] = driver.execute(around, Vec::new()).await.expect("a script runs").convert().expect("two numbers");
        driver.set_window_rect(0, 0, width + around[0], height + around[1]).await.expect("a window size");
    }
}
