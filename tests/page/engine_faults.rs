//! Faults while a model loads, answers, measures, and while its explanation is on screen. [`super::faults`] has the table.

use super::browser::Browser;
use super::download_steps::{large_model, model_is_ready, small_storage};
use super::fault_steps::{BREAKS_DOWN, PAUSE, break_down, freeze, hold_at, is_held, trap_at};
use super::server::{Arrival, Server};
use super::site::sha256;
use super::steps::{ask, example_prompt, explain_given, file, server};

const NAME: &str = "mine.gguf";
const PROMPT: &str = "Ann has 3 figs. Bob has 4 nuts. What does Bob have?";
const ANSWER: &str = "Ann has 3 figs. Bob has 4 nuts. The answer is 4.";

/// Activity of the page when the fault occurs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Loading,
    Answering,
    Measuring,
    OnScreen,
}

/// A fault in one phase.
struct Case {
    phase: Phase,
    /// Script at the start of each worker. It causes the fault, or holds the worker so that the test can cause the fault in time.
    worker: String,
    /// Text in the problem that the page shows. Empty if the page shows no problem.
    says: &'static str,
}

/// Brings a page with a local model into the phase and calls `inject_fault` there. Checks that the page keeps everything, shows the
/// problem, and continues with the same model after one click.
async fn is_survived(browser: &Browser, server: &Server, url: &str, case: &Case, inject_fault: impl AsyncFn()) {
    let Case { phase, worker, says } = case;
    let model = large_model(1);
    server.begin_workers_with(worker);
    browser.goto(url).await;
    let answer = if *phase == Phase::Answering { "" } else { ANSWER };
    browser.open_details_of("given-answer").await;
    browser.fill("given-answer", answer).await;
    browser.fill("prompt-input", PROMPT).await;
    browser.choose_file("model-file", &file(NAME, &model)).await;
    if *phase != Phase::Loading {
        model_is_ready(browser).await;
        browser.click("explain-button").await;
    }
    if *phase == Phase::OnScreen {
        browser.explained().await;
    }
    let before = browser.picture().await;
    inject_fault().await;
    if !says.is_empty() {
        // Before that, the worker may not have requested its script yet.
        let problem = browser.problem().await;
        assert!(problem.contains(says), "{phase:?}: {problem}");
        browser.screenshot(&format!("fault-{phase:?}").to_lowercase()).await;
    }
    is_kept(browser, *phase, &before).await;

    server.begin_workers_with("");
    browser.click("explain-button").await;
    browser.explained().await;
    assert_eq!(browser.value("prompt-input").await, PROMPT, "{phase:?}");
    browser.shows("model-state", |text| text.starts_with(NAME)).await;
    browser.shows("manifest", |text| text.contains(&sha256(&model)[..8])).await;
}

