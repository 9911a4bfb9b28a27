//! `cargo xtask docs`: builds the documentation site with mdBook from the Markdown files of the repository, and checks its pages.
//!
//! `docs/SUMMARY.md` lists the chapters, which are in several folders. mdBook needs them in one folder, so they are staged there.

pub mod blocks;
mod check;
mod stage;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::command::{build as build_folder, root, run as run_command};
use crate::setup;

/// Output of mdBook that our pages do not use.
const UNUSED: [&str; 16] = [
    ".nojekyll",
    "404.html",
    "ayu-highlight.css",
    "book.js",
    "clipboard.min.js",
    "css",
    "favicon.png",
    "favicon.svg",
    "fonts",
    "highlight.css",
    "highlight.js",
    "mark.min.js",
    "searcher.js",
    "toc.html",
    "toc.js",
    "tomorrow-night.css",
];

/// Builds the site next to the page, into `dist/docs`.
pub fn run() -> Result<()> {
    let site = root().join("dist/docs");
    build(&site)?;
    println!("The documentation is in {}.", site.display());
    Ok(())
}

/// Builds and checks the site, then replaces `folder` by it.
pub fn build(folder: &Path) -> Result<()> {
    let stage = build_folder().join("book");
    fs::remove_dir_all(&stage).ok();
    stage::write(&stage)?;
    let book = stage.to_str().context("the path of the build folder is not UTF-8")?;
    run_command(&mut setup::docs()?.command("mdbook", &["build", book])?)?;
    let built = stage.join("book");
    for name in UNUSED {
        let path = built.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path).ok();
        }
    }
    check::check(&built)?;
    fs::remove_dir_all(folder).ok();
    folder.parent().map(fs::create_dir_all).transpose()?;
    fs::rename(&built, folder).with_context(|| format!("cannot write {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a style sheet that define a color.
    fn colors(file: &str) -> Vec<String> {
        let text = fs::read_to_string(root().join(file)).unwrap();
        text.lines().map(str::trim).filter(|line| line.starts_with("--")).map(str::to_owned).collect()
    }

    #[test]
    fn site_has_colors_of_page() {
        let page = colors("www/base.css");
        let site = colors("docs/site/site.css");
        assert!(!site.is_empty());
        assert_eq!(site.into_iter().filter(|color| !page.contains(color)).collect::<Vec<_>>(), Vec::<String>::new());
    }
}
