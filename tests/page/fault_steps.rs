//! Steps of tests that let something fail: workers that break down or are slow, tabs that the browser freezes.

use std::time::Duration;

use serde_json::json;

use super::browser::Browser;

/// As long as a fault lasts.
const FROZEN: Duration = Duration::from_millis(700);

/// The first script of workers of which that of this role traps in the middle of WebAssembly, at the n-th event whose JSON has `event`:
/// the browser throws where the worker posts it.
pub fn trap_at(role: &str, event: &str, n: usize) -> String {
    format!(
        "const post = self.postMessage.bind(self);
        let left = {n};
        self.postMessage = message => {{
            if (self.name === '{role}' && String(message).includes('\"{event}\"') && --left === 0) throw new Error('killed by a test');
            post(message);
        }};"
    )
}

/// The first script of workers that stand still for a second at the n-th event whose JSON has one of `events`.
pub fn slow_at(events: &[&str], n: usize) -> String {
    let events = json!(events);
    format!(
        "const post = self.postMessage.bind(self);
        const seen = {{}};
        self.postMessage = message => {{
            post(message);
            for (const event of {events}) {{
                if (!String(message).includes(`\"${{event}}\"`)) continue;
                seen[event] = (seen[event] ?? 0) + 1;
                if (seen[event] === {n}) for (const until = Date.now() + 1000; Date.now() < until; );
            }}
        }};"
    )
}

/// The first script of workers that break down when [`break_down`] tells them to.
pub const BREAKS_DOWN: &str = "self.faults = new BroadcastChannel('faults');
self.faults.onmessage = () => { throw new Error('killed by a test'); };";

/// The first script of workers of which that of the library reads no more of a file than so many bytes, until [`release_reads`].
pub fn hold_reads(bytes: usize) -> String {
    format!(
        "if (self.name === 'library') {{
            const released = new Promise(resolve => {{ new BroadcastChannel('reads').onmessage = resolve; }});
            const {{ read }} = ReadableStreamDefaultReader.prototype;
            let left = {bytes};
            ReadableStreamDefaultReader.prototype.read = async function () {{
                if (left <= 0) await released;
                const chunk = await read.call(this);
                left -= chunk.value?.length ?? 0;
                return chunk;
            }};
        }}\n"
    )
}

/// Lets workers read on that began with [`hold_reads`].
pub async fn release_reads(browser: &Browser) {
    browser.driver.execute("new BroadcastChannel('reads').postMessage('')", Vec::new()).await.expect("a script runs");
}

/// Lets all workers break down that began with [`BREAKS_DOWN`].
pub async fn break_down(browser: &Browser) {
    browser.driver.execute("new BroadcastChannel('faults').postMessage('')", Vec::new()).await.expect("a script runs");
}

/// Freezes the tab for a while, as a browser does with tabs behind others.
pub async fn freeze(browser: &Browser) {
    for (state, pause) in [("frozen", FROZEN), ("active", Duration::ZERO)] {
        browser.driver.cdp().send_raw("Page.setWebLifecycleState", json!({ "state": state })).await.expect("the state of a tab");
        tokio::time::sleep(pause).await;
    }
}
