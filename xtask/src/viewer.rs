//! The viewer's program, and the standalone file: HTML, program and style sheet in one file, with a place for a document.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::command::root;
use crate::sheets::FRAME;

const PROGRAM: &str = "viewer_bg.wasm";
const LOADER: &str = "viewer.js";
/// Standalone file in the folder of the page. `www/explanation.html` is its template.
const FILE: &str = "explanation.html";
/// Unpacks the program in the file and starts it.
const START: &str = r#"
try {
const text = atob(document.getElementById("program").textContent);
const packed = new Uint8Array(text.length);
for (let at = 0; at < text.length; at++) packed[at] = text.charCodeAt(at);
const program = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
await __wbg_init({ module_or_path: await new Response(program).arrayBuffer() });
start();
} catch (error) {
  document.body.append({
    de: "Diese Erklärung kann hier nicht angezeigt werden. Öffnen Sie die Datei in einem neueren Browser.",
    zh: "无法在此显示这个解释。请用更新的浏览器打开此文件。",
  }[navigator.language.slice(0, 2)] ?? "This explanation could not be shown here. Open the file in a newer browser.");
  throw error;
}
"#;
/// The best compression level of `miniz_oxide`.
const COMPRESSION: u8 = 10;

/// Finishes the viewer that Trunk built into `dist`, whose style sheets are joined.
pub fn finish(dist: &Path) -> Result<()> {
    let program = fs::read(dist.join(PROGRAM))?;
    let styles = fs::read_to_string(dist.join(FRAME)).with_context(|| format!("{FRAME} is missing"))?;
    let script = fs::read_to_string(dist.join(LOADER))? + START;
    let template = fs::read_to_string(root().join("www").join(FILE))?;
    Ok(fs::write(dist.join(FILE), file(&template, &styles, &script, &program))?)
}

/// The standalone file, with the hashes for its Content-Security-Policy.
fn file(template: &str, styles: &str, script: &str, program: &[u8]) -> String {
    let packed = BASE64_STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(program, COMPRESSION));
    let parts = [
        ("GLASSCAGE_STYLE_HASH", source_hash(styles)),
        ("GLASSCAGE_SCRIPT_HASH", source_hash(script)),
        ("GLASSCAGE_STYLES", styles.to_owned()),
        ("GLASSCAGE_SCRIPT", script.to_owned()),
        ("GLASSCAGE_PROGRAM", packed),
    ];
    parts.iter().fold(template.to_owned(), |file, (place, part)| file.replacen(place, part, 1))
}

/// Hash in the format of a Content-Security-Policy.
fn source_hash(source: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_file_has_place() {
        let template = fs::read_to_string(root().join("www").join(FILE)).unwrap();
        let file = file(&template, "p { color: red }", "start()", b"program");
        assert!(file.contains("<style>p { color: red }</style>") && file.contains("<script type=\"module\">start()</script>"));
        assert!(file.contains(&source_hash("p { color: red }")) && file.contains(&source_hash("start()")));
        let left = file.split("GLASSCAGE_").skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_uppercase()).next().unwrap());
        assert_eq!(left.collect::<Vec<_>>(), ["TITLE", "DOCUMENT"], "saving a document fills these in");
    }
}
