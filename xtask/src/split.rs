//! Code splitting: moves code that only functions marked `wasm_split` need into separate chunks. The browser downloads a chunk when such
//! a function is first called.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use wasmparser::{Parser, Payload};

use crate::command::{root, run};
use crate::hash::sha256;
use crate::setup::{Tools, WASM};

/// The script that loads the parts, under the name that wasm-split-cli gives it.
const GENERATED_LOADER: &str = "__wasm_split.js";
/// Name of the loader on the page. Some hosts, such as GitHub Pages, do not serve files whose names begin with an underscore.
const LOADER: &str = "wasm_split.js";
/// Id of custom sections in WebAssembly.
const CUSTOM_SECTION: u8 = 0;

/// Writes the split program to `dist`, in place of the whole program.
pub fn split(tools: &Tools, dist: &Path, is_release: bool) -> Result<()> {
    let profile = if is_release { "page" } else { "serve" };
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let program = target.join(WASM).join(profile).join("app.wasm");
    let parts = program.with_file_name("parts");
    fs::remove_dir_all(&parts).ok();
    run(tools.command("wasm-split-cli", &["--target", "web", "--out-name", "app"])?.arg(program).arg(&parts))?;
    // The chunks share the memory and the function table that the linker exports.
    run(tools
        .command("wasm-bindgen", &["--target", "web", "--no-typescript", "--keep-lld-exports", "--out-name", "app"])?
        .arg("--out-dir")
        .arg(dist)
        .arg(parts.join("app.wasm")))?;
    let program = dist.join("app.js");
    fs::write(&program, import_loader(&fs::read_to_string(&program)?)?)?;
    let mut loader = fs::read_to_string(parts.join(GENERATED_LOADER))?;
    for part in fs::read_dir(&parts)? {
        let path = part?.path();
        let name = path.file_stem().context("a part has a name")?.to_string_lossy();
        if path.extension().is_some_and(|extension| extension == "wasm") && name != "app" {
            let bytes = fs::read(&path)?;
            let bytes = if is_release { without_custom_sections(&bytes)? } else { bytes };
            // A chunk belongs to one version of the program, and a page may stay open while the site changes.
            let hashed = format!("{name}-{}.wasm", &sha256(&bytes)[..8]);
            loader = loader.replace(&format!("\"./{name}.wasm\""), &format!("\"./{hashed}\""));
            fs::write(dist.join(hashed), bytes)?;
        }
    }
    Ok(fs::write(dist.join(LOADER), loader)?)
}

/// Removes what browsers do not need from the programs in `dist`: the page's, the viewer's and the engine's.
pub fn strip(dist: &Path) -> Result<()> {
    ["app_bg.wasm", "viewer_bg.wasm", "engine_bg.wasm"].into_iter().try_for_each(|name| {
        let file = dist.join(name);
        let module = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok(fs::write(file, without_custom_sections(&module)?)?)
    })
}

/// The program's script, with the import of the loader renamed. Other occurrences of the name are not addresses, so they stay.
fn import_loader(script: &str) -> Result<String> {
    let [before, after] = [GENERATED_LOADER, LOADER].map(|name| format!("from \"./{name}\""));
    ensure!(script.contains(&before), "the program does not import {GENERATED_LOADER}");
    Ok(script.replace(&before, &after))
}

/// The module without custom sections, such as names and notes of tools. Browsers do not need them.
fn without_custom_sections(module: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut start = 0;
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        let (is_kept, end) = match (payload.as_section(), &payload) {
            // The range begins after the id and the length of the section, which `start` includes.
            (Some((id, range)), _) => (id != CUSTOM_SECTION, range.end),
            (None, Payload::Version { range, .. }) => (true, range.end),
            _ => continue,
        };
        let end = usize::try_from(end)?;
        if is_kept {
            kept.extend_from_slice(&module[start..end]);
        }
        start = end;
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_is_imported_under_another_name() {
        let script = "import * as import1 from \"./__wasm_split.js\"\nconst imports = { \"./__wasm_split.js\": import1 };";
        let expected = "import * as import1 from \"./wasm_split.js\"\nconst imports = { \"./__wasm_split.js\": import1 };";
        assert_eq!(import_loader(script).unwrap(), expected);
        assert!(import_loader("export default 1;").is_err());
    }

    #[test]
    fn custom_sections_go_and_the_others_stay_as_they_are() {
        let header = *b"\0asm\x01\0\0\0";
        let types = [1, 4, 1, 0x60, 0, 0];
        let mut name = vec![CUSTOM_SECTION, 0x85, 0x01, 4, b'n', b'a', b'm', b'e'];
        name.resize(3 + 133, 7);
        let module = [&header[..], &name, &types, &[CUSTOM_SECTION, 2, 1, b'x']].concat();
        assert_eq!(without_custom_sections(&module).unwrap(), [&header[..], &types].concat());
        assert!(without_custom_sections(&module[..60]).is_err(), "a truncated module");
    }
}
