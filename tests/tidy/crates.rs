//! The picture of the crates in `docs/architecture.md`, drawn from cargo's metadata.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace;

const PAGE: &str = "docs/architecture.md";
const MARKER: &str = "<!-- `GLASSCAGE_WRITE_CRATES=1 cargo test --test tidy crates` draws the crates again -->\n";
const BEGIN: &str = "```text\n";
const END: &str = "```\n";
/// Columns before the arrows.
const NAMES: usize = 26;

/// For each crate, the crates of this workspace that it is built from.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn picture_of_crates_is_current() {
    let page = workspace::read(PAGE).expect("the page");
    let start = [MARKER, BEGIN].concat();
    let (before, rest) = page.split_once(&start).expect("the marker above the picture");
    let (drawn, after) = rest.split_once(END).expect("the end of the picture");
    let current = picture(&uses());
    if std::env::var_os("GLASSCAGE_WRITE_CRATES").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
        std::fs::write(path, [before, &start, &current, END, after].concat()).expect("the page is written");
    } else {
        assert_eq!(drawn, current, "draw it again: {MARKER}");
    }
}

fn uses() -> Uses {
    let metadata = workspace::metadata();
    let packages = workspace::list(&metadata["packages"]).map(|package| {
        let is_built_in = |dependency: &&serde_json::Value| dependency["kind"].is_null() && dependency["path"].is_string();
        let used = workspace::list(&package["dependencies"]).filter(is_built_in).map(|dependency| short_name(&dependency["name"]));
        (short_name(&package["name"]), used.collect())
    });
    packages.filter(|(name, _)| name != "xtask").collect()
}

fn short_name(package: &serde_json::Value) -> String {
    let name = package.as_str().expect("a name");
    name.strip_prefix("glasscage-").unwrap_or(name).to_owned()
}

/// A line for each crate, below all crates that use it, with arrows to the crates that it does not also use through another one.
fn picture(uses: &Uses) -> String {
    let top = uses.keys().map(|name| height(name, uses)).max().unwrap_or(0);
    let mut names: Vec<&String> = uses.keys().collect();
    names.sort_by_key(|name| (top - height(name, uses), *name));
    names.into_iter().map(|name| line(name, top - height(name, uses), uses)).collect()
}

fn line(name: &str, depth: usize, uses: &Uses) -> String {
    let is_direct = |used: &&String| !uses[name].iter().any(|other| reached(other, uses).contains(*used));
    let direct: Vec<&str> = uses[name].iter().filter(is_direct).map(String::as_str).collect();
    let arrow = if direct.is_empty() { String::new() } else { format!("─► {}", direct.join(", ")) };
    let indented = format!("{}{name}", "  ".repeat(depth));
    format!("{}\n", format!("{indented:<NAMES$}{arrow}").trim_end())
}

/// The crates that `name` is built from, directly or through others.
fn reached<'a>(name: &str, uses: &'a Uses) -> BTreeSet<&'a String> {
    uses[name].iter().flat_map(|used| std::iter::once(used).chain(reached(used, uses))).collect()
}

/// The length of the longest way down from the crate. Cargo allows no dependency cycles.
fn height(name: &str, uses: &Uses) -> usize {
    uses[name].iter().map(|used| height(used, uses) + 1).max().unwrap_or(0)
}

#[test]
fn arrows_point_down() {
    let uses = [("page", &["model", "table"][..]), ("model", &["table"]), ("table", &[]), ("tool", &["table"])];
    let uses: Uses = uses.into_iter().map(|(name, used)| (name.to_owned(), used.iter().map(|&used| used.to_owned()).collect())).collect();
    let expected =
        "page                      ─► model\n  model                   ─► table\n  tool                    ─► table\n    table\n";
    assert_eq!(picture(&uses), expected);
}
