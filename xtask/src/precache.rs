//! Moves inline scripts out of the page, and writes the list of files that the service worker caches.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::command::root;
use crate::hash::sha256;

const SERVICE_WORKER: &str = "sw.js";
/// Files that only embedding pages need. They are not cached, so that a page always loads all of them in one version.
const VIEWER_FILES: [&str; 7] = ["element.d.ts", "element.js", "embed.css", "embed.html", "embed.js", "viewer.js", "viewer_bg.wasm"];
/// Glasscage Standard: downloaded only on request, and stored apart from the page's own files.
const ON_REQUEST: &str = "models/standard/";
/// Delimiters of the inline script. The Content-Security-Policy of a site may forbid inline scripts.
const SCRIPT: [&str; 2] = ["<script type=\"module\">", "</script>"];

/// Moves the inline script, and writes the service worker. Call this when all other files of the page are in `dist`.
pub fn precache(dist: &Path) -> Result<()> {
    move_script(dist)?;
    write_service_worker(dist)
}

/// Moves the script that starts the page from `index.html` to `start.js`.
fn move_script(dist: &Path) -> Result<()> {
    let index = dist.join("index.html");
    let html = fs::read_to_string(&index)?;
    if let Some((page, script)) = without_script(&html) {
        fs::write(dist.join("start.js"), with_reported_failure(script)?)?;
        fs::write(index, page)?;
    }
    Ok(())
}

/// The page with a reference to its script, and the script.
fn without_script(html: &str) -> Option<(String, &str)> {
    let (before, rest) = html.split_once(SCRIPT[0])?;
    let (script, after) = rest.split_once(SCRIPT[1])?;
    Some((format!("{before}<script type=\"module\" src=\"./start.js\"></script>{after}"), script))
}

/// The script, which reports a failure of the program itself, so that `start-watch.js` shows it. Browsers do not always report one of a
/// module that awaits: Firefox 153 is silent if the program was cut off ("out of memory"), and `WebKitGTK` 2.50 without `WebAssembly`.
fn with_reported_failure(script: &str) -> Result<String> {
    let parts = script.split_once("await init(").and_then(|(before, rest)| Some((before, rest.split_once(");")?)));
    let (before, (argument, after)) = parts.context("the script that starts the page does not wait for its program")?;
    Ok(format!("{before}await init({argument}).catch(reason => {{ reportError(new Error(String(reason))); throw reason; }});{after}"))
}

fn write_service_worker(dist: &Path) -> Result<()> {
    let mut files = Vec::new();
    list(dist, "", &mut files)?;
    files.sort();
    let list = serde_json::to_string_pretty(&files)?;
    let code = fs::read_to_string(root().join("www").join(SERVICE_WORKER))?;
    Ok(fs::write(dist.join(SERVICE_WORKER), with_version(&list, &code))?)
}

/// The service worker that caches the files of `list`. Its version is a hash of these files and of its own code.
fn with_version(list: &str, code: &str) -> String {
    let rest = format!("const FILES = {list};\n{code}");
    format!("const VERSION = \"{}\";\n{rest}", &sha256(rest.as_bytes())[..16])
}

/// Whether the service worker caches the file at this path.
fn is_kept(path: &str) -> bool {
    path != SERVICE_WORKER && !VIEWER_FILES.contains(&path) && !path.starts_with(ON_REQUEST)
}

/// Collects the cached files in `folder`: their paths with `/` separators, and their hashes.
fn list(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => list(&entry.path(), &format!("{path}/"), files)?,
            false if is_kept(&path) => files.push((path, sha256(&fs::read(entry.path())?))),
            false => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_script_becomes_file() {
        let (page, script) = without_script("<head><script type=\"module\">\nstart()\n</script></head>").unwrap();
        assert_eq!(page, "<head><script type=\"module\" src=\"./start.js\"></script></head>");
        assert_eq!(script, "\nstart()\n");
        assert!(without_script(&page).is_none());
    }

    #[test]
    fn failure_of_the_program_is_reported() {
        let script = with_reported_failure("import init from './app.js';\nconst wasm = await init({ a: './b' });\nrun(wasm);").unwrap();
        let init = "const wasm = await init({ a: './b' }).catch(reason => { reportError(new Error(String(reason))); throw reason; });";
        assert_eq!(script, format!("import init from './app.js';\n{init}\nrun(wasm);"));
        assert!(with_reported_failure("start()").is_err());
    }

    #[test]
    fn version_is_that_of_files_and_code() {
        let version = |list: &str, code: &str| with_version(list, code).lines().next().unwrap().to_owned();
        assert_eq!(version("[1]", "a"), version("[1]", "a"));
        assert!(version("[1]", "a") != version("[2]", "a") && version("[1]", "a") != version("[1]", "b"));
        assert!(with_version("[1]", "a").ends_with("\nconst FILES = [1];\na"));
    }

    #[test]
    fn models_on_request_are_not_kept() {
        assert!(is_kept("models/demo.gguf") && is_kept("index.html"));
        assert!(!is_kept("models/standard/standard-00001-of-00003.gguf") && !is_kept("sw.js") && !is_kept("viewer.js"));
    }
}
