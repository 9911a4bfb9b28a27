//! Steps of fault tests: workers that crash or are slow, and tabs that the browser freezes.

use std::time::Duration;

use serde_json::json;

use super::browser::Browser;
use super::server::Server;

/// Time for which a tab is frozen.
const FROZEN: Duration = Duration::from_millis(700);

/// A script at the start of each worker. It makes the worker of this role throw inside WebAssembly when it posts its n-th event whose JSON
/// contains `event`.
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

/// The beginning of the path that a script of [`hold_at`] requests. The name of the event follows. The test holds the answer.
pub const PAUSE: &str = "/a-pause-";

/// A script at the start of each worker. After the events of this type with these numbers, from 1 on, the engine waits until the
/// server answers a request for a path that begins with [`PAUSE`].
pub fn hold_at(event: &str, numbers: &[usize]) -> String {
    format!(
        "if (self.name === 'engine') {{
            const post = self.postMessage.bind(self);
            let seen = 0;
            self.postMessage = message => {{
                post(message);
                if (!String(message).includes('\"{event}\"') || !{numbers:?}.includes(++seen)) return;
                const pause = new XMLHttpRequest();
                pause.open('GET', '.{PAUSE}{event}', false);
                pause.send();
            }};
        }}\n"
    )
}

/// Waits until the engine, which started with [`hold_at`], waits after `event`.
pub async fn is_held(browser: &Browser, server: &Server, event: &str) {
    let path = format!("{PAUSE}{event}");
    let is_held = async || server.take_requests().iter().any(|asked| asked.ends_with(&path)).then_some(());
    browser.wait(&format!("the engine to wait after {event}"), is_held).await;
}

/// Presses Stop while the engine, which started with [`hold_at`], waits after `event`. So Stop comes before the end of the run.
pub async fn stop_at(browser: &Browser, server: &Server, event: &str) {
    is_held(browser, server, event).await;
    browser.click("stop-button").await;
    server.release();
}

/// A script at the start of each worker. It makes the worker crash when the test calls [`break_down`].
pub const BREAKS_DOWN: &str = "self.faults = new BroadcastChannel('faults');
self.faults.onmessage = () => { throw new Error('killed by a test'); };";

/// A script at the start of each worker. It makes the library worker stop reading a local file after `bytes` bytes, until
/// [`release_reads`]. It does not count the bytes of the worker's own program, which the worker reads as a stream, too.
pub fn hold_reads(bytes: usize) -> String {
    format!(
        "if (self.name === 'library') {{
            const released = new Promise(resolve => {{ new BroadcastChannel('reads').onmessage = resolve; }});
            const {{ fetch }} = self;
            const {{ getReader }} = ReadableStream.prototype;
            const files = new WeakSet();
            let left = {bytes};
            self.fetch = async (request, ...options) => {{
                const response = await fetch(request, ...options);
                if (String(request.url ?? request).startsWith('blob:')) files.add(response.body);
                return response;
            }};
            ReadableStream.prototype.getReader = function (...options) {{
                const reader = getReader.apply(this, options);
                if (files.has(this)) reader.read = async () => {{
                    if (left <= 0) await released;
                    const chunk = await Object.getPrototypeOf(reader).read.call(reader);
                    left -= chunk.value?.length ?? 0;
                    return chunk;
                }};
                return reader;
            }};
        }}\n"
    )
}

/// Lets workers that started with [`hold_reads`] continue to read.
pub async fn release_reads(browser: &Browser) {
    browser.driver.execute("new BroadcastChannel('reads').postMessage('')", Vec::new()).await.expect("a script runs");
}

/// Crashes all workers that started with [`BREAKS_DOWN`].
pub async fn break_down(browser: &Browser) {
    browser.driver.execute("new BroadcastChannel('faults').postMessage('')", Vec::new()).await.expect("a script runs");
}

/// Freezes the tab for a while, as browsers do with background tabs.
pub async fn freeze(browser: &Browser) {
    for (state, pause) in [("frozen", FROZEN), ("active", Duration::ZERO)] {
        browser.driver.cdp().send_raw("Page.setWebLifecycleState", json!({ "state": state })).await.expect("the state of a tab");
        tokio::time::sleep(pause).await;
    }
}
