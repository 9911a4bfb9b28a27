//! The command line in scripts: JSON lines in and out, exit code 2 and one line for invalid input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use glasscage::explanation::{Branch, Document};
use serde_json::{Value, json};

use crate::split_model::demo_in_parts;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/demo.gguf");

pub fn glasscage(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_glasscage"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The program may end without reading if the arguments are invalid.
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).ok();
    child.wait_with_output().expect("it ends")
}

/// The JSON lines of the output.
fn lines(arguments: &[&str], input: &[Value]) -> Vec<Value> {
    let output = glasscage(arguments, &input.iter().map(|line| format!("{line}\n")).collect::<String>());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one-line error message.
pub fn complaint(arguments: &[&str], input: &str) -> String {
    let output = glasscage(arguments, input);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!error.contains("panicked"), "{error}");
    error
}

#[test]
fn closed_pipe_ends_output_without_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_glasscage"))
        .args(["explain", "--help"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    // The reading end is closed before anything is written, or soon after.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn masked_method_without_model_names_option() {
    let to = ["--model", DEMO, "--method", "reagent-mlm", "--prompt", "Tom has 5 apples.", "--json", "unwritten.json"];
    assert!(complaint(&[&["explain"][..], &to].concat(), "").contains("--masked-lm"));
    let to = ["--model", DEMO, "--data", "none", "--task", "demo", "--methods", "pert,reagent-mlm", "--out", "unwritten"];
    assert!(complaint(&[&["evaluate"][..], &to].concat(), "").contains("--masked-lm"));
}

#[test]
fn split_counts_code_points() {
    let output = lines(&["split"], &[json!({"text": "Zoë came. She left.\nBye."}), json!({"text": ""})]);
    assert_eq!(output, [json!({"sentences": [[0, 9], [10, 19], [20, 24]]}), json!({"sentences": []})]);
}

#[test]
fn split_counts_in_the_text_as_it_came() {
    let output = lines(&["split"], &[json!({"text": "\u{feff}A.\r\nB.\r\rCats sleep."}), json!({"text": "\u{feff}\r\n"})]);
    assert_eq!(output, [json!({"sentences": [[1, 3], [5, 7], [9, 20]]}), json!({"sentences": []})]);
    let with_mark = glasscage(&["split"], "\u{feff}{\"text\": \"A.\"}\r\n");
    assert_eq!(String::from_utf8_lossy(&with_mark.stdout), "{\"sentences\":[[0,2]]}\n");
}

/// A new, empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_text_is_the_same_however_its_file_was_made() {
    let folder = folder("texts");
    let [prompt, answer, json] = ["prompt.txt", "answer.txt", "a.json"].map(|name| folder.join(name).display().to_string());
    let explained = |prompt_text: &str, answer_text: &str| {
        std::fs::write(&prompt, prompt_text).unwrap();
        std::fs::write(&answer, answer_text).unwrap();
        let files = ["--prompt-file", &prompt, "--answer-file", &answer, "--json", &json];
        let output = glasscage(&[&["explain", "--model", DEMO, "--method", "pert"][..], &files].concat(), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(&json).unwrap()
    };
    let plain = explained("Tom has 6 figs.\nHe eats 2.", "6 - 2 = 4.\nSo 4.");
    assert_eq!(explained("Tom has 6 figs.\nHe eats 2.\n", "6 - 2 = 4.\nSo 4.\n"), plain);
    assert_eq!(explained("\u{feff}Tom has 6 figs.\r\nHe eats 2.\r\n", "\u{feff}6 - 2 = 4.\rSo 4.\r"), plain);
    assert_ne!(explained("Tom has 6 figs.\nHe eats 2.\n\n", "6 - 2 = 4.\nSo 4."), plain, "one line end alone");
}

#[test]
fn conversation_is_printed_with_its_speakers() {
    let json = folder("conversation").join("a.json").display().to_string();
    let turns = "System: Be brief.\nUser: Tom has 6 figs.\nAssistant: So 6.\nUser: He eats 2. How many figs?";
    let asked = |prompt: &str, more: &[&str]| {
        let asked = ["explain", "--model", DEMO, "--prompt", prompt, "--method", "pert", "--max-tokens", "20", "--json", &json];
        let output = glasscage(&[&asked[..], more].concat(), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).expect("text"), std::fs::read_to_string(&json).expect("a document"))
    };
    let (printed, document) = asked(turns, &["--conversation"]);
    let document = Document::from_json(&document).expect("a document");
    assert!(document.turns[2].explained && document.generation.text.starts_with("So 6.\n\n"), "{:?}", document.turns);
    let (as_given, given) = asked(turns, &["--conversation", "--earlier-answers", "given"]);
    let given = Document::from_json(&given).expect("a document");
    assert!(given.turns.iter().all(|turn| !turn.explained) && given.generation.text == document.last_answer_text());
    assert_eq!(as_given.lines().next(), printed.lines().next(), "the last answer");
    assert_eq!(document.turns.iter().map(|turn| turn.sentences).collect::<Vec<_>>(), [1, 1, 1, 2]);
    assert_eq!(["System:", "User:", "Assistant:"].map(|name| printed.lines().filter(|line| line.trim() == name).count()), [1, 2, 1]);
    let (as_text, _) = asked(turns, &[]);
    assert!(as_text.contains("User: Tom has 6 figs."), "{as_text}");
    let with_answer = format!("{turns}\nAI: 6 - 2 = 4.");
    let (_, document) = asked(&with_answer, &["--conversation", "--last-answer"]);
    let document = Document::from_json(&document).expect("a document");
    assert_eq!((document.last_answer_text(), document.turns.len()), ("6 - 2 = 4.", 4));
    let refused = |prompt: &str, more: &[&str]| {
        complaint(&[&["explain", "--model", DEMO, "--prompt", prompt, "--json", &json, "--conversation"][..], more].concat(), "")
    };
    assert!(refused(&with_answer, &[]).contains("ends with an answer"));
    assert!(refused(turns, &["--last-answer"]).contains("--last-answer"));
    assert!(refused("Tom has 6 figs.", &[]).contains("not a conversation"));
    let without_conversation = ["explain", "--model", DEMO, "--prompt", turns, "--json", &json, "--earlier-answers", "given"];
    assert!(complaint(&without_conversation, "").contains("--conversation"));
    assert!(refused(turns, &["--template", "none"]).contains("turned off"));
}

