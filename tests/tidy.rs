//! The house rules that a compiler does not check: who may import whom.

#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Room, the rooms of this crate it may use, and the outside crates it must not touch.
const RULES: &[(&str, &[&str], &[&str])] = &[
    ("table", &[], PURE),
    ("problem", &[], PURE),
    ("version", &[], PURE),
    ("request", &["explanation"], PURE),
    ("graph", &["table"], PURE),
    ("metrics", &[], PURE),
    ("explanation", &["graph", "table"], PURE),
    ("text", &[], PURE),
    ("model", &[], NO_BROWSER),
    ("lm", &["model"], NO_BROWSER),
    ("cpu", &["lm", "model"], NO_BROWSER),
    ("cpu/fused", &[], &["web_sys", "gloo", "leptos", "wgpu"]),
    ("gpu", &["lm", "model"], NO_PAGE),
    ("engine", &["cpu", "gpu", "lm", "model", "request"], NO_BROWSER),
    ("attribution", &["lm", "model", "request", "table"], NO_BROWSER),
    (
        "session",
        &["attribution", "cpu", "engine", "explanation", "graph", "lm", "model", "problem", "request", "table", "text", "version"],
        NO_BROWSER,
    ),
    ("library", &["problem"], PURE),
    ("worker/engine/protocol", &["explanation", "problem", "request"], PURE),
    ("worker/envelope", &[], PURE),
    ("worker/library/mod", &[], PURE),
    ("worker/library/protocol", &["library", "problem", "worker/envelope"], PURE),
    (
        "worker/engine",
        &[
            "cpu",
            "engine",
            "lm",
            "model",
            "problem",
            "request",
            "session",
            "worker/engine/protocol",
            "worker/envelope",
            "worker/library/service",
            "worker/scope",
        ],
        &["leptos"],
    ),
    (
        "worker/library/service",
        &["gpu", "library", "model", "problem", "worker/envelope", "worker/library/protocol", "worker/scope"],
        &["leptos", "wgpu"],
    ),
    ("worker/scope", &["worker/envelope"], ENGINE),
    ("worker/client", &["worker/envelope"], ENGINE),
    ("worker/mod", &[], ENGINE),
    (
        "app",
        &[
            "explanation",
            "graph",
            "library",
            "metrics",
            "problem",
            "request",
            "table",
            "version",
            "worker/client",
            "worker/envelope",
            "worker/engine/protocol",
            "worker/library/protocol",
        ],
        ENGINE,
    ),
    ("bin/app", &["app"], ENGINE),
    ("bin/engine", &["worker/mod"], &["leptos"]),
    (
        "bin/glasscage",
        &["attribution", "cpu", "engine", "explanation", "gpu", "graph", "lm", "metrics", "model", "request", "session", "table", "text"],
        &["leptos", "web_sys"],
    ),
];

/// Numbers and texts: no browser, no GPU, no engine.
const PURE: &[&str] =
    &["web_sys", "js_sys", "wasm_bindgen", "gloo", "leptos", "wgpu", "candle_core", "candle_nn", "candle_transformers", "tokenizers"];
const NO_BROWSER: &[&str] = &["web_sys", "js_sys", "wasm_bindgen", "gloo", "leptos", "wgpu"];
/// wgpu is the one way to the GPU.
const NO_PAGE: &[&str] = &["web_sys", "js_sys", "wasm_bindgen", "gloo", "leptos"];
/// What someone who opens a link must not download.
const ENGINE: &[&str] = &["wgpu", "candle_core", "candle_nn", "candle_transformers", "tokenizers", "minijinja"];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    files
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The room of a path such as `worker/host` or `graph/prune`: the longest one in the rules that it lies in.
fn room(path: &str) -> Option<&'static str> {
    let inside = |room: &&str| path == *room || path.strip_prefix(*room).is_some_and(|rest| rest.starts_with('/'));
    RULES.iter().map(|rule| rule.0).filter(inside).max_by_key(|room| room.len())
}

/// Paths after `crate::` or `glasscage::`, with `/` for `::`, of everything outside tests.
fn uses(text: &str, own_crate: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.split(own_crate).skip(1).map(str::to_owned).collect::<Vec<_>>())
        .map(|after| after.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).next().unwrap_or_default().replace("::", "/"))
        .collect()
}

#[test]
fn rooms_import_only_what_the_rules_allow() {
    let mut broken = Vec::new();
    for file in rust_files(&source()) {
        let path = file.strip_prefix(source()).unwrap().with_extension("").to_str().unwrap().replace('\\', "/");
        if path == "lib" {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("use crate::{") && !text.contains("use glasscage::{"), "{path}: one line a room, or this test is blind");
        let own = room(&path).unwrap_or_else(|| panic!("{path} is in no room of the rules"));
        let (_, allowed, forbidden) = RULES.iter().find(|rule| rule.0 == own).unwrap();
        let own_crate = if path.starts_with("bin/") { "glasscage::" } else { "crate::" };
        for used in uses(&text, own_crate) {
            if let Some(other) = room(&used).filter(|other| *other != own && !allowed.contains(other)) {
                broken.push(format!("{path} uses {other}"));
            }
        }
        for outside in *forbidden {
            if uses(&text, &format!("{outside}::")).len() + usize::from(text.contains(&format!("use {outside};"))) > 0 {
                broken.push(format!("{path} touches {outside}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["todo", "unimplemented"].map(|name| format!("{name}!("));
    for file in rust_files(&source()) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!marks.iter().any(|mark| text.contains(mark)), "{}", file.display());
    }
}

#[test]
fn no_file_of_code_is_longer_than_one_idea() {
    for file in rust_files(&source()) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= 500, "{} has {lines} lines", file.display());
    }
}
