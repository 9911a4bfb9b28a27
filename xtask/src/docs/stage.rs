//! Stages the chapters of `docs/SUMMARY.md` for mdBook, with links that fit their new places.
//!
//! Links to other files of the repository lead to copies. Their names end in `.txt`, so that every host serves them as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::command::root;

const SUMMARY: &str = "docs/SUMMARY.md";
/// Settings, template and style of the site, and their places for mdBook.
const PARTS: [(&str, &str); 5] = [
    ("docs/site/book.toml", "book.toml"),
    ("docs/site/index.hbs", "theme/index.hbs"),
    ("docs/site/site.css", "src/site.css"),
    ("docs/site/site.js", "src/site.js"),
    ("www/icon.svg", "src/icon.svg"),
];
/// Folder of the copies in the site.
const COPIES: &str = "files";
/// Endings of files that browsers show or save without help.
const SHOWN: [&str; 6] = ["csv", "gif", "jpg", "json", "png", "svg"];

/// Writes the folder that mdBook builds.
pub fn write(stage: &Path) -> Result<()> {
    let source = stage.join("src");
    fs::create_dir_all(&source)?;
    fs::create_dir_all(stage.join("theme"))?;
    for (file, to) in PARTS {
        fs::copy(root().join(file), stage.join(to)).with_context(|| file.to_owned())?;
    }
    let summary = read(SUMMARY)?;
    let chapters = chapters(&summary);
    ensure!(chapters.len() > 1, "{SUMMARY} lists no chapters");
    let pages: BTreeSet<&String> = chapters.values().collect();
    // The summary and the first chapter have the same page.
    ensure!(pages.len() + 1 == chapters.len(), "two documents of {SUMMARY} have the same name");
    let mut copies = BTreeMap::new();
    let mut add = |document: &str, place: &str| {
        let text = with_links(&read(document)?, document, &chapters, &mut copies);
        write_file(&source.join(place), text.as_bytes())
    };
    add(SUMMARY, "SUMMARY.md")?;
    chapters.iter().filter(|(document, _)| *document != SUMMARY).try_for_each(|(document, place)| add(document, place))?;
    for (file, place) in copies {
        let bytes = fs::read(root().join(&file)).with_context(|| format!("{file}, to which a chapter links"))?;
        write_file(&source.join(place), &bytes)?;
    }
    Ok(())
}

/// Documents of the summary and the names of their pages, all in one folder, because mdBook's table of contents has the same links on
/// every page. A `README.md` has the name of its folder.
fn chapters(summary: &str) -> BTreeMap<String, String> {
    let documents = links(summary).filter_map(|link| resolved(SUMMARY, link));
    let pages = documents.map(|document| (document.clone(), page_name(&document)));
    // The site has its table of contents on every page.
    pages.chain([(SUMMARY.to_owned(), page_name("README.md"))]).collect()
}

fn page_name(document: &str) -> String {
    let path = document.strip_suffix("/README.md").unwrap_or(document);
    let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md").to_lowercase();
    format!("{}.md", if name == "readme" { "index" } else { &name })
}

/// The text with links as they are in the site. Adds the files to copy to `copies`.
fn with_links(text: &str, document: &str, chapters: &BTreeMap<String, String>, copies: &mut BTreeMap<String, String>) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("](");
        let Some((link, rest)) = part.split_once(')') else {
            out.push_str(part);
            continue;
        };
        let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
        match resolved(document, path) {
            Some(target) => {
                let copy = || copies.entry(target.clone()).or_insert_with(|| copy_place(&target)).clone();
                let to = chapters.get(&target).cloned().unwrap_or_else(copy);
                out.push_str(&to);
                anchor.into_iter().for_each(|anchor| out.push_str(&format!("#{anchor}")));
            }
            None => out.push_str(link),
        }
        out.push(')');
        out.push_str(rest);
    }
    out
}

/// Place of a file that is not a chapter. mdBook would change links that contain `.md`.
fn copy_place(file: &str) -> String {
    let is_shown = Path::new(file).extension().is_some_and(|ending| SHOWN.iter().any(|shown| ending == *shown));
    format!("{COPIES}/{}{}", file.trim_end_matches(".md"), if is_shown { "" } else { ".txt" })
}

/// Targets of the links in Markdown.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|part| Some(part.split_once(')')?.0))
}

/// Path in the repository to which a relative link of `document` leads. `None` for addresses, anchors, and anything else that is not a
/// file of the repository.
fn resolved(document: &str, link: &str) -> Option<String> {
    if link.is_empty() || link.contains(':') {
        return None;
    }
    let mut path = PathBuf::new();
    for part in Path::new(document).parent()?.join(link.split('#').next()?).components() {
        match part {
            Component::ParentDir => path.pop().then_some(())?,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    root().join(&path).is_file().then(|| path.to_string_lossy().into_owned())
}

fn read(document: &str) -> Result<String> {
    fs::read_to_string(root().join(document)).with_context(|| document.to_owned())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    path.parent().map(fs::create_dir_all).transpose()?;
    fs::write(path, bytes).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_move_with_their_links() {
        let chapters = chapters("[Glasscage](../README.md)\n- [Start](start.md)\n- [Python](../python/README.md)");
        assert_eq!(chapters["README.md"], "index.md");
        assert_eq!((&*chapters["docs/start.md"], &*chapters["python/README.md"]), ("start.md", "python.md"));
        let mut copies = BTreeMap::new();
        let mut moved = |text: &str| with_links(text, "python/README.md", &chapters, &mut copies);
        assert_eq!(moved("[a](../docs/start.md#b) [c](https://d.e/)"), "[a](start.md#b) [c](https://d.e/)");
        assert_eq!(moved("[a](#b) [code](../src/lib.rs)"), "[a](#b) [code](files/src/lib.rs.txt)");
        assert_eq!(copies["src/lib.rs"], "files/src/lib.rs.txt");
    }

    #[test]
    fn summary_lists_every_document() {
        let chapters = chapters(&read(SUMMARY).unwrap());
        let documents = |folder: &str| fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        for folder in ["docs", "docs/research"] {
            let names = documents(folder).map(|name| format!("{folder}/{}", name.to_string_lossy()));
            let missing = names.filter(|name| name.ends_with(".md") && !chapters.contains_key(name));
            assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
        }
    }
}
