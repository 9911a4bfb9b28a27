//! The built page. Its file names must work on every host.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The folder in `GLASSCAGE_DIST`. Without this variable, builds the release page and returns its folder.
pub fn built_page() -> &'static Path {
    static DIST: LazyLock<PathBuf> = LazyLock::new(|| std::env::var_os("GLASSCAGE_DIST").map_or_else(build_page, PathBuf::from));
    &DIST
}

fn build_page() -> PathBuf {
    let mut build = Command::new("cargo");
    let status = build.args(["xtask", "serve", "--release"]).current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
    assert!(status.success(), "the page was not built ({status}): cargo xtask serve --release");
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

/// Hosts such as GitHub Pages leave out files whose names begin with an underscore or a dot.
#[test]
fn file_names_begin_with_letters() {
    let hidden: Vec<PathBuf> = files_of(built_page()).into_iter().filter(|path| !begins_with_letter(path)).collect();
    assert_eq!(hidden, Vec::<PathBuf>::new());
}

/// Browsers keep the files that match this pattern of the recipe for nginx for ever, so their names must change with their content.
#[test]
fn only_parts_of_the_program_are_kept_for_ever() {
    let recipes = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deploying.md")).expect("the recipes");
    assert!(recipes.contains(r#""~/(split|chunk)_[a-z0-9_]+-[0-9a-f]+\.wasm$" "max-age=31536000, immutable";"#));
    let names = files_of(built_page()).into_iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let parts: Vec<String> = names.filter(|name| name.starts_with("split_") || name.starts_with("chunk_")).collect();
    assert!(!parts.is_empty());
    assert_eq!(parts.into_iter().filter(|name| !is_hashed(name)).collect::<Vec<_>>(), Vec::<String>::new());
}

/// Whether the name of a part ends with a hash of its content.
fn is_hashed(name: &str) -> bool {
    let parts = name.strip_suffix(".wasm").and_then(|name| name.rsplit_once('-'));
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let is_hash = |hash: &str| hash.len() >= 8 && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    parts.is_some_and(|(name, hash)| is_name(name) && is_hash(hash))
}

fn begins_with_letter(path: &Path) -> bool {
    let name = path.file_name().expect("a file has a name").to_string_lossy();
    name.starts_with(char::is_alphanumeric)
}

/// All files and folders below `folder`.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the page is built").map(|entry| entry.expect("it can be read").path());
    entries.flat_map(|path| if path.is_dir() { [vec![path.clone()], files_of(&path)].concat() } else { vec![path] }).collect()
}
