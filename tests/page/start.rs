//! A page that cannot start says so: a file is missing, cut off, of the wrong type, or blocked, or the browser has no WebAssembly.

use super::browser::Browser;
use super::server::Server;
use super::steps::server;

/// Breaks the site.
type Fault<'a> = &'a dyn Fn(&Server);

/// Visible text of an element. `None` if the element is missing or hidden.
async fn visible_text(browser: &Browser, id: &str) -> Option<String> {
    let script = "const box = document.getElementById(arguments[0]);
        return box?.checkVisibility({ visibilityProperty: true }) ? box.innerText : null";
    let text = browser.driver.execute(script, vec![id.into()]).await.ok()?;
    text.json().as_str().map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_start_is_explained() {
    let (server, _turn) = server().await;
    let bytes = |server: &Server, file: &str| std::fs::read(server.dist().join(file)).expect("a file of the page");
    // The browser names a file that is missing, and gives a reason of its own for other faults.
    let faults: [(&str, Option<&str>, Fault<'_>); 7] = [
        ("start script", Some("start.js"), &|server| server.remove("/start.js")),
        ("program's script", Some("app.js"), &|server| server.remove("/app.js")),
        ("loader of parts", Some("wasm_split.js"), &|server| server.remove("/wasm_split.js")),
        ("program", None, &|server| server.remove("/app_bg.wasm")),
        ("half of the program", None, &|server| {
            let program = bytes(server, "app_bg.wasm");
            server.serve_as("/app_bg.wasm", "application/wasm", program[..program.len() / 2].to_vec());
        }),
        ("HTML for the program", None, &|server| server.serve_as("/app_bg.wasm", "text/html", b"<!doctype html>".to_vec())),
        ("script as text", None, &|server| server.serve_as("/app.js", "text/plain", bytes(server, "app.js"))),
    ];
    for (fault, file, break_site) in faults {
        server.restore();
        server.remove("/sw.js");
        break_site(&server);
        // Another visit in the same browser would find files of the visit before: WebKitGTK keeps scripts in memory.
        let browser = Browser::start(None).await;
        browser.driver.goto(&server.url).await.expect("the page opens");
        let says_so = |text: &String| text.contains("could not start") && file.is_none_or(|file| text.contains(file));
        browser.wait(fault, async || visible_text(&browser, "start-failed").await.filter(says_so)).await;
        browser.screenshot("start-failed").await;
        browser.close().await;
    }
    server.restore();
    let browser = Browser::start(None).await;
    browser.driver.goto(&server.url).await.expect("the page opens");
    browser.find("sentence-G1").await;
    assert_eq!(visible_text(&browser, "start-failed").await, None);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_webassembly_is_named() {
    let (server, _turn) = server().await;
    let watch = std::fs::read_to_string(server.dist().join("start-watch.js")).expect("a file of the page");
    server.replace("/start-watch.js", &format!("delete globalThis.WebAssembly;\n{watch}"));
    let browser = Browser::start(None).await;
    browser.driver.goto(&server.url).await.expect("the page opens");
    let text = browser.wait("the message", async || visible_text(&browser, "start-failed").await).await;
    // The second is WebKit's message.
    let messages = ["WebAssembly is not defined", "Can't find variable: WebAssembly"];
    assert!(messages.iter().any(|message| text.contains(message)), "{text}");
    browser.close().await;
}

/// Without any script, a style sheet shows a message after a while.
#[tokio::test(flavor = "multi_thread")]
async fn page_without_scripts_says_that_it_loads() {
    let (server, _turn) = server().await;
    server.remove(".js");
    let browser = Browser::start(None).await;
    browser.driver.goto(&server.url).await.expect("the page opens");
    let text = browser.wait("the message", async || visible_text(&browser, "start-slow").await).await;
    assert!(text.contains("Still loading"), "{text}");
    browser.screenshot("start-slow").await;
    browser.close().await;
}
