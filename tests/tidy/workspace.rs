//! The crates of this workspace according to cargo, and its files according to git.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The text of a file, by its path from the workspace root. `None` if the file does not exist.
pub fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// What cargo knows of the packages of this workspace.
pub fn metadata() -> Value {
    let metadata = output(Command::new(env!("CARGO")).args(["metadata", "--no-deps", "--offline", "--format-version", "1"]));
    serde_json::from_str(&metadata).expect("cargo's metadata is JSON")
}

pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Files tracked by git that have one of these extensions.
pub fn tracked(extensions: &[&str]) -> Vec<String> {
    let files = output(Command::new("git").args(["ls-files", "-z"]));
    let files = files.split('\0').filter(|file| file.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension)));
    files.map(str::to_owned).collect()
}

pub fn output(command: &mut Command) -> String {
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}
