//! Checks what compiler and clippy do not check: dependency cycles between files, calls of the browser, lengths of lines and files, and
//! whether texts, catalogs and documents match the code. Cargo checks which crate may use which.

#![cfg(not(target_arch = "wasm32"))]

mod crates;
mod cycles;
mod dependencies;
mod documents;
mod lessons;
mod message_texts;
mod styles;
mod texts;
mod tokens;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Spacing, TokenStream, TokenTree};

/// Extensions of text files that people edit.
const SOURCES: &[&str] = &["css", "html", "js", "mjs", "py", "rs", "sh", "toml", "wat", "wgsl"];
const MAX_COLUMNS: usize = 140;
const MAX_LINES: usize = 500;

/// Modules of page and workers that decide, describe or are sent. They call no browser, so native tests can run them.
const WITHOUT_BROWSER: [&str; 14] = [
    "src/app/analysis/",
    "src/app/examples.rs",
    "src/app/gallery.rs",
    "src/app/i18n/",
    "src/app/state/",
    "src/app/update/",
    "src/app/viewer/protocol.rs",
    "src/app/viewer/update.rs",
    "src/app/welcome.rs",
    "src/worker/engine/protocol.rs",
    "src/worker/engine/scorer/protocol.rs",
    "src/worker/envelope.rs",
    "src/worker/library/protocol.rs",
    "src/worker/role.rs",
];
/// Modules and crates through which code reaches the browser.
const BROWSER: [&str; 6] = ["browser", "gloo", "js_sys", "serde_wasm_bindgen", "wasm_bindgen", "web_sys"];

#[test]
fn decisions_call_no_browser() {
    let mut found = Vec::new();
    let is_ruled = |file: &String| WITHOUT_BROWSER.iter().any(|start| file.starts_with(start));
    for file in workspace::tracked(&["rs"]).iter().filter(|file| is_ruled(file)) {
        tokens::for_all(tokens::code(file), &mut |tokens| {
            if let [TokenTree::Ident(name), TokenTree::Punct(colon), ..] = tokens
                && colon.as_char() == ':'
                && colon.spacing() == Spacing::Joint
                && BROWSER.iter().any(|browser| name == browser)
            {
                found.push(format!("{file}: {name}"));
            }
        });
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn files_have_no_dependency_cycles() {
    // The folder of a crate's root.
    let root = |file: &str| {
        let depth = file.split('/').position(|name| name == "src").or(file.starts_with("tests/").then_some(1))?;
        Some(file.match_indices('/').nth(depth).map_or(file.len(), |(at, _)| at + 1))
    };
    let mut crates = BTreeMap::<String, Vec<(String, TokenStream)>>::new();
    for file in workspace::tracked(&["rs"]) {
        let Some((folder, path)) = root(&file).map(|at| file.split_at(at)) else { continue };
        crates.entry(folder.to_owned()).or_default().push((path.to_owned(), tokens::code(&file)));
    }
    assert!(crates.len() > 15, "{:?}", crates.keys());
    for (folder, files) in crates {
        assert_eq!(cycles::Crate::new(files).cycles(), BTreeSet::new(), "in {folder}");
    }
}

/// A text that is read once may be read before the page has drawn it: `Browser::shows` waits for it.
#[test]
fn page_tests_wait_for_texts() {
    let reads_once = |line: &str| {
        let asserted = line.split_once("assert!(").or(line.split_once("assert_eq!("));
        asserted.is_some_and(|(_, rest)| rest.split(", \"").next().is_some_and(|condition| condition.contains(".text(\"")))
    };
    let found = workspace::tracked(&["rs"]).into_iter().filter(|file| file.starts_with("tests/page/")).flat_map(|file| {
        let text = workspace::read(&file).unwrap_or_default();
        let lines = text.lines().enumerate().filter(|(_, line)| reads_once(line));
        lines.map(|(i, _)| format!("{file}:{}", i + 1)).collect::<Vec<_>>()
    });
    assert_eq!(found.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn lines_and_files_have_limits() {
    let mut long = Vec::new();
    for file in workspace::tracked(SOURCES) {
        let text = workspace::read(&file).unwrap_or_default();
        let lines = text.lines().enumerate().filter(|(_, line)| line.chars().count() > MAX_COLUMNS);
        long.extend(lines.map(|(i, _)| format!("{file}:{}", i + 1)));
        long.extend(Some(file).filter(|file| file.ends_with(".rs") && text.lines().count() > MAX_LINES));
    }
    assert_eq!(long, [""; 0]);
}
