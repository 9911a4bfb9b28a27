//! The built page for most tests. It has the files of `tests/fixtures` instead of its own, because the smaller model answers faster.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use super::browser::Kind;
use super::dist::built_page;

/// Text before the list of files in the service worker.
const FILES: &str = "const FILES = ";

/// A copy of the built page with the model, examples and explanations of `tests/fixtures`.
pub fn page_with_small_model() -> &'static Path {
    static SITE: LazyLock<PathBuf> = LazyLock::new(|| {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let site = Kind::chosen().folder().join("with-small-model");
        std::fs::remove_dir_all(&site).ok();
        copy(built_page(), &site);
        std::fs::remove_dir_all(site.join("gallery")).expect("the page has a gallery");
        for folder in ["models", "gallery"] {
            copy(&fixtures.join(folder), &site.join(folder));
        }
        update_file_list(&site);
        site
    });
    &SITE
}

/// Updates the list of files in the service worker for the replaced folders.
fn update_file_list(site: &Path) {
    let path = site.join("sw.js");
    let script = std::fs::read_to_string(&path).expect("a service worker");
    let (before, rest) = script.split_once(FILES).expect("a list of files");
    let (listed, after) = rest.split_once(';').expect("a list of files");
    let mut files: Vec<(String, String)> = serde_json::from_str(listed).expect("a list of files");
    files.retain(|(path, _)| !path.starts_with("gallery/"));
    let gallery = std::fs::read_dir(site.join("gallery")).expect("a folder");
    files.extend(gallery.map(|entry| (format!("gallery/{}", entry.expect("an entry").file_name().display()), String::new())));
    for (path, hash) in files.iter_mut().filter(|(path, _)| path.starts_with("gallery/") || path.starts_with("models/")) {
        *hash = sha256(&std::fs::read(site.join(path)).expect("a file of the page"));
    }
    let listed = serde_json::to_string(&files).expect("texts");
    std::fs::write(path, format!("{before}{FILES}{listed};{after}")).expect("a service worker");
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Copies a folder with all its content. Overwrites existing files.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy")),
        }
    }
}
