//! Hours of use in minutes: hundreds of explanations in one tab, by two models in turn, and what they leave in memory.

use serde_json::{Value, json};

use super::browser::Browser;
use super::download_steps::model_is_ready;
use super::split::demo_in_f32;
use super::steps::{explain_given, file, server};

/// Explanations in one tab; the environment variable `GLASSCAGE_SOAK` names another number.
const EXPLANATIONS: usize = 300;
/// So many explanations are made by one model, then by the other.
const EACH: usize = 10;
/// From here on nothing may grow.
const SETTLED: usize = 20;

/// What the tab holds: its columns, and by how much more than the most at the beginning each may be at the end.
const MEASURES: [(&str, f64); 6] =
    [("JSHeapUsedSize", 1.25), ("Nodes", 1.1), ("JSEventListeners", 1.1), ("page wasm", 1.1), ("engine wasm", 1.02), ("process", 1.25)];

/// Remembers the memories of the page's WebAssembly; before the page itself runs.
const WATCH_MEMORIES: &str = "window.memories = [];
for (const name of ['instantiate', 'instantiateStreaming']) {
  const before = WebAssembly[name];
  WebAssembly[name] = async (...how) => {
    const made = await before.apply(WebAssembly, how);
    const memory = (made.instance ?? made).exports.memory;
    if (memory) window.memories.push(memory);
    return made;
  };
}";

/// One row of the table, in the order of [`MEASURES`]; bytes and numbers.
async fn measured(browser: &Browser) -> Vec<f64> {
    let cdp = async |name: &str| browser.driver.cdp().send_raw(name, json!({})).await.expect("Chromium answers");
    // Twice: what a first collection frees may hold more.
    cdp("HeapProfiler.collectGarbage").await;
    cdp("HeapProfiler.collectGarbage").await;
    let metrics: Value = cdp("Performance.getMetrics").await;
    let metric = |name: &str| {
        let metrics = metrics["metrics"].as_array().into_iter().flatten();
        metrics.filter(|metric| metric["name"] == name).filter_map(|metric| metric["value"].as_f64()).next()
    };
    let memories = "return window.memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0)";
    let page = browser.driver.execute(memories, Vec::new()).await.expect("a number").json().as_f64();
    let engine = browser.attribute("work", "data-heap-bytes").await;
    MEASURES
        .iter()
        .map(|(name, _)| match *name {
            "page wasm" => page.filter(|bytes| *bytes > 0.0).expect("the page is made of WebAssembly"),
            "engine wasm" => engine,
            "process" => browser.resident_bytes() as f64,
            name => metric(name).unwrap_or_else(|| panic!("Chromium measures no {name}")),
        })
        .collect()
}

/// The two models, of which the second has four times the memory: chosen in turn.
async fn choose(browser: &Browser, is_second: bool) {
    if is_second {
        browser.choose_file("model-file", &file("wide.gguf", &demo_in_f32())).await;
        return model_is_ready(browser).await;
    }
    browser.click("models-button").await;
    browser.click("use-built-in").await;
    browser.wait("the built-in model", async || browser.text("model-state").await.starts_with("Built-in model ready").then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "cargo xtask test --soak"]
async fn memory_stays_as_it_is_after_the_first_of_many_explanations_by_models_in_turn() {
    let (server, _turn) = server().await;
    let explanations = std::env::var("GLASSCAGE_SOAK").map_or(EXPLANATIONS, |n| n.parse().expect("a number of explanations"));
    let browser = Browser::start(None).await;
    let watch = json!({ "source": WATCH_MEMORIES });
    browser.driver.cdp().send_raw("Page.addScriptToEvaluateOnNewDocument", watch).await.expect("a script");
    browser.driver.cdp().send_raw("Performance.enable", json!({})).await.expect("figures");
    browser.goto(&format!("{}?backend=cpu", server.url)).await;
    println!("| explanations | {} |", MEASURES.map(|(name, _)| name).join(" | "));
    let (mut begin, mut end) = (vec![0.0; MEASURES.len()], vec![0.0; MEASURES.len()]);
    for n in 1..=explanations {
        if n > 1 && n % EACH == 1 {
            choose(&browser, n / EACH % 2 == 1).await;
        }
        let prompt = format!("Ann has {n} figs. Bob has 4 nuts. What does Bob have?");
        explain_given(&browser, &prompt, &format!("Ann has {n} figs. Bob has 4 nuts.")).await;
        browser.explained().await;
        if n % EACH == 0 {
            let row = measured(&browser).await;
            let words = row.iter().map(|value| if *value > 1e6 { format!("{:.2} MB", value / 1e6) } else { value.to_string() });
            println!("| {n} | {} |", words.collect::<Vec<_>>().join(" | "));
            // The most of both models.
            let most = if n <= SETTLED { &mut begin } else { &mut end };
            most.iter_mut().zip(row).for_each(|(most, value)| *most = value.max(*most));
        }
    }
    for ((name, tolerance), (begin, end)) in MEASURES.iter().zip(begin.iter().zip(&end)) {
        assert!(*end <= begin * tolerance, "{name} grew from {begin} to {end}, more than by {tolerance}");
    }
    browser.close().await;
}
