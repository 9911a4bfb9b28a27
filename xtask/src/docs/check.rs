//! Checks the built documentation: every relative link leads to a file and an anchor of the site, and no page has inline code, which the
//! policy of the site forbids.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The page itself, next to which the site is deployed. A link to it may contain an explanation.
const PAGE: &str = "../";

/// Fails with all problems of all pages.
pub fn check(site: &Path) -> Result<()> {
    let mut pages = BTreeMap::new();
    collect(site, &mut pages)?;
    ensure!(!pages.is_empty(), "{} has no pages", site.display());
    let ids: BTreeMap<&PathBuf, BTreeSet<&str>> = pages.iter().map(|(page, html)| (page, values(html, "id").collect())).collect();
    let mut problems = Vec::new();
    for (page, html) in &pages {
        let name = page.strip_prefix(site).unwrap_or(page).display();
        problems.extend(tags(html).filter(|tag| has_inline_code(tag)).map(|tag| format!("{name} has inline code: <{tag}>")));
        let links = ["href", "src"].into_iter().flat_map(|attribute| values(html, attribute));
        let broken = links.filter(|link| !link.contains(':') && !is_page(link) && !leads_somewhere(page, link, &ids));
        problems.extend(broken.map(|link| format!("{name}: {link} leads nowhere")));
    }
    ensure!(problems.is_empty(), "the documentation has problems:\n{}", problems.join("\n"));
    Ok(())
}

fn is_page(link: &str) -> bool {
    link.strip_prefix(PAGE).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Whether a relative link of `page` leads to a file, and its anchor to an element.
fn leads_somewhere(page: &Path, link: &str, ids: &BTreeMap<&PathBuf, BTreeSet<&str>>) -> bool {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if path.is_empty() { page.to_owned() } else { page.parent().unwrap_or(page).join(path) };
    let Ok(target) = target.canonicalize() else { return false };
    target.is_file() && (anchor.is_empty() || ids.get(&target).is_some_and(|ids| ids.contains(anchor)))
}

/// Values of an attribute in the tags of a page.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {attribute}=\"");
    tags(html).filter_map(move |tag| tag.split_once(&start)?.1.split('"').next())
}

/// The tags of a page, without their brackets.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|tag| Some(tag.split_once('>')?.0))
}

/// Whether a tag contains code or begins it: a script without a file, a style sheet, a handler such as `onclick`, or a `javascript:` link.
fn has_inline_code(tag: &str) -> bool {
    let name = tag.split_ascii_whitespace().next().unwrap_or_default();
    let is_handler = |part: &str| {
        part.split_once('=')
            .is_some_and(|(name, _)| name.len() > 2 && name.starts_with("on") && name.bytes().all(|b| b.is_ascii_lowercase()))
    };
    (name == "script" && !tag.contains(" src=")) || name == "style" || tag.contains("javascript:") || tag.split(' ').any(is_handler)
}

/// The pages in a folder, by their absolute paths.
fn collect(folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path().canonicalize()?;
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let html = fs::read_to_string(&path)?;
            pages.insert(path, html);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn checked(index: &str) -> Result<()> {
        let site = std::env::temp_dir().join(format!("glasscage-docs-{}-{:?}", std::process::id(), thread::current().id()));
        fs::create_dir_all(&site).unwrap();
        fs::write(site.join("index.html"), index).unwrap();
        fs::write(site.join("other.html"), "<h1 id=\"there\">Other</h1>").unwrap();
        let result = check(&site.canonicalize().unwrap());
        fs::remove_dir_all(site).unwrap();
        result
    }

    #[test]
    fn broken_links_are_found() {
        checked("<a href=\"other.html#there\">a</a><a href=\"https://b.c/\">b</a>").unwrap();
        checked("<a href=\"../\">the page</a><a href=\"../#g3.abc\">an explanation</a>").unwrap();
        assert!(checked("<a href=\"other.html#elsewhere\">a</a>").is_err());
        assert!(checked("<img src=\"missing.png\">").is_err());
    }

    #[test]
    fn inline_code_is_found() {
        let inline =
            ["<script>run()", "<script type=\"module\">run()", "<style>p {}", "<p onload=\"run()\">", "<a href=\"javascript:run()\">"];
        assert!(inline.iter().all(|code| checked(code).is_err()));
        checked("<script defer src=\"other.html\"></script><p class=\"on=off\">").unwrap();
    }
}
