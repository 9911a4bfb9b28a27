//! Explanations outside the page: in frames of other sites, in files that work from disk, and on other sites.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::header;
use axum::response::Redirect;
use axum::routing::get;
use glasscage::explanation::{Document, to_fragment};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::browser::{Browser, DESKTOP, PHONE};
use super::hub::Hub;
use super::server::{Arrival, Server};
use super::steps::{file, open_gallery, open_tab, server};

/// HTML of a page that embeds the viewer in a frame, as in `docs/embedding.md`. It records the messages of the viewer.
fn article(viewer: &str) -> String {
    format!(
        r#"<!doctype html><meta charset="utf-8"><title>An article</title><h1>An article</h1>
        <iframe id="explanation" src="{viewer}" title="Explanation" style="width: 100%; border: 0"></iframe>
        <script>
          const frame = document.getElementById("explanation");
          const origin = new URL(frame.src).origin;
          window.said = [];
          window.say = message => frame.contentWindow.postMessage({{ glasscage: 1, ...message }}, origin);
          addEventListener("message", event => {{
            if (event.source !== frame.contentWindow || event.origin !== origin) return;
            said.push(event.data);
            if (event.data.type === "height") frame.style.height = `${{event.data.pixels}}px`;
          }});
        </script>"#
    )
}

/// HTML of a page that uses the npm package.
const PAGE_WITH_ELEMENT: &str = r#"<!doctype html><meta charset="utf-8"><title>A page</title><h1>A page</h1>
    <glasscage-explanation src="explanation.json" theme="light"></glasscage-explanation>
    <script type="module">
      import { ready, documentOf, fragmentOf, sharesOf, svgOf } from "./element.js";
      window.seen = {};
      const element = document.querySelector("glasscage-explanation");
      element.choose([0]);
      for (const type of ["opened", "chosen", "refused"]) element.addEventListener(type, event => seen[type] = event.detail);
      await ready();
      const json = await (await fetch("explanation.json")).text();
      const fragment = fragmentOf(json);
      let refused;
      try { documentOf("hello"); } catch (error) { refused = error.message; }
      const again = documentOf("https://example.org/#" + fragment);
      seen.made = { fragment, again, shares: [...sharesOf(json)], svg: svgOf(json, 600, true), refused };
    </script>"#;

/// Opens another document in the element, and chooses a sentence of it before it is open.
const OPEN_ANOTHER_AND_CHOOSE: &str = r#"
    const element = document.querySelector("glasscage-explanation");
    const events = [];
    for (const type of ["opened", "chosen", "refused"]) {
      element.addEventListener(type, ({ detail }) => {
        events.push([type, detail.output]);
        window.seen.events = events;
      });
    }
    element.setAttribute("src", "explanation.json?another");
    element.choose([0]);"#;

