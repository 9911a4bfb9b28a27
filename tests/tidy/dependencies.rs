//! Sources and licenses of all crates: those of the page, the engine, the command line, tests and tools.

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
