//! Sources and licenses of all crates: those of the page, the engine, the command line, tests and tools. How fast our own are.

use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, ParseMode};

use crate::workspace;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Licenses that require only attribution.
const ALLOWED: [&str; 10] =
    ["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Zlib"];

#[test]
fn crates_come_from_registry_with_permissive_licenses() {
    let metadata = workspace::output(Command::new(env!("CARGO")).args(["metadata", "--offline", "--locked", "--format-version", "1"]));
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo's metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let refused: Vec<String> =
        foreign.filter(|package| !is_fine(package)).map(|package| format!("{} {}", package["name"], package["license"])).collect();
    assert_eq!(refused, Vec::<String>::new());
}

fn is_fine(package: &Value) -> bool {
    let license = package["license"].as_str().and_then(|license| Expression::parse_mode(license, ParseMode::LAX).ok());
    package["source"] == REGISTRY && license.is_some_and(|license| license.evaluate(is_allowed))
}

fn is_allowed(license: &LicenseReq) -> bool {
    license.license.id().is_some_and(|id| ALLOWED.contains(&id.name))
}

/// Crates of the workspace that do not compute with a model.
const NOT_OF_THE_ENGINE: [&str; 9] = [
    "glasscage-cli",
    "glasscage-library",
    "glasscage-message",
    "glasscage-message-derive",
    "glasscage-protocol",
    "glasscage-template",
    "glasscage-text",
    "kernel-interpreter",
    "xtask",
];

/// Without its line, a crate of the engine would be slow in the page that `cargo xtask serve` builds, and only there.
#[test]
fn serve_compiles_the_engine_at_full_speed() {
    let metadata = workspace::metadata();
    let names = workspace::list(&metadata["packages"]).filter_map(|package| package["name"].as_str());
    let manifest = workspace::read("Cargo.toml").expect("the manifest of the workspace");
    let (_, levels) = manifest.split_once("[profile.serve.package]\n").expect("levels of packages");
    let levels = levels.split("\n[").next().unwrap_or_default();
    let is_slow = |name: &&str| !levels.lines().any(|line| line == format!("{name} = {{ opt-level = 3 }}"));
    assert_eq!(names.filter(|name| !NOT_OF_THE_ENGINE.contains(name)).filter(is_slow).collect::<Vec<_>>(), [""; 0]);
}
