//! Two workers score the passes of a small model on the CPU. The scores are bit-identical to those of one worker, even if the second
//! crashes.

use glasscage::explanation::Document;
use serde_json::json;

use super::browser::Browser;
use super::steps::{ask, example_prompt, server};

/// Maximum number of explanations until the scorer must have helped.
const MOST_EXPLANATIONS: usize = 40;

/// A script at the start of each worker. It reports each message with scores to the page, and crashes the scorer after `most` messages.
fn tells_scores(most: usize) -> String {
    format!(
        "const [post, scores] = [self.postMessage.bind(self), new BroadcastChannel('scores')];
        let left = {most};
        self.postMessage = message => {{
            if (message instanceof Float64Array) {{
                if (left-- === 0) throw new Error('killed by a test');
                scores.postMessage('');
            }}
            post(message);
        }};"
    )
}

/// Explains on a computer with `cores` cores until the scorer has scored `by_scorer` passes. Returns the last explanation and the number of
/// passes that the scorer has scored.
async fn explained(url: &str, cores: usize, by_scorer: usize) -> (Document, usize) {
    let browser = Browser::start(None).await;
    let script = format!(
        "Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', {{ get: () => {cores} }});
        self.n_scores = 0;
        self.scores = new BroadcastChannel('scores');
        self.scores.onmessage = () => self.n_scores++;"
    );
    browser.driver.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await.expect("a script");
    browser.goto(&format!("{url}?backend=cpu")).await;
    let n_scores = async || {
        let n_scores = browser.driver.execute("return self.n_scores", Vec::new()).await.expect("a script runs");
        n_scores.convert::<usize>().expect("a number")
    };
    // The engine starts a second worker after passes have taken three seconds. That worker then needs time to load the model.
    for _ in 0..MOST_EXPLANATIONS {
        ask(&browser, &example_prompt()).await;
        browser.explained().await;
        if n_scores().await >= by_scorer {
            break;
        }
    }
    let saved = String::from_utf8(browser.saved("save-json").await).expect("UTF-8");
    let n_scores = n_scores().await;
    assert!(browser.try_find("problem").await.is_none(), "nobody hears of a scorer that breaks down");
    browser.close().await;
    (Document::from_json(&saved).expect("the page saves what opens again"), n_scores)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_measure_what_one_measures() {
    let (server, _turn) = server().await;
    server.begin_workers_with(&tells_scores(usize::MAX));
    let (alone, of_none) = explained(&server.url, 1, 0).await;
    let (together, of_two) = explained(&server.url, 2, 11).await;
    server.begin_workers_with(&tells_scores(2));
    let (after_breakdown, before_it) = explained(&server.url, 2, 2).await;
    println!("{of_two} passes were scored by the second worker");
    assert!(of_none == 0 && of_two > 10 && before_it == 2, "{of_none}, {of_two} and {before_it} passes");
    assert!(together == alone && after_breakdown == alone, "the same bits");
}