/// Starts a site that allows other sites to read its file and counts the requests. `moved.json` redirects to the file. Returns its address.
async fn open_site(json: &'static str, asked: Arc<AtomicUsize>) -> String {
    let answer = move || {
        asked.fetch_add(1, Ordering::Relaxed);
        async move { ([(header::CONTENT_TYPE, "application/json"), (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")], json) }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let moved = || async { ([(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")], Redirect::temporary("/explanation.json")) };
    let site = Router::new().route("/explanation.json", get(answer)).route("/moved.json", get(moved));
    tokio::spawn(async { axum::serve(listener, site).await });
    address
}

/// The last message of this type from the viewer.
async fn said(browser: &Browser, kind: &str) -> Option<Value> {
    let script = format!("return window.said.filter(message => message.type === '{kind}').at(-1) ?? null");
    let said = browser.driver.execute(script, Vec::new()).await.expect("a script runs").json().clone();
    (!said.is_null()).then_some(said)
}

async fn say(browser: &Browser, message: &Value) {
    browser.driver.execute(format!("say({message})"), Vec::new()).await.expect("a script runs");
}

/// Opens a page of another origin. The page is served as long as the returned server exists.
async fn open_article(browser: &Browser, viewer: &str) -> Server {
    let folder = file("index.html", article(viewer).as_bytes());
    let site = Server::start(folder.parent().expect("a folder")).await;
    browser.driver.goto(&site.url).await.expect("the article opens");
    site
}

async fn enter(browser: &Browser) {
    browser.driver.enter_frame(0).await.expect("there is a frame");
}

async fn leave(browser: &Browser) {
    browser.driver.enter_default_frame().await.expect("there is a page around");
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_viewer_reports_and_accepts_chosen_sentences() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 2).await;
    browser.click("export").await;
    let line = browser.value("embed-line").await;
    let viewer = line.split('"').nth(1).expect("an address").replace("&amp;", "&");
    assert!(viewer.starts_with(&format!("{}embed.html#g3.", server.url)), "{line}");
    browser.pictures_of("export-dialog", "export").await;
    server.take_requests();
    let _site = open_article(&browser, &viewer).await;
    enter(&browser).await;
    browser.find("sentence-G1").await;
    assert!(browser.try_find("prompt-input").await.is_none() && browser.try_find("tab-check").await.is_none());
    leave(&browser).await;
    let height =
        browser.wait("the height", async || said(&browser, "height").await?["pixels"].as_u64().filter(|&pixels| pixels > 400)).await;
    browser.screenshot("embedded").await;
    assert!(said(&browser, "opened").await.is_none(), "nothing is said of the explanation before the page has spoken");
    say(&browser, &json!({ "type": "hello" })).await;
    let opened = browser.wait("what is explained", async || said(&browser, "opened").await).await;
    let shares: f64 = opened["shares"].as_array().expect("shares").iter().filter_map(Value::as_f64).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{opened}");
    enter(&browser).await;
    browser.click("sentence-G1").await;
    leave(&browser).await;
    let is_first = async || said(&browser, "chosen").await.filter(|chosen| chosen["output"] == json!([0]));
    browser.wait("the chosen sentence", is_first).await;
    say(&browser, &json!({ "type": "choose", "output": [1] })).await;
    browser.wait("the other sentence", async || said(&browser, "chosen").await.filter(|chosen| chosen["output"] == json!([1]))).await;
    let asked = server.take_requests();
    let is_light = |path: &String| !["engine", "models", "app", "sw.js"].iter().any(|heavy| path.contains(heavy));
    assert!(asked.iter().all(is_light), "{asked:?}");
    browser.look(PHONE, "dark").await;
    browser.screenshot("embedded-phone-dark").await;
    let taller = browser.wait("the height", async || said(&browser, "height").await?["pixels"].as_u64().filter(|&pixels| pixels != height));
    taller.await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_viewer_opens_only_valid_documents() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    let _site = open_article(&browser, &format!("{}embed.html?hide=details,tabs&theme=dark", server.url)).await;
    browser.wait("the viewer", async || said(&browser, "ready").await).await;
    say(&browser, &json!({ "type": "hello" })).await;
    let document: Value = serde_json::from_str(include_str!("../fixtures/gallery/01-equal-groups.json")).expect("the gallery has JSON");
    say(&browser, &json!({ "type": "open", "document": document })).await;
    browser.wait("the explanation", async || said(&browser, "opened").await).await;
    let mut hostile = document.clone();
    hostile["prompt"]["text"] = json!("<img src=x onerror=alert(1)>");
    say(&browser, &json!({ "type": "open", "document": hostile })).await;
    let refused = browser.wait("a refusal", async || said(&browser, "refused").await).await;
    assert!(refused["problem"].as_str().is_some_and(|words| words.ends_with('.')), "{refused}");
    enter(&browser).await;
    browser.find("sentence-P1").await;
    assert!(browser.try_find("problem").await.is_some(), "the reader sees it, too");
    let is_hidden = browser.driver.execute("return !document.querySelector('.details').checkVisibility()", Vec::new()).await;
    assert_eq!(is_hidden.expect("a script runs").json(), &json!(true));
    leave(&browser).await;
    browser.screenshot("embedded-refused").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_package_for_npm_has_an_element_and_functions() {
    let (server, _turn) = server().await;
    let manifest: Value = serde_json::from_str(include_str!("../../www/package.json")).expect("a manifest");
    let document = include_str!("../fixtures/gallery/01-equal-groups.json");
    let page = file("index.html", PAGE_WITH_ELEMENT.as_bytes());
    let folder = page.parent().expect("a folder");
    std::fs::write(folder.join("explanation.json"), document).expect("a file");
    for name in manifest["files"].as_array().expect("files").iter().filter_map(Value::as_str) {
        std::fs::create_dir_all(folder.join(name).parent().expect("a folder")).expect("a folder");
        std::fs::copy(server.dist().join(name), folder.join(name)).expect(name);
    }
    let site = Server::start(folder).await;
    let browser = Browser::start(None).await;
    browser.driver.goto(&site.url).await.expect("the page opens");
    let seen = async |name: &str| {
        let script = format!("return window.seen?.{name} ?? null");
        Some(browser.driver.execute(script, Vec::new()).await.ok()?.json().clone()).filter(|seen| !seen.is_null())
    };
    let opened = browser.wait("the explanation", async || seen("opened").await).await;
    browser.screenshot("element").await;
    browser
        .wait("the sentence that was chosen before", async || seen("chosen").await.filter(|chosen| chosen["output"] == json!([0])))
        .await;
    let made = browser.wait("what the functions give", async || seen("made").await).await;
    let opened_document = Document::from_json(document).expect("a document");
    assert_eq!(made["fragment"], json!(to_fragment(&opened_document)));
    assert_eq!(Document::from_json(made["again"].as_str().expect("JSON")).expect("a document").prompt, opened_document.prompt);
    let n_prompt = opened_document.prompt.sentences.len();
    let shares =
        |list: &Value| list.as_array().expect("numbers")[..n_prompt].iter().map(|n| n.as_f64().expect("a number")).collect::<Vec<_>>();
    assert_eq!(shares(&made["shares"]), shares(&opened["shares"]), "functions and views say the same");
    assert!(made["svg"].as_str().is_some_and(|svg| svg.starts_with("<svg")), "{made}");
    assert!(made["refused"].as_str().is_some_and(|words| words.contains("not an explanation or a lesson")), "{made}");
    browser.driver.execute(OPEN_ANOTHER_AND_CHOOSE, Vec::new()).await.expect("a script runs");
    let of_the_new_one = browser.wait("two events", async || seen("events").await.filter(|events| events[1].is_array())).await;
    assert_eq!(of_the_new_one, json!([["opened", opened["output"]], ["chosen", [0]]]), "the sentence is chosen in the new document");
    browser.close().await;
}

/// The catalogs need the program, so the words for a missing program are in the frame's first script.
#[tokio::test(flavor = "multi_thread")]
async fn failed_viewer_speaks_language_of_frame() {
    let (server, _turn) = server().await;
    server.remove("/viewer_bg.wasm");
    let browser = Browser::start(None).await;
    for (tag, words) in [("en", "Reload the page"), ("de", "Laden Sie die Seite neu"), ("zh", "\u{8bf7}\u{91cd}\u{65b0}\u{52a0}\u{8f7d}")] {
        browser.driver.goto(format!("{}embed.html?lang={tag}", server.url)).await.expect("the frame opens");
        let has_words = async || {
            let shown = browser.driver.execute("return document.body.innerText", Vec::new()).await.ok()?;
            shown.json().as_str().is_some_and(|shown| shown.contains(words)).then_some(())
        };
        browser.wait(words, has_words).await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_saved_page_works_from_disk() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 2).await;
    browser.click("export").await;
    let html = browser.saved("export-html").await;
    let limit = 900_000 + 20_000;
    assert!(html.len() < limit, "{} bytes", html.len());
    let path = file("explanation.html", &html);
    browser.set_online(false).await;
    browser.driver.goto(format!("file://{}", path.display())).await.expect("the file opens");
    browser.find("sentence-G1").await;
    let before = browser.picture().await;
    browser.click("sentence-G1").await;
    browser.wait("other shares", async || (browser.picture().await != before).then_some(())).await;
    open_tab(&browser, "path").await;
    open_tab(&browser, "table").await;
    assert!(browser.try_find("open-in-glasscage").await.is_none(), "the file knows no site");
    browser.look(DESKTOP, "light").await;
    browser.screenshot("saved-page").await;
    browser.set_online(true).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_picture_opens_again() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_gallery(&browser, 2).await;
    let shown = browser.picture().await;
    for (button, name) in [("export-svg", "picture.svg"), ("export-png", "picture.png"), ("export-html", "page.html")] {
        browser.click("export").await;
        let path = file(name, &browser.saved(button).await);
        browser.click("export-dialog-close").await;
        browser.goto(&server.url).await;
        browser.drop_files(&[path]).await;
        browser.wait(name, async || (browser.picture().await == shown).then_some(())).await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_document_is_fetched_only_after_consent() {
    let (server, _turn) = server().await;
    let json = include_str!("../fixtures/gallery/01-equal-groups.json");
    let asked = Arc::<AtomicUsize>::default();
    let site = open_site(json, asked.clone()).await;
    let browser = Browser::start(None).await;
    let link = format!("{}#url={site}/explanation.json", server.url);
    browser.goto(&link).await;
    browser.find("remote").await;
    browser.pictures_of("remote", "remote").await;
    assert_eq!(asked.load(Ordering::Relaxed), 0, "nothing is asked by itself");
    browser.click("fetch-remote").await;
    browser.find("sentence-G1").await;
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(browser.driver.current_url().await.expect("an address").as_str(), link);
    // This address redirects within its host.
    browser.goto(&format!("{}#url={site}/moved.json", server.url)).await;
    browser.click("fetch-remote").await;
    browser.find("sentence-G1").await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    // This site redirects to another site that the visitor has not agreed to.
    let hub = Hub::start(&[("explanation.json", json.into())]).await;
    browser.goto(&format!("{}#url={}", server.url, hub.address("explanation.json"))).await;
    browser.click("fetch-remote").await;
    assert!(browser.problem().await.contains("127.0.0.1"), "{}", browser.problem().await);
    assert!(browser.try_find("sentence-G1").await.is_none(), "what the other site sends is not read");
    browser.click("decline-remote").await;
    browser.wait("the first page", async || browser.try_find("remote").await.is_none().then_some(())).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn remote_document_is_awaited_while_its_bytes_arrive() {
    let (server, _turn) = server().await;
    // The page gives up after this silence.
    server.hurry(20_000);
    let document = file("explanation.json", include_bytes!("../fixtures/gallery/01-equal-groups.json"));
    let site = Server::start(document.parent().expect("a folder")).await;
    site.set_headers(&[("access-control-allow-origin", "*")]);
    // It takes longer than the silence in all.
    site.next_arrives("/explanation.json", Arrival::Slow(60));
    let browser = Browser::start(None).await;
    let link = format!("{}#url={}explanation.json", server.url, site.url);
    browser.goto(&link).await;
    browser.click("fetch-remote").await;
    browser.find("sentence-G1").await;

    site.hold("/explanation.json");
    browser.driver.goto("about:blank").await.expect("the page closes");
    browser.goto(&link).await;
    browser.click("fetch-remote").await;
    let problem = browser.problem().await;
    assert!(problem.contains("took too long to answer"), "{problem}");
    site.release();
    browser.close().await;
}
