//! `glasscage evaluate` and its deletion test, with the built-in model.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use glasscage::attribution::Transcript;
use glasscage::attribution::deletion::{deletion_scores, random_orders};
use glasscage::engine::Engine;
use glasscage::explanation::Document;
use glasscage::lm::{LanguageModel, ScoreRequest};
use glasscage::model::source::{Joined, NativeFile};
use glasscage::request::{BackendChoice, PassProgress, Question};
use glasscage::session::{AnswerResult, AnsweredQuestion, Session};
use serde_json::{Value, json};

use crate::cli::complaint;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");
const PROMPT: &str =
    "Tom has 5 boxes. Unrelated sentence. Each box holds 4 lamps. Tom buys 3 more lamps. How many lamps does Tom have in the end?";

fn session(model: &str, backend: BackendChoice) -> Session<Engine> {
    session_of_parts(&[model], backend)
}

/// Loads a model of one or more files.
fn session_of_parts(files: &[&str], backend: BackendChoice) -> Session<Engine> {
    let open = |file: &&str| NativeFile::open(Path::new(file)).expect("a model of the checkout");
    let file = Joined::new(files.iter().map(open).collect());
    let loaded = pollster::block_on(Session::load(&file, backend, &mut async |_| ControlFlow::Continue(())));
    loaded.expect("it loads").expect("loading is never broken off")
}

/// A new, empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

/// ln p of the generation, scored from its first token on.
fn scored_alone(lm: &mut Engine, transcript: &Transcript, tokens: &[u32]) -> f64 {
    let job = ScoreRequest::new(tokens, transcript.generation.clone(), &[]);
    let mut sum = f64::NAN;
    let score = lm.score(&job, async |_, readout| {
        sum = readout.log_probs.iter().sum();
        ControlFlow::Continue(())
    });
    pollster::block_on(score).expect("it scores");
    sum
}

#[test]
fn deletion_curve_matches_separate_scores() {
    for backend in [BackendChoice::Cpu, BackendChoice::Gpu] {
        let mut session = session(MODEL, backend);
        let question = Question { max_tokens: 100, ..Question::greedy(PROMPT) };
        let reply = pollster::block_on(session.answer(&question, &mut async |_| ControlFlow::Continue(())));
        let Ok(AnswerResult::Answered(answered)) = reply else { panic!("no answer") };
        let AnsweredQuestion { transcript, segments, .. } = *answered;
        let orders = random_orders(segments.prompt.len(), 2, 7);
        let mut passes = Vec::new();
        let curves = pollster::block_on(deletion_scores(&mut session.lm, &transcript, &segments, &orders, &mut async |pass| {
            passes.push(pass);
            ControlFlow::Continue(())
        }));
        let curves = curves.expect("it scores").expect("it is not broken off");
        for (order, curve) in orders.iter().zip(&curves) {
            let mut tokens = transcript.tokens.clone();
            assert!((curve[0] - scored_alone(&mut session.lm, &transcript, &tokens)).abs() < 1e-4);
            for (k, &j) in order.iter().enumerate() {
                tokens[segments.prompt[j].clone()].fill(transcript.end_token);
                let alone = scored_alone(&mut session.lm, &transcript, &tokens);
                assert!((curve[k + 1] - alone).abs() < 1e-3, "{} {alone}", curve[k + 1]);
            }
        }
        // Both orders end with all sentences deleted, which is measured once.
        let planned = passes[0].planned;
        assert!(planned < 2 * segments.prompt.len() && passes.last() == Some(&PassProgress { done: planned, planned }), "{passes:?}");
    }
}

#[test]
fn gallery_belongs_to_models_of_the_page() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/public/models");
    let built_in = session(&format!("{models}/demo.gguf"), BackendChoice::Cpu).loaded_model().model;
    let parts = [1, 2, 3].map(|part| format!("{models}/standard/standard-0000{part}-of-00003.gguf"));
    let standard = session_of_parts(&parts.each_ref().map(String::as_str), BackendChoice::Cpu).loaded_model().model;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("public/gallery");
    let known = include_str!("../../public/models/registry.json");
    let index: Value = serde_json::from_str(&fs::read_to_string(folder.join("index.json")).expect("an index")).expect("JSON");
    for entry in index["explanations"].as_array().expect("a list") {
        let json = fs::read_to_string(folder.join(entry["file"].as_str().expect("a name"))).expect("a document");
        let made_with = Document::from_json(&json).expect("a document").manifest.model;
        let is_right = match entry["file"].as_str().expect("a name") {
            // The page looks for the model of an ordinary text in its list.
            name if name.starts_with("smollm2-") => known.contains(&made_with.sha256),
            name if name.starts_with("standard-") => made_with == standard,
            _ => made_with == built_in,
        };
        assert!(is_right, "{entry}: make it again: glasscage gallery");
    }
}

fn evaluate(data: &Path, out: &Path, more: &[&str]) -> String {
    let data = data.to_str().expect("UTF-8");
    let output = Command::new(env!("CARGO_BIN_EXE_glasscage"))
        .args(["evaluate", "--model", MODEL, "--task", "demo", "--data", data, "--out", out.to_str().expect("UTF-8")])
        .args(more)
        .output()
        .expect("it starts");
    String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr }).into_owned()
}

