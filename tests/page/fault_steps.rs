//! Steps of fault tests: workers that crash or are slow, and tabs that the browser freezes.

use std::time::Duration;

use serde_json::json;

use super::browser::Browser;

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

/// A script at the start of each worker. It blocks the worker for one second after the n-th event of each of these types.
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

/// A path that [`hold_at`] requests. The test holds its answer.
pub const PAUSE: &str = "/a-pause";

/// A script at the start of each worker. After the n-th event of this type, the worker waits until the server answers a request for
/// [`PAUSE`].
pub fn hold_at(event: &str, n: usize) -> String {
    format!(
        "const post = self.postMessage.bind(self);
        let left = {n};
        self.postMessage = message => {{
            post(message);
            if (String(message).includes('\"{event}\"') && --left === 0) {{
                const pause = new XMLHttpRequest();
                pause.open('GET', '.{PAUSE}', false);
                pause.send();
            }}
        }};"
    )
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