/// Checks that the page kept what was typed, generated and measured before the fault.
async fn is_kept(browser: &Browser, phase: Phase, before: &[[String; 4]]) {
    assert_eq!(browser.value("prompt-input").await, PROMPT, "{phase:?}");
    match phase {
        Phase::Loading => assert_eq!(browser.value("given-answer").await, ANSWER, "what was typed"),
        Phase::Answering => browser.shows("unfinished", |text| !text.is_empty()).await,
        Phase::Measuring => {
            let picture = browser.picture().await;
            assert!(!picture[0][1].is_empty() && picture.iter().any(|row| row[1].is_empty()), "{picture:?}");
        }
        Phase::OnScreen => assert_eq!(browser.picture().await, before, "what was measured"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_engine_keeps_work_and_restarts_on_click() {
    let (server, _turn) = server().await;
    let in_use = "The engine stopped while \u{201c}mine.gguf\u{201d} was in use";
    for case in [
        Case {
            phase: Phase::Loading,
            worker: trap_at("engine", "Loading", 1),
            says: "The engine stopped while \u{201c}mine.gguf\u{201d} was loading",
        },
        Case { phase: Phase::Answering, worker: trap_at("engine", "Token", 5), says: in_use },
        Case { phase: Phase::Measuring, worker: trap_at("engine", "Column", 2), says: in_use },
        Case { phase: Phase::OnScreen, worker: BREAKS_DOWN.into(), says: in_use },
    ] {
        let browser = Browser::start(None).await;
        let inject_fault = async || {
            // In the other phases the worker script causes the fault.
            if case.phase == Phase::OnScreen {
                break_down(&browser).await;
            }
        };
        is_survived(&browser, &server, &server.url, &case, inject_fault).await;
        browser.close().await;
    }
    // No other model answers unless the visitor agrees.
    server.begin_workers_with(&trap_at("engine", "Loading", 1));
    let browser = Browser::open(&server.url).await;
    browser.choose_file("model-file", &file(NAME, &large_model(1))).await;
    browser.problem().await;
    server.begin_workers_with("");
    browser.pictures_of("fall-back", "fault-fall-back").await;
    browser.click("fall-back").await;
    browser.wait("the built-in model", async || browser.text("model-state").await.starts_with("Built-in model ready").then_some(())).await;
    assert!(browser.try_find("problem").await.is_none() && browser.try_find("fall-back").await.is_none());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_gpu_keeps_work_and_restarts_on_click() {
    let (server, _turn) = server().await;
    let url = format!("{}?backend=gpu", server.url);
    for case in [
        Case {
            phase: Phase::Loading,
            worker: hold_at("Loading", &[1]),
            says: "\u{201c}mine.gguf\u{201d} was not loaded: The GPU stopped working",
        },
        Case { phase: Phase::Answering, worker: hold_at("Token", &[3]), says: "GPU stopped working" },
        // Nothing uses the GPU now. The next run detects the loss.
        Case { phase: Phase::OnScreen, worker: String::new(), says: "" },
    ] {
        // Browsers disable a GPU after repeated losses, so each case starts a new browser.
        let browser = Browser::open(&url).await;
        server.hold(PAUSE);
        let inject_fault = async || {
            match case.phase {
                Phase::Loading => {
                    is_held(&browser, &server, "Loading").await;
                    browser.shows("model-state", |text| text.contains("needs about")).await;
                }
                Phase::Answering => {
                    is_held(&browser, &server, "Token").await;
                    browser.shows("status", |text| text.contains("is answering")).await;
                }
                _ => {}
            }
            browser.crash_gpu();
            server.release();
        };
        is_survived(&browser, &server, &url, &case, inject_fault).await;
        browser.shows("manifest", |text| text.contains("webgpu-software")).await;
        browser.close().await;
    }
}

/// A script at the start of each worker. Once the engine has loaded a model, the GPU computes half of the workgroups of each dispatch.
const COMPUTES_HALF: &str = "
    if (self.name === 'engine' && self.GPUComputePassEncoder) {
        const post = self.postMessage.bind(self);
        let isLoaded = false;
        self.postMessage = (message, ...rest) => {
            isLoaded ||= String(message).includes('\"Ready\"');
            post(message, ...rest);
        };
        const { prototype } = GPUComputePassEncoder;
        const { dispatchWorkgroups } = prototype;
        prototype.dispatchWorkgroups = function (x, ...rest) {
            return dispatchWorkgroups.call(this, isLoaded && x > 1 ? x >> 1 : x, ...rest);
        };
    }";

#[tokio::test(flavor = "multi_thread")]
async fn gpu_that_fails_after_loading_is_replaced_by_cpu() {
    let (server, _turn) = server().await;
    server.begin_workers_with(COMPUTES_HALF);
    let browser = Browser::open(&format!("{}?backend=gpu", server.url)).await;
    ask(&browser, &example_prompt()).await;
    let problem = browser.problem().await;
    assert!(problem.contains("GPU") && problem.contains("incorrectly") && problem.contains("CPU engine"), "{problem}");
    browser.pictures_of("problem", "fault-wrong-gpu").await;

    browser.click("explain-button").await;
    browser.explained().await;
    browser.shows("manifest", |text| text.contains("candle-cpu")).await;
    browser.shows("engine-notice", |text| text.contains("incorrectly") && text.contains("CPU engine")).await;
    let picture = browser.picture().await;
    browser.goto(&format!("{}?backend=cpu", server.url)).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    assert_eq!(browser.picture().await, picture);
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn engine_needs_network_only_once() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    server.set_unavailable(true);
    explain_given(&browser, PROMPT, ANSWER).await;
    let problem = browser.problem().await;
    assert!(problem.contains("The engine could not be downloaded") && problem.contains("connection"), "{problem}");
    assert_eq!((browser.value("prompt-input").await.as_str(), browser.value("given-answer").await.as_str()), (PROMPT, ANSWER));
    server.set_unavailable(false);
    browser.click("explain-button").await;
    browser.explained().await;

    // The engine and the model are in the browser now.
    server.set_unavailable(true);
    browser.set_online(false).await;
    browser.fill("given-answer", "").await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let picture = browser.picture().await;
    browser.click("sentence-G1").await;
    assert_ne!(browser.picture().await, picture, "what is on screen can be asked");
    assert!(browser.try_find("problem").await.is_none());
    browser.close().await;
}

/// The engine's program.
const PROGRAM: &str = "/engine_bg.wasm";
/// The built-in model.
const MODEL: &str = "/models/demo.gguf";

/// Explains while the connection breaks after `length` bytes of a file. Checks that the page requests the rest once, and no byte before
/// the first of these.
async fn continues_where_connection_broke(file: &str, length: usize) {
    let (server, _turn) = server().await;
    // The browser's cache would ask for parts by itself.
    server.set_headers(&[("cache-control", "no-store")]);
    server.next_arrives(file, Arrival::Cut(length));
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, PROMPT, ANSWER).await;
    browser.explained().await;
    assert!(browser.try_find("problem").await.is_none(), "{file}: there is a problem");
    let first = |range: &str| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok();
    let ranges = server.ranges_of(file);
    assert!(matches!(&ranges[..], [range] if first(range).is_some_and(|first| (1..=length).contains(&first))), "{file}: {ranges:?}");
    browser.close().await;
}

/// Explains while a file arrives more slowly in all than the longest silence, and then while it does not arrive. Checks that the page
/// waits the first time, shows a problem with these `words` the second time, and continues after one click.
async fn is_awaited_while_bytes_arrive(server: &Server, file: &str, words: &[&str]) {
    server.next_arrives(file, Arrival::Slow(60));
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, PROMPT, ANSWER).await;
    browser.explained().await;
    assert!(browser.try_find("problem").await.is_none(), "{file}: there is a problem");
    browser.close().await;

    let browser = Browser::open(&server.url).await;
    server.hold(file);
    explain_given(&browser, PROMPT, ANSWER).await;
    let problem = browser.problem().await;
    assert!(words.iter().all(|words| problem.contains(words)), "{file}: {problem}");
    server.release();
    browser.click("explain-button").await;
    browser.explained().await;
    browser.close().await;
}

/// The page's code for events of workers is a file of its own.
#[tokio::test(flavor = "multi_thread")]
async fn events_of_workers_wait_for_their_code() {
    let (server, _turn) = server().await;
    let part = "split_worker_updates";
    server.begin_workers_with(&hold_at("Ready", &[1]));
    let browser = Browser::open(&server.url).await;
    server.hold(part);
    explain_given(&browser, PROMPT, ANSWER).await;
    // Then the engine has sent events.
    is_held(&browser, &server, "Ready").await;
    server.release();
    browser.explained().await;
    browser.close().await;

    let names = std::fs::read_dir(server.dist()).expect("a folder").map(|file| file.expect("a file").file_name());
    let name = names.map(|name| name.to_string_lossy().into_owned()).find(|name| name.starts_with(part)).expect("the part is a file");
    server.remove(&name);
    let browser = Browser::open(&server.url).await;
    browser.click("models-button").await;
    browser.shows("models-problem", |text| text.contains("The model library could not be downloaded")).await;
    browser.shows("storage", str::is_empty).await;
    browser.click("models-close").await;
    explain_given(&browser, PROMPT, ANSWER).await;
    let problem = browser.problem().await;
    assert!(problem.contains("The engine could not be downloaded"), "{problem}");
    server.restore();
    server.remove("/sw.js");
    browser.click("explain-button").await;
    browser.explained().await;
    browser.click("models-button").await;
    browser.shows("storage", |text| text.contains("No model is stored") || text.contains("kept in memory")).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn engine_continues_where_its_connection_broke() {
    continues_where_connection_broke(PROGRAM, 400_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn engine_is_awaited_while_its_bytes_arrive() {
    let (server, _turn) = server().await;
    // The page gives up after this silence.
    server.hurry(90_000);
    is_awaited_while_bytes_arrive(&server, PROGRAM, &["The engine could not be downloaded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn built_in_model_continues_where_its_connection_broke() {
    continues_where_connection_broke(MODEL, 40_000).await;
}

/// A script at the start of each worker. Silences of the network take five seconds, fifty times the pause of [`Arrival::Slow`].
const SHORT_SILENCE: &str = "
    const wait = self.setTimeout.bind(self);
    self.setTimeout = (handler, millis, ...rest) => wait(handler, millis === 30000 ? 5000 : millis, ...rest);";

#[tokio::test(flavor = "multi_thread")]
async fn built_in_model_is_awaited_while_its_bytes_arrive() {
    let (server, _turn) = server().await;
    server.begin_workers_with(SHORT_SILENCE);
    is_awaited_while_bytes_arrive(&server, MODEL, &["could not be loaded", "the server does not respond"]).await;
}

/// A script at the start of each worker. Browsers make every short timer last four milliseconds, so the engine must have none.
const NO_SHORT_TIMERS: &str = "
    const wait = self.setTimeout.bind(self);
    self.setTimeout = (handler, millis, ...rest) => {
        if (self.name === 'engine' && !(millis > 4)) throw new Error('the engine waits for a timer');
        return wait(handler, millis, ...rest);
    };";

#[tokio::test(flavor = "multi_thread")]
async fn engine_waits_for_no_timer() {
    let (server, _turn) = server().await;
    server.begin_workers_with(NO_SHORT_TIMERS);
    let browser = Browser::open(&server.url).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    assert!(browser.try_find("problem").await.is_none());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_storage_does_not_prevent_explaining() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("model-file", &file(NAME, &large_model(1))).await;
    model_is_ready(&browser).await;
    browser.click("keep-copy").await;
    browser.wait("the copy", async || browser.text("copied").await.contains("kept in this browser").then_some(())).await;
    small_storage(&browser, &server, 1_000).await;
    browser.goto(&server.url).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    browser.shows("model-state", |text| text.starts_with(NAME)).await;
    let picture = browser.picture().await;
    browser.driver.refresh().await.expect("the page is loaded again");
    browser.find("sentence-G1").await;
    assert_eq!(browser.picture().await, picture);
    assert_eq!(browser.value("prompt-input").await, example_prompt());
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frozen_left_or_background_tab_continues() {
    let (server, _turn) = server().await;
    let moments = ["Loading", "Token", "Column"];
    server.begin_workers_with(&moments.map(|event| hold_at(event, &[2])).concat());
    let paths = moments.map(|event| format!("{PAUSE}{event}"));
    paths.iter().for_each(|path| server.hold(path));
    let browser = Browser::open(&server.url).await;
    let count = "window.frozen = 0; document.addEventListener('freeze', () => window.frozen += 1);";
    browser.driver.execute(count, Vec::new()).await.expect("a script runs");
    ask(&browser, &example_prompt()).await;
    let shown = [("model-state", "needs about"), ("status", "is answering"), ("status", "Measuring")];
    for ((event, path), (id, words)) in moments.iter().zip(&paths).zip(shown) {
        is_held(&browser, &server, event).await;
        browser.shows(id, |text| text.contains(words)).await;
        freeze(&browser).await;
        server.release_only(path);
    }
    browser.explained().await;
    let picture = browser.picture().await;
    assert!(picture.iter().filter(|row| row[0].starts_with('P')).all(|row| !row[1].is_empty()), "{picture:?}");
    freeze(&browser).await;
    let frozen = browser.driver.execute("return window.frozen", Vec::new()).await.expect("a number");
    assert_eq!((frozen.json().as_u64(), browser.picture().await), (Some(4), picture.clone()));

    // Leave the page and go back. The browser restores the page or loads it again.
    browser.driver.goto(format!("{}icon.svg", server.url)).await.expect("the icon opens");
    browser.driver.back().await.expect("the page comes back");
    browser.find("sentence-G1").await;
    assert_eq!((browser.picture().await, browser.value("prompt-input").await), (picture.clone(), example_prompt()));

    // The tab runs in the background, where timers are slow.
    browser.click("explain-button").await;
    let first = browser.driver.window().await.expect("a tab");
    let second = browser.driver.new_tab().await.expect("another tab");
    browser.driver.switch_to_window(second).await.expect("another tab");
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    browser.driver.switch_to_window(first).await.expect("the first tab");
    browser.explained().await;
    assert_eq!(browser.picture().await, picture);
    assert!(browser.try_find("problem").await.is_none());
    browser.close().await;
}