#[test]
fn interrupted_evaluation_resumes_with_same_result() {
    let data = folder("evaluate").join("problems.jsonl");
    let answer = "The answer is 23.";
    let other = "Ann has 4 figs. Ann buys 2 more. How many figs does Ann have in the end?";
    let lines = [
        json!({"prompt": PROMPT, "answer": answer, "relevant": [0, 2, 3, 4]}),
        json!({"prompt": "", "answer": answer, "relevant": []}),
        json!({"prompt": other, "answer": "The answer is 6.", "relevant": [0, 1, 2]}),
    ];
    fs::write(&data, lines.map(|line| format!("{line}\n")).concat()).expect("a file");

    let (at_once, in_parts) = (folder("evaluate-at-once"), folder("evaluate-in-parts"));
    let whole = evaluate(&data, &at_once, &[]);
    assert!(whole.starts_with("2 problems explained, 1 skipped."), "{whole}");
    assert!(["pert", "clp", "CAGE wins", "random order", "relevant first"].iter().all(|word| whole.contains(word)), "{whole}");

    evaluate(&data, &in_parts, &["--limit", "1"]);
    let records = in_parts.join("records-1-of-1.jsonl");
    let first = fs::read_to_string(&records).expect("records");
    // Simulate a power failure in the middle of a line.
    fs::write(&records, format!("{first}{{\"item\": 1, \"outc")).expect("a file");
    assert_eq!(evaluate(&data, &in_parts, &[]), whole);
    let records = fs::read_to_string(&records).expect("records");
    assert!(records.starts_with(&first));
    let items: Vec<Value> = records.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["item"].clone()).collect();
    assert_eq!(items, [0, 1, 2]);

    let sharded = folder("evaluate-sharded");
    evaluate(&data, &sharded, &["--shard", "1/2"]);
    // Another one wrote half a character.
    fs::write(sharded.join("records-2-of-2.jsonl"), b"{\"item\": 1, \"outcome\": {\"skipped\": \"\xc3").expect("a file");
    assert_eq!(evaluate(&data, &sharded, &["--shard", "2/2"]), whole);
    assert_eq!(evaluate(&data, &sharded, &[]), whole, "each problem counts once");
    for more in [["--seed", "5"], ["--max-tokens", "9"]] {
        assert!(evaluate(&data, &sharded, &more).contains("another"), "records of two runs are not mixed");
    }
    let other = folder("evaluate-other").join("problems.jsonl");
    fs::write(&other, fs::read_to_string(&data).expect("problems").replace("5 boxes", "6 boxes")).expect("a file");
    assert!(evaluate(&other, &sharded, &[]).contains("another"), "of the same name, but another file");
}

#[test]
fn evaluate_reports_setup_errors_before_loading_model() {
    let folder = folder("evaluate-strange");
    let (data, out) = (folder.join("problems.jsonl"), folder.join("out"));
    fs::write(&data, format!("{}\n", json!({"prompt": PROMPT, "answer": "The answer is 23.", "relevant": [0]}))).expect("a file");
    fs::create_dir_all(&out).expect("a folder");
    fs::write(out.join("notes.jsonl"), "hello\n").expect("a file");
    let arguments =
        ["--model", "/nowhere.gguf", "--task", "demo", "--data", data.to_str().expect("UTF-8"), "--out", out.to_str().expect("UTF-8")];
    let said = |more: &[&str]| complaint(&[&["evaluate"], &arguments[..], more].concat(), "");
    assert!(said(&[]).contains("notes.jsonl"), "{}", said(&[]));
    assert!(said(&["--methods", "reagent-mlm"]).contains("--masked-lm"));
}

#[test]
fn an_evaluation_goes_on_where_nobody_reads_its_progress() {
    let folder = folder("evaluate-unread");
    let data = folder.join("problems.jsonl");
    fs::write(&data, format!("{}\n", json!({"prompt": "\u{feff}", "answer": "The answer is 23.", "relevant": []}))).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_glasscage"))
        .args(["evaluate", "--model", MODEL, "--task", "demo", "--data", data.to_str().expect("UTF-8")])
        .args(["--out", folder.join("out").to_str().expect("UTF-8")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("0 problems explained, 1 skipped."));
}

#[test]
fn external_attributions_are_evaluated_like_ours() {
    let folder = folder("evaluate-external");
    let (data, given) = (folder.join("problems.jsonl"), folder.join("attributions.jsonl"));
    let problem = json!({"prompt": PROMPT, "answer": "The answer is 23.", "relevant": [0, 2, 3, 4]});
    fs::write(&data, format!("{problem}\n")).expect("a file");
    let line =
        |attribution: &[f64]| format!("{}\n", json!({"item": 0, "method": "as known", "attribution": attribution, "cpu_seconds": 2.5}));
    let judge = |attribution: &[f64], out: &str| {
        fs::write(&given, line(attribution)).expect("a file");
        evaluate(&data, &folder.join(out), &["--methods", "flow", "--attributions", given.to_str().expect("UTF-8")])
    };
    let table = judge(&[0.25, 0.0, 0.25, 0.25, 0.25], "out");
    let row = |name: &str| table.lines().find_map(|line| line.strip_prefix(&format!("| {name} | | |"))).map(str::to_owned);
    assert!(row("as known").is_some() && row("as known") == row("relevant first"), "{table}");
    assert!(table.contains("less CAGE by flow") && table.contains("\n| as known | "), "{table}");
    let csv = fs::read_to_string(folder.join("out/results.csv")).expect("a table");
    let line = csv.lines().find(|line| line.contains("\"as known\",,,,,external,1,1,0,"));
    assert!(line.is_some_and(|line| line.ends_with(",2.5")), "{csv}");

    let refused = judge(&[0.5, 0.0, 0.5, 0.0, 0.0], "out");
    assert!(
        refused.contains("has records of another run, which differs in attributions; choose another --out"),
        "records of two files are not mixed: {refused}"
    );
    let refused = judge(&[0.25, 0.75], "other");
    assert!(refused.contains("item 0: as known has 2 numbers for 5 prompt sentences"), "{refused}");
}
