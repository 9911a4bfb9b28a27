//! The rules that a compiler does not check: which module may use which, no circles between files, no endless lines and files.
//!
//! The rules of import are the table of modules in `src/lib.rs`. Everything is found in the syntax of the files: imports, paths in
//! code, in macro calls and in attributes, relative ones too, except in what is compiled for tests only.

#![cfg(not(target_arch = "wasm32"))]

mod circles;
mod contents;
mod dependencies;
mod documents;
mod lessons;
mod module_tree;
mod problem_texts;
mod rules;
mod texts;
mod workspace;

use std::collections::BTreeSet;

use module_tree::ModuleTree;

/// What people write and read as lines.
const SOURCES: &[&str] = &["css", "html", "js", "mjs", "py", "rs", "sh", "toml", "wat", "wgsl"];
const MOST_COLUMNS: usize = 140;
const MOST_LINES: usize = 500;

#[test]
fn modules_use_only_what_the_table_allows() {
    let rules = rules::rules(&workspace::read("src/lib.rs").expect("the root of the crate"));
    assert_eq!(rules::violations(&shipped(), &rules), BTreeSet::new());
}

/// The crates that the table is about: not tests, what only tests use, examples and xtask.
fn shipped() -> ModuleTree {
    let mut tree = workspace::modules();
    tree.modules.retain(|id, _| id[0].starts_with("src/") || id[0].starts_with("crates/"));
    tree.modules.retain(|id, _| !id[0].contains("/tests/") && !id[0].starts_with("crates/kernel-interpreter/"));
    tree
}

#[test]
fn no_files_need_each_other_in_a_circle() {
    let tree = workspace::modules();
    let needs = circles::needs(&tree);
    let arrows = |circle: &BTreeSet<&str>| {
        let within = |file: &str| needs[file].iter().filter(|other| circle.contains(*other)).copied().collect::<Vec<_>>().join(", ");
        circle.iter().map(|file| format!("{file} needs {}", within(file))).collect::<Vec<_>>()
    };
    assert_eq!(circles::circles(&needs).iter().map(arrows).collect::<Vec<_>>(), Vec::<Vec<String>>::new());
}

#[test]
fn no_line_is_wider_than_a_screen() {
    let is_long = |(_, line): &(usize, &str)| line.chars().count() > MOST_COLUMNS;
    let long = workspace::tracked(SOURCES).into_iter().flat_map(|file| {
        let text = workspace::read(&file).unwrap_or_default();
        text.lines().enumerate().filter(is_long).map(|(i, _)| format!("{file}:{}", i + 1)).collect::<Vec<_>>()
    });
    assert_eq!(long.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn no_file_of_code_is_longer_than_one_idea() {
    let lines = |file: &String| workspace::read(file).map_or(0, |text| text.lines().count());
    let long: Vec<String> = workspace::tracked(&["rs"]).into_iter().filter(|file| lines(file) > MOST_LINES).collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn nothing_is_left_unfinished() {
    let marks = ["todo", "unimplemented"].map(|name| format!("{name}!("));
    let is_unfinished = |file: &String| workspace::read(file).is_some_and(|text| marks.iter().any(|mark| text.contains(mark)));
    assert_eq!(workspace::tracked(&["rs"]).into_iter().filter(is_unfinished).collect::<Vec<_>>(), Vec::<String>::new());
}
