//! Compiles everything that ships with the oldest Rust that `Cargo.toml` allows. A dependency may need a newer one than it declares.

use std::fs;

use anyhow::{Context, Result};

use crate::command::{build, command, root, run, succeeds};
use crate::outcome::Outcome;

/// Checks all libraries and programs with that version: three minutes of CPU. rustup installs it if it is missing; where rustup cannot, the
/// check is skipped.
pub fn check() -> Result<Outcome> {
    let version = version(&fs::read_to_string(root().join("Cargo.toml"))?)?;
    // Do not reinstall an installed version: rustup deletes it first, and meanwhile no build on this machine finds `rustc`.
    let is_installed = succeeds(&mut command("rustup", &["run", &version, "rustc", "--version"]));
    if !is_installed && !succeeds(&mut command("rustup", &["toolchain", "install", &version, "--profile", "minimal", "--no-self-update"])) {
        return Ok(Outcome::Skipped(format!("rustup cannot install Rust {version}")));
    }
    let arguments = ["run", &version, "cargo", "check", "--locked", "--workspace", "--all-features"];
    run(command("rustup", &arguments).env("CARGO_TARGET_DIR", build().join("minimum-rust")))?;
    Ok(Outcome::Checked)
}

/// The first release of the version in the manifest: "1.94.0" for `rust-version = "1.94"`.
fn version(manifest: &str) -> Result<String> {
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    Ok(format!("{}.0", version.context("the manifest has no rust-version")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_names_minimum_version() {
        assert_eq!(version("[workspace.package]\nrust-version = \"1.94\"\n").unwrap(), "1.94.0");
        assert!(version("rust-version.workspace = true").is_err());
    }
}
