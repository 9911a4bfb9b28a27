//! The way from a prompt to its explanation: Stop, a lost GPU, invalid input and settings, local files, documents of other programs.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glasscage::explanation::{Document, Producer, Section, SectionKind, title, to_fragment};
use glasscage::model::gguf::Gguf;
use glasscage::model::source::NativeFile;
use thirtyfour::Key;

use super::browser::{Browser, DESKTOP, Kind, PHONE};
use super::download_steps::download;
use super::fault_steps::{PAUSE, hold_at, stop_at};
use super::hub::Hub;
use super::site::sha256;
use super::steps::{ask, copied_link, demo_model, example_prompt, explain_given, file, open_link, reaches_pass, server};

#[tokio::test(flavor = "multi_thread")]
async fn explanation_link_shows_same_picture_without_engine() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.screenshot("start-light").await;
    ask(&browser, &example_prompt()).await;
    let began = Instant::now();
    browser.explained().await;
    println!("cold page, model not loaded: explained {:.1} s after the press", began.elapsed().as_secs_f64());
    // The test browser has no GPU. The page says so, as far as it can know.
    let notice = browser.text("engine-notice").await;
    assert!(notice.contains("no GPU") || notice.contains("no access to a GPU"), "{notice}");
    browser.find("engine-notice").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("engine-light").await;
    browser.look(PHONE, "dark").await;
    browser.find("engine-notice").await.scroll_into_view().await.expect("it can be scrolled to");
    browser.screenshot("engine-phone-dark").await;
    browser.look(DESKTOP, "light").await;

    // The last generated sentence is preselected, and its prompt shares sum to 100 within rounding.
    let picture = browser.picture().await;
    let last = picture.last().expect("sentences");
    assert!(last[0].starts_with('G') && last[3] == "true", "{picture:?}");
    let percent = |text: &str| text.trim_start_matches('<').trim_end_matches('%').parse::<f64>().unwrap_or(0.0);
    let sum: f64 = picture.iter().filter(|row| row[0].starts_with('P')).map(|row| percent(&row[1])).sum();
    assert!((sum - 100.0).abs() < 8.0, "{picture:?}");
    browser.screenshot("explained-light").await;
    browser.look(DESKTOP, "dark").await;
    browser.screenshot("explained-dark").await;
    browser.look(PHONE, "light").await;
    browser.screenshot("explained-phone").await;
    browser.look(DESKTOP, "light").await;

    // Another selected output changes the picture.
    browser.click("sentence-G1").await;
    let other = browser.picture().await;
    assert_ne!(other, picture);
    assert!(other.iter().any(|row| row[0] == "G1" && row[3] == "true"));

    let link = copied_link(&browser).await;
    browser.close().await;

    server.take_requests();
    let visitor = Browser::open(&link).await;
    visitor.find("sentence-G1").await;
    assert_eq!(visitor.picture().await, other);
    let requests = server.take_requests();
    assert!(!requests.iter().any(|path| path.contains("engine") || path.contains(".gguf")), "{requests:?}");
    visitor.shows("badge", |text| !text.is_empty()).await;
    visitor.click(&format!("sentence-{}", last[0])).await;
    assert_eq!(visitor.picture().await, picture);
    visitor.screenshot("shared-light").await;
    visitor.look(PHONE, "dark").await;
    visitor.screenshot("shared-phone-dark").await;
    visitor.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gpu_and_cpu_draw_the_same_picture() {
    let (server, _turn) = server().await;
    let mut pictures = Vec::new();
    // A byte order mark that was pasted with the prompt changes nothing.
    for (choice, backend, mark) in [("cpu", "candle-cpu", ""), ("gpu", "webgpu-software", "\u{feff}")] {
        let browser = Browser::open(&format!("{}?backend={choice}", server.url)).await;
        ask(&browser, &format!("{mark}{}", example_prompt())).await;
        browser.explained().await;
        browser.shows("manifest", |text| text.contains(backend)).await;
        assert!(browser.try_find("engine-notice").await.is_none(), "what was asked for needs no word");
        let gpu = if choice == "gpu" { browser.gpu_words() } else { "" };
        browser.shows("model-state", |text| text.contains(&format!("on {backend}{gpu},"))).await;
        pictures.push(browser.picture().await);
        browser.screenshot(&format!("on-{choice}-light")).await;
        browser.close().await;
    }
    assert_eq!(pictures[0], pictures[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_links_and_models_show_problems() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&format!("{}#g1.garbage", server.url)).await;
    assert!(browser.problem().await.contains("link"));
    browser.screenshot("problem-light").await;

    let demo = demo_model();
    for (name, content, says) in [
        ("story.gguf", &b"Once upon a time there was a model."[..], "not a GGUF"),
        ("cut.gguf", &demo[..demo.len() / 2], "cut off"),
        ("header.gguf", &demo[..1000], "cut off"),
        ("empty.gguf", b"", "not a GGUF"),
    ] {
        browser.goto(&server.url).await;
        browser.choose_file("model-file", &file(name, content)).await;
        let problem = browser.problem().await;
        assert!(problem.contains(says), "{name}: {problem}");
    }
    browser.goto(&server.url).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_model_file_is_read_in_place_and_explains() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.choose_file("model-file", &file("mine.gguf", &demo_model())).await;
    browser.wait("the model", async || browser.text("model-state").await.contains("ready").then_some(())).await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let requests = server.take_requests();
    assert!(!requests.iter().any(|path| path.contains(".gguf")), "{requests:?}");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_opens_document_from_command_line() {
    let (server, _turn) = server().await;
    let folder = Kind::chosen().folder();
    std::fs::create_dir_all(&folder).expect("a folder");
    let out = folder.join("explained.json");
    let command = Command::new(env!("CARGO_BIN_EXE_glasscage"))
        .args([
            "explain",
            "--model",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf"),
            "--prompt",
            &example_prompt(),
        ])
        .arg("--json")
        .arg(&out)
        .output()
        .expect("the command runs");
    assert!(command.status.success(), "{}", String::from_utf8_lossy(&command.stderr));
    let browser = Browser::open(&server.url).await;
    browser.choose_file("open-json", &out).await;
    let model = sha256(&demo_model());
    browser.shows("manifest", |text| text.contains("candle-cpu") && text.contains(&model[..8])).await;
    let document = Document::from_json(&std::fs::read_to_string(&out).expect("an explanation")).expect("an explanation");
    assert_eq!(browser.driver.title().await.expect("a title"), format!("{} - Glasscage", title(&document)));
    browser.choose_file("open-json", &file("cake.json", b"{\"flour\": 500}")).await;
    assert!(browser.problem().await.contains("not an explanation"));
    assert!(browser.try_find("sentence-G1").await.is_some(), "what was open stays open");
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_document_shows_thinking_unit_and_producer() {
    let mut document = Document::from_json(include_str!("../../crates/core/tests/golden/linked.json")).expect("the example");
    let thoughts = document.generation.sentences.len() - 1;
    Arc::make_mut(&mut document.generation).sections = vec![
        Section { kind: SectionKind::Thought, sentences: thoughts, run: 1 },
        Section { kind: SectionKind::Answer, sentences: 1, run: 1 },
    ];
    document.method.id = "integrated gradients".into();
    document.method.unit = Some("logits".into());
    document.manifest.producer = Some(Producer { name: "Inseq".into(), version: "0.7".into() });

    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_link(&browser, &format!("{}#{}", server.url, to_fragment(&document))).await;
    let grid = browser.text("sentences").await;
    let places = ["Prompt", "Thinking", "Answer"].map(|title| grid.find(title));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?} in {grid}");
    browser.click("exactly").await;
    browser.shows("verdict", |text| text.contains("logits")).await;
    let manifest = browser.text("manifest").await;
    assert!(manifest.contains("Inseq 0.7") && manifest.contains("integrated gradients"), "{manifest}");
    browser.screenshot("thoughts-light").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_without_support_is_marked() {
    let mut document = Document::from_json(include_str!("../../crates/core/tests/golden/linked.json")).expect("the example");
    document.support = vec![0.01; document.generation.sentences.len()];
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    open_link(&browser, &format!("{}#{}", server.url, to_fragment(&document))).await;
    browser.shows("verdict", |text| text.contains("Nothing in the prompt supports this")).await;
    for tab in ["tab-path", "tab-table", "tab-methods", "tab-without"] {
        browser.click(tab).await;
        browser.shows("unsupported", |text| text.contains("mean nothing")).await;
    }
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_keeps_the_answer_so_far() {
    let (server, _turn) = server().await;
    // The first answer stops at its fifth token. Its explanation sends the five again, and the longer answer stops at its seventh.
    server.begin_workers_with(&hold_at("Token", &[5, 5 + 5 + 7]));
    server.hold(PAUSE);
    let browser = Browser::open(&format!("{}?backend=gpu", server.url)).await;
    // The model was not trained on such input. It continues until it repeats itself.
    ask(&browser, "Hi.").await;
    stop_at(&browser, &server, "Token").await;
    browser.find("unfinished").await;
    browser.stopped().await;
    browser.screenshot("stopped-light").await;
    assert_eq!(browser.value("prompt-input").await, "Hi.");
    assert_eq!(browser.value("given-answer").await, "", "nobody gave it");
    let so_far = browser.text("unfinished").await;
    browser.pictures_of("unfinished", "stopped").await;

    // Explain the stopped text as the model's own answer. It ends where it was stopped, and the visitor can continue it.
    browser.click("explain-so-far").await;
    browser.explained().await;
    browser.shows("cut", |text| text.starts_with("The answer was cut off at")).await;
    browser.pictures_of("cut", "cut").await;
    let explained = browser.text("sentence-G1").await;
    assert!(explained.contains(so_far.split(['.', '\n']).next().expect("a text").trim()), "{so_far} {explained}");
    server.hold(PAUSE);
    // The model answers again from the beginning.
    browser.click("lengthen").await;
    stop_at(&browser, &server, "Token").await;
    browser.wait("a longer answer", async || (browser.try_text("unfinished").await?.len() > so_far.len()).then_some(())).await;
    browser.stopped().await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_while_measuring_keeps_the_columns_that_are_done() {
    let (server, _turn) = server().await;
    server.begin_workers_with(&hold_at("Column", &[3]));
    server.hold(PAUSE);
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, &"Tom has 3 figs. ".repeat(20), &"Tom has 3 figs. ".repeat(12)).await;
    reaches_pass(&browser, 3).await;
    assert!((1..31).contains(&browser.n_estimated().await), "what is not measured yet is estimated");
    browser.shows("status", |text| text.contains("estimate from the information flow")).await;
    browser.screenshot("measuring-light").await;
    stop_at(&browser, &server, "Column").await;
    browser.stopped().await;
    assert_eq!(browser.n_estimated().await, 0, "what was not measured is not told after the run");
    browser.shows("status", |text| text.contains("of 240 forward passes")).await;
    let shares: Vec<bool> = browser.picture().await.iter().map(|row| !row[1].is_empty()).collect();
    assert!(shares[0] && !shares[30], "measured sentences have a share, the others have none");
    browser.screenshot("partial-light").await;

    // The page hides the graph if the text does not fit on one printed page, because printing would cut the graph.
    browser.driver.execute("dispatchEvent(new Event('beforeprint'))", Vec::new()).await.expect("a script runs");
    assert!(!browser.find("graph").await.is_displayed().await.expect("it is there"));
    browser.driver.execute("dispatchEvent(new Event('afterprint'))", Vec::new()).await.expect("a script runs");
    assert!(browser.find("graph").await.is_displayed().await.expect("it is there"));
    browser.print("printed-long").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_gpu_while_measuring_keeps_shares() {
    let (server, _turn) = server().await;
    // The engine waits there until the GPU is lost.
    server.begin_workers_with(&hold_at("Column", &[3]));
    server.hold(PAUSE);
    let browser = Browser::open(&format!("{}?backend=gpu", server.url)).await;
    explain_given(&browser, &"Tom has 3 figs. ".repeat(6), &"Tom has 3 figs. ".repeat(4)).await;
    let is_measured = async || browser.picture().await.first().is_some_and(|row| !row[1].is_empty()).then_some(());
    browser.wait("some shares", is_measured).await;
    browser.wait("some estimates", async || (1..9).contains(&browser.n_estimated().await).then_some(())).await;
    browser.crash_gpu();
    server.begin_workers_with("");
    server.release();
    assert!(browser.problem().await.contains("GPU stopped working"), "{}", browser.problem().await);
    browser.screenshot("gpu-lost-light").await;
    assert!(!browser.picture().await[0][1].is_empty(), "what was measured stays");
    explain_given(&browser, "Ann has 3 figs. Bob has 4 nuts.", "Ann has 3 figs. The answer is 4.").await;
    browser.explained().await;
    browser.shows("manifest", |text| text.contains("webgpu-software")).await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn given_answer_allows_several_output_sentences() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, "Ann has 3 figs. Bob has 4 nuts. What does Bob have?", "Ann has 3 figs. Bob has 4 nuts. The answer is 4.")
        .await;
    browser.explained().await;
    browser.shows("manifest", |text| text.contains("provided, not written by the model")).await;
    browser.click_with("sentence-G1", Key::Control).await;
    let selected =
        |picture: &[[String; 4]]| -> Vec<String> { picture.iter().filter(|row| row[3] == "true").map(|row| row[0].clone()).collect() };
    assert_eq!(selected(&browser.picture().await), ["G1", "G3"]);
    browser.click("tab-table").await;
    let table = browser.text("table").await;
    assert!(["P1", "P3", "G3"].iter().all(|label| table.contains(label)), "{table}");
    browser.screenshot("table-light").await;
    browser.look(DESKTOP, "dark").await;
    browser.screenshot("table-dark").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_other_scripts_are_cut_as_a_reader_would() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    explain_given(&browser, "1. Ann has 3 figs.\n2. Bob has 4 nuts, e.g. Hazelnuts.\nBob有几个？", "他有四个。 The answer is 4.").await;
    browser.explained().await;
    let labels: Vec<String> = browser.picture().await.into_iter().map(|[label, ..]| label).collect();
    assert_eq!(labels, ["P1", "P2", "P3", "G1", "G2"]);
    browser.shows("manifest", |text| text.contains("other scripts")).await;
    browser.screenshot("other-scripts").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_that_cannot_be_explained_get_a_sentence_and_stay() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.look(PHONE, "light").await;
    browser.click("explain-button").await;
    assert!(browser.problem().await.contains("prompt"));
    assert!(browser.is_in_view("problem").await && browser.is_in_view("explain-button").await, "it is said at the button");
    browser.screenshot("no-prompt-phone").await;
    ask(&browser, &example_prompt()).await;
    browser.explained().await;
    let long = "All is well. ".repeat(400);
    ask(&browser, &long).await;
    browser.wait("what is wrong", async || browser.problem().await.contains("tokens").then_some(())).await;
    assert!(browser.is_in_view("problem").await && browser.is_in_view("explain-button").await, "it is said at the button");
    assert!(browser.try_find("sentence-G1").await.is_none(), "what explains another prompt is not below this one");
    browser.screenshot("too-long-phone").await;
    assert_eq!(browser.value("prompt-input").await, long);
    browser.driver.back().await.expect("the page goes back");
    browser.find("sentence-G1").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_settings_are_marked_and_prevent_run() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.open_details_of("max-tokens").await;
    for wrong in ["99999", "3.5", "0"] {
        browser.fill("max-tokens", wrong).await;
        let says = async |words: &str| (browser.text("max-tokens-wrong").await == words).then_some(());
        browser.wait("what is wrong", async || says("a whole number from 1 to 4,096").await).await;
        ask(&browser, &example_prompt()).await;
        assert!(browser.problem().await.contains("Maximum answer length"), "{}", browser.problem().await);
        assert!(!browser.is_running().await);
    }
    browser.pictures_of("max-tokens", "wrong-setting").await;
    browser.fill("max-tokens", "12").await;
    browser.wait("that it is right", async || browser.text("max-tokens-wrong").await.is_empty().then_some(())).await;
    browser.click("explain-button").await;
    browser.wait("the cut answer", async || browser.try_find("cut").await).await;
    browser.shows("cut", |text| text.contains("12 tokens")).await;
    browser.close().await;
}

/// `cargo xtask test --large` makes the models: random weights in the shapes of Qwen3-0.6B and of Qwen3.5-0.8B, with Qwen3's vocabulary.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "cargo xtask test --large"]
async fn large_model_meets_memory_limits_and_stops() {
    let (server, _turn) = server().await;
    let model = std::env::var("GLASSCAGE_LARGE_MODEL").expect("GLASSCAGE_LARGE_MODEL names the model file");
    let hub = Hub::start(&[("large.gguf", std::fs::read(&model).expect("the model file"))]).await;
    let mut browser = Browser::open(&format!("{}?backend=gpu", server.url)).await;
    browser.timeout = Duration::from_secs(900);
    let began = Instant::now();
    download(&browser, &hub.address("large.gguf")).await;
    let state = async |words: &str| browser.text("model-state").await.contains(words).then_some(());
    browser.wait("what it needs", async || state("of memory").await).await;
    println!("downloaded and verified in {:.1} s", began.elapsed().as_secs_f64());
    assert!(hub.take_sent() <= std::fs::metadata(&model).expect("the model file").len());
    hub.take_asked();
    // Later visits start with the stored model.
    browser.driver.goto(&format!("{}?backend=gpu", server.url)).await.expect("the page opens");
    let began = Instant::now();

    browser.open_details_of("max-tokens").await;
    browser.fill("max-tokens", "3").await;
    ask(&browser, "Why?").await;
    browser.explained().await;
    println!("from the browser's storage to three tokens in {:.1} s: {}", began.elapsed().as_secs_f64(), browser.text("work").await);
    assert!(hub.take_asked().is_empty(), "what is stored is not asked for again");
    browser.screenshot("large-answered").await;

    let source = NativeFile::open(Path::new(&model)).expect("the model file");
    let gguf = Gguf::read(&source).await.expect("a GGUF file");
    let header = gguf.tensors.iter().map(|tensor| tensor.offset).min().expect("tensors");
    let gpu_bytes: f64 = browser.attribute("work", "data-gpu-bytes").await;
    let heap_bytes: f64 = browser.attribute("work", "data-heap-bytes").await;
    let file = gguf.size as f64;
    println!(
        "GPU {:.2} times the file, heap {:.0} MiB beside a header of {:.0} MiB",
        gpu_bytes / file,
        heap_bytes / 1048576.0,
        header as f64 / 1048576.0
    );
    assert!(gpu_bytes <= 1.6 * file, "{gpu_bytes} {file}");
    assert!(heap_bytes <= header as f64 + 67108864.0, "{heap_bytes} {header}");

    explain_given(&browser, &"Ann has 3 figs. ".repeat(9), "Ann has 3 figs. The answer is 4.").await;
    browser.wait("the first pass", async || browser.text("status").await.contains("of 55").then_some(())).await;
    browser.click("stop-button").await;
    let began = Instant::now();
    browser.stopped().await;
    println!("stopped after {:?}", began.elapsed());
    browser.shows("status", |text| text.contains("Stopped after")).await;
    browser.screenshot("large-stopped").await;
    browser.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_above_context_setting_reports_limits() {
    let (server, _turn) = server().await;
    let browser = Browser::open(&server.url).await;
    browser.open_details_of("max-context").await;
    browser.fill("max-context", "40").await;
    let prompt = "Ann has 3 figs. Bob has 4 nuts. ".repeat(6);
    ask(&browser, &prompt).await;
    let problem = browser.problem().await;
    assert!(problem.contains("more than the 40 that the settings allow") && problem.contains("1024"), "{problem}");
    assert_eq!(browser.value("prompt-input").await.trim(), prompt.trim());
    browser.shows("text-memory", |text| text.contains("40 tokens")).await;
    browser.screenshot("too-long-light").await;
    browser.close().await;
}
