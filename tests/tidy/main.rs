//! Checks rules that the compiler does not check: which module of the page may use which, no dependency cycles between files, limits on the
//! length of lines and files.
//!
//! The rules of imports are the table of modules in `src/lib.rs`. The checks parse the files and find imports and paths in code, macro
//! calls and attributes, including relative ones. They ignore test-only code. Cargo checks which crate may use which.

#![cfg(not(target_arch = "wasm32"))]

mod circles;
mod contents;
mod crates;
mod dependencies;
mod documents;
mod lessons;
mod message_texts;
mod module_tree;
mod rules;
mod styles;
mod texts;
mod tokens;
mod workspace;

use std::collections::BTreeSet;

use module_tree::ModuleTree;

/// Extensions of text files that people edit.
const SOURCES: &[&str] = &["css", "html", "js", "mjs", "py", "rs", "sh", "toml", "wat", "wgsl"];
const MOST_COLUMNS: usize = 140;
const MOST_LINES: usize = 500;

#[test]
fn modules_use_only_what_the_table_allows() {
    let rules = rules::rules(&workspace::read("src/lib.rs").expect("the root of the crate"));
    assert_eq!(rules::violations(&page_and_workers(), &rules), BTreeSet::new());
}

/// The modules of page, workers and their programs.
fn page_and_workers() -> ModuleTree {
    let mut tree = workspace::modules();
    tree.modules.retain(|id, _| id[0].starts_with("src/"));
    tree
}

#[test]
fn files_have_no_dependency_cycles() {
    let tree = workspace::modules();
    let needs = circles::needs(&tree);
    let arrows = |circle: &BTreeSet<&str>| {
        let within = |file: &str| needs[file].iter().filter(|other| circle.contains(*other)).copied().collect::<Vec<_>>().join(", ");
        circle.iter().map(|file| format!("{file} needs {}", within(file))).collect::<Vec<_>>()
    };
    assert_eq!(circles::circles(&needs).iter().map(arrows).collect::<Vec<_>>(), Vec::<Vec<String>>::new());
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
fn no_line_exceeds_column_limit() {
    let is_long = |(_, line): &(usize, &str)| line.chars().count() > MOST_COLUMNS;
    let long = workspace::tracked(SOURCES).into_iter().flat_map(|file| {
        let text = workspace::read(&file).unwrap_or_default();
        text.lines().enumerate().filter(is_long).map(|(i, _)| format!("{file}:{}", i + 1)).collect::<Vec<_>>()
    });
    assert_eq!(long.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn no_file_exceeds_line_limit() {
    let lines = |file: &String| workspace::read(file).map_or(0, |text| text.lines().count());
    let long: Vec<String> = workspace::tracked(&["rs"]).into_iter().filter(|file| lines(file) > MOST_LINES).collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn no_unfinished_code() {
    let marks = ["todo", "unimplemented"].map(|name| format!("{name}!("));
    let is_unfinished = |file: &String| workspace::read(file).is_some_and(|text| marks.iter().any(|mark| text.contains(mark)));
    assert_eq!(workspace::tracked(&["rs"]).into_iter().filter(is_unfinished).collect::<Vec<_>>(), Vec::<String>::new());
}
