//! `cargo xtask npm`: builds an npm package of the viewer from the files of a built page.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::root;
use crate::{build, setup};

/// Lists the page files that the package contains.
const MANIFEST: &str = "www/package.json";
/// Other files of the checkout in the package.
const OTHERS: [&str; 3] = ["docs/embedding.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Builds the page, and writes the folder from which `npm pack` creates the package.
pub fn npm() -> Result<()> {
    let dist = root().join("dist");
    build::page(&setup::web()?, &dist)?;
    let folder = dist.with_file_name("dist-npm");
    package(&dist, &folder)?;
    println!("The package is in {}; npm pack makes a file of it.", folder.display());
    Ok(())
}

/// Writes the package folder from the page in `dist`.
fn package(dist: &Path, folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).ok();
    fs::create_dir_all(folder)?;
    let manifest = fs::read_to_string(root().join(MANIFEST))?;
    for file in files(&manifest)? {
        let copy = folder.join(&file);
        copy.parent().map(fs::create_dir_all).transpose()?;
        fs::copy(dist.join(&file), copy).with_context(|| format!("the page has no {file}"))?;
    }
    let frame = folder.join("embed.html");
    fs::write(&frame, without_home(&fs::read_to_string(&frame)?))?;
    for file in OTHERS {
        let name = if file.ends_with(".md") { "README.md" } else { file };
        fs::copy(root().join(file), folder.join(name)).with_context(|| format!("{file} is missing"))?;
    }
    Ok(fs::write(folder.join("package.json"), manifest)?)
}

/// The frame's HTML without the link to the full page, which is not in the package.
fn without_home(frame: &str) -> String {
    frame
        .lines()
        .filter(|line| !line.contains("rel=\"home\"") && !line.contains("Open in Glasscage"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The file names in a package's manifest.
fn files(manifest: &str) -> Result<Vec<String>> {
    let manifest: Value = serde_json::from_str(manifest)?;
    let files = manifest["files"].as_array().context("the package lists its files")?;
    files.iter().map(|file| Ok(file.as_str().context("a file is named by a text")?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheets;

    #[test]
    fn package_has_all_files_of_frame() {
        let files = files(&fs::read_to_string(root().join(MANIFEST)).unwrap()).unwrap();
        let frame = fs::read_to_string(root().join("www/embed.html")).unwrap();
        assert!(frame.contains("rel=\"home\"") && !without_home(&frame).contains("home"));
        let (frame, _) = sheets::with_one_sheet(&frame, sheets::FRAME);
        let loaded = frame.split(['"']).filter(|text| text.ends_with(".css") || text.ends_with(".js") || text.ends_with(".svg"));
        for file in loaded {
            assert!(files.iter().any(|known| known == file), "{file}");
        }
        for language in fs::read_dir(root().join("public/locales")).unwrap() {
            let name = format!("locales/{}", language.unwrap().file_name().to_string_lossy());
            assert!(files.contains(&name), "{name}");
        }
    }
}
