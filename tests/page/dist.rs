//! The built page.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The folder that `GLASSCAGE_DIST` names, or else that of a page built now, as it ships.
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
