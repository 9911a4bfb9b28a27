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

fn begins_with_letter(path: &Path) -> bool {
    let name = path.file_name().expect("a file has a name").to_string_lossy();
    name.starts_with(char::is_alphanumeric)
}

/// All files and folders below `folder`.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the page is built").map(|entry| entry.expect("it can be read").path());
    entries.flat_map(|path| if path.is_dir() { [vec![path.clone()], files_of(&path)].concat() } else { vec![path] }).collect()
}
