//! Lists the third-party packages that ship with page and engine: `sbom.cdx.json` in the build, in `CycloneDX` 1.6 format.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::command::output;
use crate::setup::{Tools, WASM};

const FILE: &str = "sbom.cdx.json";
/// Arguments for cargo's metadata of the shipped programs.
const METADATA: [&str; 9] =
    ["metadata", "--locked", "--format-version", "1", "--no-default-features", "--features", "page,engine", "--filter-platform", WASM];

/// Writes the inventory of the packages that `Cargo.lock` puts into the build.
pub fn write(tools: &Tools, dist: &Path) -> Result<()> {
    let metadata = serde_json::from_str(&output(&mut tools.command("cargo", &METADATA)?)?)?;
    let inventory = inventory(&metadata).context("cargo's metadata has no root")?;
    Ok(fs::write(dist.join(FILE), format!("{inventory:#}\n"))?)
}

fn inventory(metadata: &Value) -> Option<Value> {
    let root = metadata["resolve"]["root"].as_str()?;
    let shipped = reachable(metadata, root);
    let packages = || list(&metadata["packages"]).filter(|package| package["id"].as_str().is_some_and(|id| shipped.contains(id)));
    let version = packages().find(|package| package["id"] == root)?["version"].clone();
    let components: Vec<Value> = packages().filter(|package| !package["source"].is_null()).map(component).collect();
    Some(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": { "type": "application", "name": "glasscage", "version": version } },
        "components": components,
    }))
}

fn component(package: &Value) -> Value {
    let [name, version] = ["name", "version"].map(|field| package[field].as_str().unwrap_or_default());
    // Cargo's old syntax for "or" is "/", SPDX's is "OR".
    let licenses: Vec<Value> =
        package["license"].as_str().into_iter().map(|license| json!({ "expression": license.replace('/', " OR ") })).collect();
    json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")),
        "licenses": licenses,
    })
}

/// The packages that end up in `root`. Excludes build and test dependencies, and macros, which run in the compiler.
fn reachable<'a>(metadata: &'a Value, root: &'a str) -> BTreeSet<&'a str> {
    let is_macro = |id: &str| {
        let package = list(&metadata["packages"]).find(|package| package["id"] == id);
        package.is_some_and(|package| list(&package["targets"]).any(|target| target["kind"][0] == "proc-macro"))
    };
    let mut found = BTreeSet::from([root]);
    let mut left = vec![root];
    while let Some(id) = left.pop() {
        let node = list(&metadata["resolve"]["nodes"]).find(|node| node["id"] == id);
        for dependency in node.into_iter().flat_map(|node| list(&node["deps"])) {
            let is_normal = list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            if let Some(id) = dependency["pkg"].as_str().filter(|id| is_normal && !is_macro(id))
                && found.insert(id)
            {
                left.push(id);
            }
        }
    }
    found
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shipped_packages_are_listed() {
        let package = |id: &str, kind: &str| {
            let targets = [json!({ "kind": [kind] })];
            json!({ "id": id, "name": id, "version": "1.0.0", "license": "MIT/Apache-2.0", "source": "registry", "targets": targets })
        };
        let dependency = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let mut own = package("own", "lib");
        own["source"] = Value::Null;
        let metadata = json!({
            "packages": [own, package("a", "lib"), package("b", "lib"), package("c", "proc-macro"), package("d", "lib")],
            "resolve": {
                "root": "own",
                "nodes": [
                    { "id": "own", "deps": [dependency("a", None), dependency("b", Some("dev")), dependency("c", None)] },
                    { "id": "a", "deps": [dependency("d", None), dependency("b", Some("build"))] },
                ],
            },
        });
        let inventory = inventory(&metadata).unwrap();
        let names: Vec<&Value> = list(&inventory["components"]).map(|component| &component["purl"]).collect();
        assert_eq!(names, ["pkg:cargo/a@1.0.0", "pkg:cargo/d@1.0.0"]);
        assert_eq!(inventory["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
