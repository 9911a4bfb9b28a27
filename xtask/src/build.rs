//! Builds the page with Trunk into a folder that can be served as it is.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{command, output, run};
use crate::setup::Tools;
use crate::sizes::Sizes;

/// Environment variable with the version that the page and its worker compare: a build with another value compiles all of them again.
pub const VERSION: &str = "GLASSCAGE_VERSION";

/// The package version, and the commit in a git checkout.
pub fn version() -> String {
    let commit = output(&mut command("git", &["rev-parse", "--short", "HEAD"]));
    commit.map_or(env!("CARGO_PKG_VERSION").to_owned(), |commit| format!("{}+{}", env!("CARGO_PKG_VERSION"), commit.trim()))
}

/// Trunk with the version for page and worker.
pub fn trunk(tools: &Tools, arguments: &[&str]) -> Result<Command> {
    let mut trunk = tools.command("trunk", arguments)?;
    trunk.env(VERSION, version()).env("GLASSCAGE_XTASK", std::env::current_exe()?);
    Ok(trunk)
}

/// Builds the release page into `dist`, and prints the sizes of its downloads. The page links to its documentation, which
/// [`crate::docs::build`] writes.
pub fn page(tools: &Tools, dist: &Path) -> Result<Sizes> {
    let dist_name = dist.to_str().context("the path of dist is not UTF-8")?;
    run(trunk(tools, &["build", "--release", "--dist", dist_name])?.env("GLASSCAGE_HAS_DOCUMENTATION", "1"))?;
    let sizes = Sizes::of(dist, &version())?;
    println!("{sizes}");
    Ok(sizes)
}
