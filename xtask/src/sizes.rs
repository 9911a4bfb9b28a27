//! Sizes of the downloads in bytes, raw and compressed as by a good host, and their limits.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};
use brotli::enc::BrotliEncoderParams;
use serde_json::{Value, json};

/// Prefixes of the files that wasm-split-cli creates: code for one function, and code that several functions share.
const PARTS: [&str; 2] = ["split_", "chunk_"];
/// Files that `embed.html` loads through its script.
const VIEWER: [&str; 2] = ["viewer.js", "viewer_bg.wasm"];

/// Total bytes of some files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub raw: usize,
    /// Compressed with brotli, each file alone.
    pub compressed: usize,
}

/// Sizes of a built page.
pub struct Sizes {
    /// The first page, which lessons and shared explanations also need.
    page: Size,
    /// Chunks behind tabs and dialogs, which the browser downloads when they are first opened.
    parts: Size,
    engine: Size,
    /// An explanation in a frame on another page.
    frame: Size,
}

impl Sizes {
    /// Measures the page in `dist`, which contains the text `version`. Fails if a file is missing.
    pub fn of(dist: &Path, version: &str) -> Result<Self> {
        let named = |begins: &[&str]| -> Result<Vec<PathBuf>> {
            let entries = std::fs::read_dir(dist)?.collect::<std::io::Result<Vec<_>>>()?;
            let is_named =
                |path: &PathBuf| path.file_name().is_some_and(|name| begins.iter().any(|b| name.to_string_lossy().starts_with(b)));
            Ok(entries.into_iter().map(|entry| entry.path()).filter(is_named).collect())
        };
        let size = |files: Vec<PathBuf>| size(files, version);
        let frame = loaded_by(dist, "embed.html")?.into_iter().chain(VIEWER.map(|name| dist.join(name))).collect();
        let engine = named(&["engine"])?;
        thread::scope(|scope| {
            // Half of all bytes are the engine's.
            let engine = scope.spawn(|| size(engine));
            Ok(Self {
                page: size(loaded_by(dist, "index.html")?)?,
                parts: size(named(&PARTS)?)?,
                frame: size(frame)?,
                engine: engine.join().expect("no thread panics")?,
            })
        })
    }

    /// Fails if a size exceeds its limit.
    pub fn check(&self) -> Result<()> {
        match self.rows().into_iter().find(|(_, size, budget)| size.compressed > budget * 1000) {
            Some((name, size, budget)) => bail!("{name}: {size}, and {budget} kB is the most it may have"),
            None => Ok(()),
        }
    }

    /// Names, sizes, and limits in kilobytes after compression (`docs/speed.md`).
    fn rows(&self) -> [(&'static str, Size, usize); 4] {
        [("page", self.page, 380), ("parts of the page", self.parts, 390), ("engine", self.engine, 1200), ("frame", self.frame, 430)]
    }

    pub fn to_json(&self) -> Value {
        json!({"page": self.page.to_json(), "parts": self.parts.to_json(), "engine": self.engine.to_json(), "frame": self.frame.to_json()})
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |(name, size, budget): (&str, Size, usize)| format!("{name}: {size} of at most {budget} kB");
        f.write_str(&self.rows().map(line).join("\n"))
    }
}

impl Size {
    pub fn to_json(self) -> Value {
        json!({"raw": self.raw, "compressed": self.compressed})
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kilobytes = |bytes: usize| bytes as f64 / 1e3;
        write!(f, "{:.1} kB, compressed {:.1} kB", kilobytes(self.raw), kilobytes(self.compressed))
    }
}

/// Total bytes of `files`, measured as if all commits had the same name: other letters in `version` change what brotli makes of a page by
/// more than a kilobyte.
pub fn size(files: impl IntoIterator<Item = PathBuf>, version: &str) -> Result<Size> {
    files.into_iter().try_fold(Size { raw: 0, compressed: 0 }, |all, file| {
        let mut bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        blank(&mut bytes, version.as_bytes());
        let mut compressed = Vec::new();
        brotli::BrotliCompress(&mut bytes.as_slice(), &mut compressed, &BrotliEncoderParams::default())?;
        Ok(Size { raw: all.raw + bytes.len(), compressed: all.compressed + compressed.len() })
    })
}

/// Replaces each occurrence of `text` by zeros.
fn blank(bytes: &mut [u8], text: &[u8]) {
    let found: Vec<usize> = bytes.windows(text.len()).enumerate().filter(|(_, window)| *window == text).map(|(at, _)| at).collect();
    found.into_iter().for_each(|at| bytes[at..at + text.len()].fill(b'0'));
}

/// A page and the files that it references. Excludes PNG icons, which only an installation needs.
fn loaded_by(dist: &Path, page: &str) -> Result<Vec<PathBuf>> {
    let html = std::fs::read_to_string(dist.join(page)).with_context(|| format!("cannot read {page}"))?;
    let mut names: Vec<&str> = named_files(&html).into_iter().filter(|name| !name.ends_with(".png")).chain([page]).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names.into_iter().map(|name| dist.join(name)).collect())
}

fn named_files(html: &str) -> Vec<&str> {
    let after = |attribute: &'static str| html.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
    let files = after(" href=\"").chain(after(" src=\"")).map(|name| name.trim_start_matches("./"));
    files.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_page_are_found() {
        let html = r#"<link rel="home" href="./"><link rel="icon" href="./icon.svg"/><script type="module" src="start.js"></script>"#;
        assert_eq!(named_files(html), ["icon.svg", "start.js"]);
    }

    #[test]
    fn name_of_commit_does_not_change_sizes() {
        let folder = std::env::temp_dir().join(format!("glasscage-sizes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("page");
        let size_of = |version: &str| {
            std::fs::write(&file, format!("It is {version}, that is {version}.")).unwrap();
            size([file.clone()], version).unwrap()
        };
        assert_eq!(size_of("0.1.0+0a1b2c3d"), size_of("0.1.0+99999999"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn too_large_part_is_named() {
        let size = |kilobytes: usize| Size { raw: kilobytes * 3000, compressed: kilobytes * 1000 };
        let sizes = Sizes { page: size(380), parts: size(1), engine: size(1200), frame: size(400) };
        assert!(sizes.check().is_ok());
        let problem = Sizes { engine: size(1201), ..sizes }.check().unwrap_err().to_string();
        assert_eq!(problem, "engine: 3603.0 kB, compressed 1201.0 kB, and 1200 kB is the most it may have");
    }
}
