//! Several workers score the passes of a small model on the CPU. The scores are bit-identical to those of one worker, even if the others
//! crash.

use std::collections::BTreeMap;

use glasscage::explanation::Document;
use serde_json::json;

use super::browser::Browser;
use super::server::Server;
use super::steps::{ask, example_prompt, is_thorough, server};

/// Maximum number of explanations until all scorers must have helped.
const MAX_EXPLANATIONS: usize = 40;

/// A script at the start of the page and of each worker: the number of cores.
fn has_cores(cores: usize) -> String {
    format!(
        "for (const [name, value] of [['hardwareConcurrency', {cores}], ['deviceMemory', 8]])
            Object.defineProperty(Object.getPrototypeOf(navigator), name, {{ get: () => value, configurable: true }});"
    )
}

/// A script at the start of each worker. It reports each message with scores to the page, and crashes each scorer after `most` messages.
fn tells_scores(most: usize) -> String {
    format!(
        "const [post, scores, id] = [self.postMessage.bind(self), new BroadcastChannel('scores'), Math.random()];
        let left = {most};
        self.postMessage = message => {{
            if (message instanceof Float64Array && message.length > 0) {{
                if (left-- === 0) throw new Error('killed by a test');
                scores.postMessage(id);
            }}
            post(message);
        }};"
    )
}

/// Explains on a computer with `cores` cores until `n_scorers` scorers have scored at least `passes` passes. Each scorer crashes after
/// `most` passes. Returns the last explanation and the number of passes of each scorer.
async fn explained(server: &Server, cores: usize, most: usize, n_scorers: usize, passes: usize) -> (Document, Vec<usize>) {
    server.begin_workers_with(&[has_cores(cores), tells_scores(most)].concat());
    let browser = Browser::start(None).await;
    let counts = "self.n_scores = {};
        self.scores = new BroadcastChannel('scores');
        self.scores.onmessage = ({ data }) => self.n_scores[data] = (self.n_scores[data] ?? 0) + 1;";
    let script = has_cores(cores) + counts;
    browser.driver.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).await.expect("a script");
    browser.goto(&format!("{}?backend=cpu", server.url)).await;
    let n_scores = async || -> Vec<usize> {
        let n_scores = browser.driver.execute("return self.n_scores", Vec::new()).await.expect("a script runs");
        n_scores.convert::<BTreeMap<String, usize>>().expect("numbers").into_values().collect()
    };
    // The engine starts scorers after some seconds of work. They then need time to load the model.
    for _ in 0..MAX_EXPLANATIONS {
        ask(&browser, &example_prompt()).await;
        browser.explained().await;
        let scored = n_scores().await;
        if scored.len() >= n_scorers && scored.iter().sum::<usize>() >= passes {
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
async fn several_workers_measure_what_one_measures() {
    let (server, _turn) = server().await;
    let (alone, of_none) = explained(&server, 1, usize::MAX, 0, 0).await;
    assert!(of_none.is_empty(), "{of_none:?} passes by scorers");
    // One scorer and three, with and without a breakdown. The short command tries two of these four.
    for (cores, n_scorers) in [(2, 1), (5, 3)] {
        if is_thorough() || n_scorers == 1 {
            let (together, scored) = explained(&server, cores, usize::MAX, n_scorers, 11).await;
            println!("{cores} cores: scorers scored {scored:?} passes");
            assert!(scored.len() == n_scorers && scored.iter().sum::<usize>() > 10, "{scored:?} passes by scorers");
            assert!(together == alone, "the same bits with {n_scorers} scorers");
        }
        if is_thorough() || n_scorers == 3 {
            let (after_breakdown, before_it) = explained(&server, cores, 2, n_scorers, 2 * n_scorers).await;
            assert_eq!(before_it, vec![2; n_scorers], "passes before the breakdown");
            assert!(after_breakdown == alone, "the same bits after {n_scorers} scorers broke down");
        }
    }
}
