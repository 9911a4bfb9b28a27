//! `cargo xtask screenshots`: pictures of every state in every theme, window size and browser, and a page that shows them together.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::slice;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::browsers::Browser;
use crate::command::{build, run};
use crate::test_environment::natively;
use crate::{build as page, setup};

/// The page test that takes the pictures.
pub const TEST: &str = "screenshots::no_state_is_wider_than_its_window_in_any_look";
/// A GTK theme that makes `WebKitGTK` use the dark color scheme.
const DARK: &str = "Adwaita:dark";
const HEAD: &str = "<!doctype html><meta charset=utf-8><title>Glasscage in pictures</title>
<style>
body { font: 16px system-ui; margin: 1rem }
div { display: flex; gap: 1rem; overflow-x: auto; padding-bottom: 1rem }
figure { margin: 0 } img { height: 22rem; border: 1px solid gray; display: block }
</style>
<h1>Every state in every look</h1>
";

#[derive(Args, Default)]
pub struct Options {
    /// Use only this browser
    #[arg(long)]
    browser: Option<Browser>,
}

pub fn run_all(options: &Options) -> Result<()> {
    let dist = build().join("dist");
    page::page(&setup::web()?, &dist)?;
    let folder = build().join("screenshots");
    let browsers = options.browser.as_ref().map_or(Browser::value_variants(), slice::from_ref);
    for &browser in browsers {
        let pictures = folder.join(browser.to_string());
        if pictures.exists() {
            fs::remove_dir_all(&pictures)?;
        }
        let themes: &[Option<&str>] = if browser == Browser::WebKit { &[None, Some(DARK)] } else { &[None] };
        for theme in themes {
            let mut test = natively(&setup::browser(browser)?, &["--workspace", "--test", "page", TEST, "--", "--ignored"])?;
            test.env("GLASSCAGE_DIST", &dist).env("GLASSCAGE_BROWSER", browser.to_string()).env("GLASSCAGE_SCREENSHOTS", &folder);
            test.envs(theme.map(|theme| ("GTK_THEME", theme)));
            run(&mut test)?;
        }
    }
    let index = folder.join("index.html");
    fs::write(&index, gallery(&folder)?)?;
    println!("The pictures are in {}.", index.display());
    Ok(())
}

/// An HTML page with the pictures sorted by state, then look, then browser: `FOLDER/BROWSER/STATE/LOOK.png`.
fn gallery(folder: &Path) -> Result<String> {
    let mut states: BTreeMap<String, BTreeMap<(String, String), String>> = BTreeMap::new();
    for browser in names(folder)? {
        for state in names(&folder.join(&browser))? {
            for file in names(&folder.join(&browser).join(&state))? {
                let look = file.trim_end_matches(".png").to_owned();
                let address = format!("{browser}/{state}/{file}");
                states.entry(state.clone()).or_default().insert((look, browser.clone()), address);
            }
        }
    }
    let mut html = HEAD.to_owned();
    for (state, pictures) in states {
        write!(html, "<h2>{state}</h2>\n<div>\n")?;
        for ((look, browser), address) in pictures {
            let image = format!("<a href=\"{address}\"><img loading=lazy src=\"{address}\" alt=\"\"></a>");
            writeln!(html, "<figure>{image}<figcaption>{look}, {browser}</figcaption></figure>")?;
        }
        html.push_str("</div>\n");
    }
    Ok(html)
}

/// Names of the entries of a folder; empty if it is not a folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_looks_are_adjacent() {
        let folder = build().join("tmp/screenshots-test");
        for picture in ["chromium/01 first/360-light.png", "firefox/01 first/360-light.png", "chromium/01 first/768-dark.png"] {
            let file = folder.join(picture);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let html = gallery(&folder).unwrap();
        let captions: Vec<&str> = html.split("<figcaption>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
        assert_eq!(captions, ["360-light, chromium", "360-light, firefox", "768-dark, chromium"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
