//! Long use: many explanations in one tab, by two models in turn, must not increase the use of memory.
//!
//! The test clicks and reads through scripts, because a driver keeps every element that it has found, and with it the view of the element.

use serde_json::{Value, json};

use super::browser::Browser;
use super::download_steps::model_is_ready;
use super::split::demo_in_f32;
use super::steps::{file, server};

/// Number of explanations in one tab. The environment variable `GLASSCAGE_SOAK` overrides it, as in `cargo xtask test --soak`.
const EXPLANATIONS: usize = 60;
/// Number of explanations before the model changes.
const EACH: usize = 10;
/// After this number of explanations, nothing may grow.
const SETTLED: usize = 20;

/// Columns of the table. Each number is the maximum ratio of the largest value later to the largest value at the beginning.
const MEASURES: [(&str, f64); 6] =
    [("JSHeapUsedSize", 1.25), ("Nodes", 1.1), ("JSEventListeners", 1.1), ("page wasm", 1.1), ("engine wasm", 1.02), ("process", 1.25)];

/// Records the memories of the page's WebAssembly. Runs before the page itself.
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

async fn script(browser: &Browser, script: &str, arguments: Vec<Value>) -> Value {
    browser.driver.execute(script, arguments).await.expect("a script runs").json().clone()
}

/// Presses a button as soon as it exists.
async fn press(browser: &Browser, id: &str) {
    let press = "const button = document.querySelector(`[data-testid=${arguments[0]}]`); button?.click(); return !!button;";
    browser.wait(id, async || (script(browser, press, vec![json!(id)]).await == json!(true)).then_some(())).await;
}

/// Types, presses Explain, and waits until all is measured.
async fn explains(browser: &Browser, prompt: &str, answer: &str) {
    let ask = "for (const [id, text] of [['given-answer', arguments[1]], ['prompt-input', arguments[0]]]) {
            const field = document.querySelector(`[data-testid=${id}]`);
            field.value = text;
            field.dispatchEvent(new Event('input', { bubbles: true }));
        }";
    script(browser, ask, vec![json!(prompt), json!(answer)]).await;
    press(browser, "explain-button").await;
    let is_done = "const has = id => document.querySelector(`[data-testid=${id}]`);
        return !!has('problem') || (has('stop-button').disabled && !!has('sentence-G1'));";
    browser.wait("an explanation", async || (script(browser, is_done, Vec::new()).await == json!(true)).then_some(())).await;
    assert!(browser.try_find("problem").await.is_none(), "{}", browser.text("problem").await);
}

/// Measures one row of the table, in the order of [`MEASURES`]: bytes or counts.
async fn measured(browser: &Browser) -> Vec<f64> {
    let cdp = async |name: &str| browser.driver.cdp().send_raw(name, json!({})).await.expect("Chromium answers");
    // Collect twice, because objects that the first collection frees may keep others alive.
    cdp("HeapProfiler.collectGarbage").await;
    cdp("HeapProfiler.collectGarbage").await;
    let metrics: Value = cdp("Performance.getMetrics").await;
    let metric = |name: &str| {
        let metrics = metrics["metrics"].as_array().into_iter().flatten();
        metrics.filter(|metric| metric["name"] == name).filter_map(|metric| metric["value"].as_f64()).next()
    };
    let page =
        script(browser, "return window.memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0)", Vec::new()).await.as_f64();
    let engine = script(browser, "return Number(document.querySelector('[data-testid=work]').dataset.heapBytes)", Vec::new()).await;
    MEASURES
        .iter()
        .map(|(name, _)| match *name {
            "page wasm" => page.filter(|bytes| *bytes > 0.0).expect("the page is made of WebAssembly"),
            "engine wasm" => engine.as_f64().expect("the engine says what it takes"),
            "process" => browser.resident_bytes() as f64,
            name => metric(name).unwrap_or_else(|| panic!("Chromium measures no {name}")),
        })
        .collect()
}

/// Chooses one of the two models. The second needs four times the memory.
async fn choose(browser: &Browser, is_second: bool) {
    if is_second {
        browser.choose_file("model-file", &file("wide.gguf", &demo_in_f32())).await;
        return model_is_ready(browser).await;
    }
    press(browser, "models-button").await;
    press(browser, "use-built-in").await;
    browser.wait("the built-in model", async || browser.text("model-state").await.starts_with("Built-in model ready").then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_stays_constant_over_many_explanations() {
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
        explains(&browser, &prompt, &format!("Ann has {n} figs. Bob has 4 nuts.")).await;
        if n % EACH == 0 {
            let row = measured(&browser).await;
            let words = row.iter().map(|value| if *value > 1e6 { format!("{:.2} MB", value / 1e6) } else { value.to_string() });
            println!("| {n} | {} |", words.collect::<Vec<_>>().join(" | "));
            // Maximum over both models.
            let most = if n <= SETTLED { &mut begin } else { &mut end };
            most.iter_mut().zip(row).for_each(|(most, value)| *most = value.max(*most));
        }
    }
    for ((name, tolerance), (begin, end)) in MEASURES.iter().zip(begin.iter().zip(&end)) {
        assert!(*end <= begin * tolerance, "{name} grew from {begin} to {end}, more than by {tolerance}");
    }
    browser.close().await;
}