#[test]
fn tokens_are_printed_on_request() {
    let json = folder("tokens").join("a.json").display().to_string();
    let asked = ["explain", "--model", DEMO, "--prompt", "Tom has 6 figs. He eats 2. How many figs?", "--method", "pert", "--json", &json];
    let printed = |more: &[&str]| {
        let output = glasscage(&[&asked[..], more].concat(), "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let with_tokens = printed(&["--tokens"]);
    let document = Document::from_json(&std::fs::read_to_string(&json).unwrap()).expect("a document");
    let n_tokens: usize = document.generation.tokens.iter().sum();
    assert_eq!((document.version, document.tokens.len()), (3, n_tokens));
    assert!(with_tokens.starts_with(&printed(&[])), "the rest is printed as without the option");
    assert_eq!(with_tokens.lines().filter(|line| line.contains("  or \"")).count(), n_tokens, "{with_tokens}");
}

#[test]
fn a_split_model_opens_by_any_of_its_parts() {
    let folder = folder("parts");
    let file = |i: usize| folder.join(format!("demo-{i:05}-of-00003.gguf"));
    demo_in_parts(3).iter().enumerate().for_each(|(i, bytes)| std::fs::write(file(i + 1), bytes).unwrap());
    let text = [json!({"text": "Robin has 3 figs."})];
    let whole = lines(&["score", "--model", DEMO], &text);
    for i in 1..=3 {
        assert_eq!(lines(&["score", "--model", file(i).to_str().unwrap()], &text), whole);
    }
    let renamed = folder.join("first.gguf");
    std::fs::copy(file(1), &renamed).unwrap();
    for command in ["score", "tokenize"] {
        let said = complaint(&[command, "--model", renamed.to_str().unwrap()], "");
        assert!(said.contains("first.gguf is part 1 of 3 of a model") && said.contains("model-00001-of-00003.gguf"), "{said}");
    }
    let upper = |i: usize| folder.join(format!("DEMO-{i:05}-of-00003.GGUF"));
    for i in 1..=3 {
        std::fs::copy(file(i), upper(i)).unwrap();
    }
    assert_eq!(lines(&["score", "--model", upper(2).to_str().unwrap()], &text), whole);
    std::fs::write(upper(3), "no model").unwrap();
    let said = complaint(&["score", "--model", upper(1).to_str().unwrap()], "");
    assert!(said.contains("DEMO-00003-of-00003.GGUF: ") && !said.contains("DEMO-00001"), "{said}");
    std::fs::remove_file(file(2)).unwrap();
    let said = complaint(&["tokenize", "--model", file(3).to_str().unwrap()], "");
    assert!(said.contains("3 files") && said.contains("missing: ") && said.contains("demo-00002-of-00003.gguf"), "{said}");
}

#[test]
fn invalid_output_fails_before_work() {
    let folder = folder("early");
    let explain = |more: &[&str]| complaint(&[&["explain", "--model", "/nowhere.gguf", "--prompt", "Hi."][..], more].concat(), "");
    assert!(explain(&["--json", "/nowhere/a.json"]).contains("cannot write /nowhere/a.json"));
    let json = folder.join("a.json").display().to_string();
    assert!(explain(&["--json", &json, "--method", "reagent-mlm"]).contains("--masked-lm"));
    assert!(explain(&["--json", &json]).contains("/nowhere.gguf"));
    assert!(!Path::new(&json).exists(), "nothing stays of an attempt");
    let bench = ["bench", "--model", "/nowhere.gguf", "--json", "/nowhere/a.json"];
    assert!(complaint(&bench, "").contains("cannot write /nowhere/a.json"));
    let answer = folder.join("answer.txt").display().to_string();
    std::fs::write(&answer, "6 - 2 = 4.\nSo 4.\n").unwrap();
    let given = ["explain", "--model", DEMO, "--prompt", "Tom has 6 figs.", "--answer-file", &answer, "--json", &json, "--output"];
    let said = complaint(&[&given[..], &["2,3"]].concat(), "");
    assert!(said.contains("--output 2,3: the answer has only 2 sentences"), "{said}");
    assert!(!Path::new(&json).exists(), "nothing is measured for an answer without the sentence");
    assert!(glasscage(&[&given[..], &["2"]].concat(), "").status.success());
    let many = "Go.\n".repeat(1000);
    let output = glasscage(&["explain", "--model", &demo_with_a_long_context(&folder), "--prompt", &many, "--json", &json], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1001 sentences") && output.stdout.is_empty(), "{said}");
    let work = folder.join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("thesis.tex"), "years").unwrap();
    let said = complaint(&["gallery", "--model", "/nowhere.gguf", "--out", work.to_str().unwrap()], "");
    assert!(said.contains("not a gallery") && said.contains("thesis.tex"), "{said}");
    assert_eq!(std::fs::read_to_string(work.join("thesis.tex")).unwrap(), "years");
}

/// The demo model with a longer context length in its metadata.
pub fn demo_with_a_long_context(folder: &Path) -> String {
    const KEY: &[u8] = b"qwen3.context_length";
    let (mut model, file) = (std::fs::read(DEMO).unwrap(), folder.join("long.gguf"));
    // The type of the value (four bytes) and the number follow the key.
    let at = model.windows(KEY.len()).position(|window| window == KEY).unwrap() + KEY.len() + 4;
    model[at..at + 4].copy_from_slice(&16_384_u32.to_le_bytes());
    std::fs::write(&file, model).unwrap();
    file.display().to_string()
}

#[test]
fn an_answer_is_printed_also_where_it_cannot_be_explained() {
    let json = folder("unexplained").join("a.json");
    let run = |json: &str| {
        let question = ["--prompt", "Tom has 2 figs.", "--max-tokens", "8", "--method", "pert"];
        glasscage(&[&["explain", "--model", DEMO, "--json", json][..], &question].concat(), "")
    };
    let explained = run(json.to_str().unwrap());
    assert!(explained.status.success());
    let answer = String::from_utf8_lossy(&explained.stdout).lines().next().unwrap().to_owned();
    // A device that accepts no data.
    let full = run("/dev/full");
    assert_eq!(full.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&full.stdout).contains(&answer));
    assert!(String::from_utf8_lossy(&full.stderr).contains("cannot write /dev/full"));
}

/// The document of a short answer to `prompt`, whose texts are split by `rule`.
fn explained(prompt: &str, rule: &str) -> Value {
    // Tests run in parallel.
    static EXPLAINED: AtomicUsize = AtomicUsize::new(0);
    let number = EXPLAINED.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-explained-{number}"));
    std::fs::create_dir_all(&folder).unwrap();
    let [answer, json] = ["answer.txt", "explained.json"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&answer, "The answer is 4.").unwrap();
    let sentences = ["--sentences", rule, "--answer-file", &answer, "--json", &json];
    let output = glasscage(&[&["explain", "--model", DEMO, "--prompt", prompt][..], &sentences].concat(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap()
}

#[test]
fn document_names_sentence_rule_if_it_matters() {
    let cases = [
        ("Tom has 6 apples. He eats 2.", "any-script", 2, [Value::Null, Value::Null]),
        ("1. Tom has 6 apples. He eats 2.", "any-script", 2, [json!("any-script"), Value::Null]),
        ("1. Tom has 6 apples. He eats 2.", "punkt", 3, [Value::Null, Value::Null]),
        ("Tom hat am 3. Mai 6 Birnen. Er isst 2. Wie viele hat er noch?", "any-script", 3, [json!("any-script"), json!("de")]),
        ("Tom hat 6 Birnen. Er isst 2. Wie viele hat er noch?", "any-script", 3, [Value::Null, Value::Null]),
        ("Tom hat am 3. Mai 6 Birnen. Er isst 2. Wie viele hat er noch?", "punkt", 4, [Value::Null, Value::Null]),
    ];
    for (prompt, rule, count, said) in cases {
        let document = explained(prompt, rule);
        assert_eq!(document["prompt"]["sentences"].as_array().unwrap().len(), count, "{prompt} {rule}");
        assert_eq!(["sentence_rule", "language"].map(|key| document["manifest"][key].clone()), said, "{prompt} {rule}");
    }
}

#[test]
fn graph_computes_two_step_chain() {
    let table = json!([[2.0, -1.0, null, null], [0.0, 1.0, 1.0, null]]);
    let spelled = |key: &str| json!({"table": table, "n_prompt": 2, "output": [1], key: "full"});
    let output = lines(&["graph"], &[spelled("normalization"), spelled("normalisation")]);
    assert_eq!(output[0], output[1]);
    assert_eq!(
        output[..1],
        [json!({
            "adjacency": [[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]],
            "influence": [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.5, 0.0]],
            "context_attribution": [0.5, 0.5],
            "row_attribution": [0.0, 0.5],
            "zero_rows": [],
        })]
    );
}

#[test]
fn tokens_and_scores_are_consistent() {
    let text = "Robin has 3 figs.";
    let tokens = &lines(&["tokenize", "--model", DEMO], &[json!({"text": text})])[0];
    let by_text = &lines(&["score", "--model", DEMO], &[json!({"text": text})])[0];
    let by_ids = &lines(&["score", "--model", DEMO], &[json!({"ids": tokens["ids"], "replace": [[0, 1]]})])[0];
    assert_eq!(by_text["ids"], tokens["ids"]);
    assert_eq!(by_text["logprobs"].as_array().unwrap().len() + 1, tokens["ids"].as_array().unwrap().len());
    assert_ne!(by_ids["ids"][0], tokens["ids"][0]);
    assert_eq!(by_ids["ids"][1], tokens["ids"][1]);
    assert_ne!(by_ids["logprobs"], by_text["logprobs"]);
}

#[test]
fn cpu_and_gpu_scores_agree() {
    let input = [json!({"text": "Robin has 3 figs. Robin buys 4 more."})];
    let on = |backend: &str| lines(&["score", "--model", DEMO, "--backend", backend], &input)[0]["logprobs"].clone();
    let [cpu, gpu]: [Vec<f64>; 2] = [on("cpu"), on("gpu")].map(|scores| serde_json::from_value(scores).unwrap());
    assert!(cpu.len() > 5 && cpu.iter().zip(&gpu).all(|(cpu, gpu)| (cpu - gpu).abs() < 1e-4), "{cpu:?} {gpu:?}");
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    assert!(complaint(&["split"], "{\"text\": \"fine\"}\nnot json\n").contains("line 2"));
    assert!(complaint(&["graph"], "{\"table\": [[1, 2]], \"n_prompt\": 1, \"output\": [0]}").contains("column 1"));
    assert!(complaint(&["graph"], "{\"table\": [[1, null]], \"n_prompt\": 1, \"output\": [3]}").contains("output 3"));
    let too_large = format!("{{\"table\": [[1, null]], \"n_prompt\": {}, \"output\": [0]}}", u64::MAX);
    assert!(complaint(&["graph"], &too_large).contains("n_prompt 18446744073709551615"));
    assert!(complaint(&["graph"], "{\"table\": [], \"n_prompt\": 1, \"output\": []}").contains("no rows"));
    assert!(complaint(&["score", "--model", DEMO], "{\"ids\": [4000000]}\n").contains("4000000"));
    assert!(complaint(&["score", "--model", DEMO], "{\"ids\": [1, 2], \"replace\": [[1, 9]]}\n").contains("[1, 9]"));
    assert!(complaint(&["score", "--model", DEMO], "{}\n").contains("ids"));
    assert!(complaint(&["tokenize", "--model", "/nowhere.gguf"], "").contains("/nowhere.gguf"));
    assert!(complaint(&["tokenize", "--model", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")], "").contains("not a GGUF"));
    assert!(complaint(&["dance"], "").contains("dance"));
    assert!(complaint(&["tokenize"], "").contains("--model"));
    let explain = ["explain", "--model", DEMO, "--json", "/dev/null", "--prompt"];
    assert!(complaint(&[&explain[..], &[" "]].concat(), "").contains("empty"));
    assert!(complaint(&[&explain[..], &["Hi.", "--output", "99"]].concat(), "").contains("99"));
    assert!(complaint(&[&explain[..], &["Hi.", "--method", "magic"]].concat(), "").contains("magic"));
    assert!(complaint(&[&explain[..], &[&"All is well. ".repeat(2000)]].concat(), "").contains("tokens"));
}

#[test]
fn gpu_is_described_before_it_is_measured() {
    let lines = lines(&["gpu"], &[]);
    assert_eq!(lines.iter().map(|line| &line["what"]).collect::<Vec<_>>(), ["adapter", "peak"]);
    assert!(lines[0]["name"].as_str().is_some_and(|name| !name.is_empty()) && lines[0]["features"].is_array(), "{lines:?}");
    assert!(lines[1]["gflops"].as_f64() > Some(0.0) && lines[1]["gigabytes_per_second"].as_f64() > Some(0.0), "{lines:?}");
}

#[test]
fn bench_reports_parts_of_peak_and_time_of_each_kernel() {
    let folder = std::env::temp_dir().join(format!("glasscage-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let files = ["bench.json", "profile.jsonl"].map(|name| folder.join(name));
    let [json, profile] = files.each_ref().map(|file| file.to_str().expect("a path in UTF-8"));
    let job = ["--tokens", "40", "--sentences", "5", "--generated", "2", "--seconds", "0"];
    let bench = ["bench", "--model", DEMO, "--backend", "gpu", "--json", json, "--profile", profile];
    let output = glasscage(&[&bench[..], &job].concat(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let [json, profile] = files.map(|file| std::fs::read_to_string(file).expect("it was written"));
    let report: Value = serde_json::from_str(&json).expect("JSON");
    for figure in ["/reached/arithmetic", "/reached/bandwidth", "/reached/job_to_ideal", "/decode_work/submissions"] {
        assert!(report.pointer(figure).and_then(Value::as_f64) > Some(0.0), "{figure}: {report}");
    }
    assert!(report["stop_seconds"].is_f64() && report["adapter"]["shape_times"].is_array(), "{report}");
    let lines: Vec<Value> = profile.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for task in ["prefill", "decode", "job"] {
        let (sums, kernels): (Vec<&Value>, Vec<&Value>) =
            lines.iter().filter(|line| line["task"] == task).partition(|line| line.get("kernel").is_none());
        let shares: f64 = kernels.iter().filter_map(|kernel| kernel["share"].as_f64()).sum();
        assert!(sums.len() == 1 && (shares - 1.0).abs() < 1e-9, "{task}: {shares} of {lines:?}");
        let dispatches = kernels.iter().filter_map(|kernel| kernel["dispatches"].as_u64()).sum::<u64>();
        assert_eq!(sums[0]["dispatches"], dispatches, "{task}");
    }
    std::fs::remove_dir_all(folder).expect("it is removed");
}

#[test]
fn answer_continues_from_alternative() {
    let folder = folder("branch");
    let [free, json] = ["free.json", "a.json"].map(|name| folder.join(name).display().to_string());
    let question =
        ["explain", "--model", DEMO, "--method", "pert", "--prompt", "Tom has 5 figs. Ann gives Tom 3 figs. How many figs are there?"];
    assert!(glasscage(&[&question[..], &["--json", &free]].concat(), "").status.success());
    let read = |path: &str| Document::from_json(&std::fs::read_to_string(path).unwrap()).expect("a document");
    let free = read(&free);
    let output = glasscage(&[&question[..], &["--branch", "4:2", "--json", &json]].concat(), "");
    let printed = String::from_utf8(output.stdout).unwrap();
    let document = read(&json);
    let text = free.tokens[3].alternatives[1].text.clone();
    assert_eq!(document.manifest.answer.branches(), [Branch { token: 3, rank: 2, text: text.clone() }]);
    assert_eq!(document.tokens[..3], free.tokens[..3]);
    assert!(output.status.success() && printed.contains(&format!("Continued from an alternative: token 4 is {text:?}")), "{printed}");
    let refused = |branches: &[&str]| complaint(&[&question[..], branches, &["--json", &json]].concat(), "");
    assert!(refused(&["--branch", "999:1"]).contains("has no token 999"));
    assert!(refused(&["--branch", "4:1", "--branch", "4:2"]).contains("each token must come after the one before it"));
    assert!(refused(&["--branch", "4"]).contains("such as 7:1"));
    assert!(refused(&["--branch", "4:1", "--answer-file", &json]).contains("cannot be used with"));
}

#[test]
fn contrast_is_printed_and_kept_in_document() {
    let folder = folder("contrast");
    let [answer, json] = ["answer.txt", "a.json"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&answer, "Bob has 4 nuts. The answer is 4.").unwrap();
    let prompt = "Ann has 3 figs. Bob has 4 nuts. What does Bob have?";
    let asked = ["explain", "--model", DEMO, "--method", "pert", "--prompt", prompt, "--answer-file", &answer, "--json", &json];
    let output = glasscage(&[&asked[..], &["--contrast", "4", "3"]].concat(), "");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.contains("Why \"4\" and not \"3\"?") && printed.contains("against"), "{printed}");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&document["version"], &document["contrasts"][0]["span"]), (&json!(3), &json!([30, 31])), "the last occurrence");
    assert_eq!(document["contrasts"][0]["effects"].as_array().unwrap().len(), 4);
    let missing = glasscage(&[&asked[..], &["--contrast", "nine", "3"]].concat(), "");
    assert!(String::from_utf8(missing.stderr).unwrap().contains("the answer does not contain \"nine\""));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(document.get("contrasts"), None, "the explanation is written without it");
    assert!(complaint(&[&asked[..], &["--contrast", "4", " 4 "]].concat(), "").contains("the same"));
}

#[test]
fn unit_of_sources_is_an_option() {
    let folder = folder("unit");
    let [answer, json] = ["answer.txt", "a.json"].map(|name| folder.join(name).display().to_string());
    std::fs::write(&answer, "Bob has 4 nuts.\nThe answer is 4.").unwrap();
    let asked = |prompt: &str, unit: &[&str]| {
        let asked = ["explain", "--model", DEMO, "--method", "pert", "--prompt", prompt, "--answer-file", &answer, "--json", &json];
        let output = glasscage(&[&asked[..], unit].concat(), "");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let prompt = "Ann has 3 figs.\nBob has 4 nuts.\n\nWhat does Bob have?";
    let written = || Document::from_json(&std::fs::read_to_string(&json).unwrap()).unwrap();
    for (unit, n_prompt) in [("sentence", 3), ("word", 12), ("line", 3), ("paragraph", 2), ("section", 1), ("bracket", 3)] {
        let (printed, error) = asked(prompt, &["--unit", unit]);
        assert_eq!((written().table.n_prompt(), written().unit.noun()), (n_prompt, unit), "{error}");
        assert_eq!(printed.lines().filter(|line| line.matches('%').count() == 2).count(), n_prompt, "{printed}");
    }
    assert!(asked(prompt, &["--unit", "paragraph"]).0.contains("Ann has 3 figs.\n               Bob has 4 nuts.\n"), "lines are indented");
    asked(prompt, &["--words"]);
    assert_eq!(written().unit.noun(), "word");
    assert!(asked(prompt, &["--words", "--unit", "line"]).1.contains("cannot be used with"));
    assert!(asked(prompt, &["--unit", "line", "--output", "3"]).1.contains("the answer has only 2 lines"));
    assert!(asked("[[Ann has 3 figs.", &["--unit", "bracket"]).1.contains("[[ without ]] after it"));
}
