//! Joins the style sheets of each page into one file. It compresses better than several files do, and takes one request.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Pages with style sheets, and the file that takes the place of these sheets.
const PAGES: [(&str, &str); 2] = [("index.html", "index.css"), ("embed.html", FRAME)];
/// Style sheet of the viewer.
pub const FRAME: &str = "embed.css";
/// Start of a link to a style sheet, up to its address.
const LINK: &str = "<link rel=\"stylesheet\" href=\"";

/// Joins the sheets of the pages in `dist`, and removes the single ones.
pub fn join(dist: &Path) -> Result<()> {
    let mut single = BTreeSet::new();
    for (page, file) in PAGES {
        let path = dist.join(page);
        let html = fs::read_to_string(&path).with_context(|| format!("{page} is missing"))?;
        let (joined_page, names) = with_one_sheet(&html, file);
        ensure!(!names.is_empty(), "{page} has no style sheets");
        let sheets = names.iter().map(|name| fs::read_to_string(dist.join(name)).with_context(|| format!("{name} is missing")));
        fs::write(dist.join(file), sheets.collect::<Result<String>>()?)?;
        fs::write(path, joined_page)?;
        single.extend(names.into_iter().map(str::to_owned));
    }
    single.iter().try_for_each(|name| fs::remove_file(dist.join(name)).with_context(|| format!("cannot remove {name}")))
}

/// The page with a link to `file` in place of its links to style sheets, and the names of these sheets in order.
pub fn with_one_sheet<'a>(html: &'a str, file: &str) -> (String, Vec<&'a str>) {
    let mut parts = html.split(LINK);
    let mut page = parts.next().unwrap_or_default().to_owned();
    let mut names = Vec::new();
    for part in parts {
        let (name, rest) = part.split_once('"').unwrap_or((part, ""));
        match names.is_empty() {
            true => page += &format!("{LINK}{file}\">"),
            false => page.truncate(page.trim_end().len()),
        }
        page += rest.split_once('>').map_or("", |(_, after)| after);
        names.push(name.trim_start_matches("./"));
    }
    (page, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::root;

    /// A new folder with these files.
    fn folder(name: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("glasscage-sheets-{name}-{}", std::process::id()));
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(file, text)| fs::write(folder.join(file), text).unwrap());
        folder
    }

    #[test]
    fn sheets_are_joined_in_order() {
        let files = [
            (
                "index.html",
                "<title>a</title>\n<link rel=\"stylesheet\" href=\"./b.css\"/>\n<link rel=\"stylesheet\" href=\"./a.css\"/>\n<p>",
            ),
            ("embed.html", "<link rel=\"stylesheet\" href=\"b.css\">\n  <link rel=\"stylesheet\" href=\"c.css\">\n  <script>"),
            ("a.css", "a {}\n"),
            ("b.css", "b {}\n"),
            ("c.css", "c {}\n"),
        ];
        let dist = folder("joined", &files);
        join(&dist).unwrap();
        let read = |name: &str| fs::read_to_string(dist.join(name)).unwrap();
        assert_eq!(read("index.html"), "<title>a</title>\n<link rel=\"stylesheet\" href=\"index.css\">\n<p>");
        assert_eq!(read("embed.html"), "<link rel=\"stylesheet\" href=\"embed.css\">\n  <script>");
        assert_eq!([read("index.css"), read("embed.css")], ["b {}\na {}\n", "b {}\nc {}\n"]);
        assert!(["a.css", "b.css", "c.css"].iter().all(|name| !dist.join(name).exists()), "single sheets are gone");
        fs::remove_dir_all(dist).unwrap();
    }

    #[test]
    fn missing_sheet_is_named() {
        let link = "<link rel=\"stylesheet\" href=\"a.css\">";
        let dist = folder("missing", &[("index.html", link), ("embed.html", link)]);
        assert_eq!(join(&dist).unwrap_err().to_string(), "a.css is missing");
        fs::remove_dir_all(dist).unwrap();
    }

    #[test]
    fn every_sheet_is_on_a_page() {
        let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
        let (page, frame) = (read("index.html"), read("www/embed.html"));
        let on_page: Vec<&str> = page.split("rel=\"css\" href=\"www/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let (_, on_frame) = with_one_sheet(&frame, FRAME);
        assert!(on_page.starts_with(&["base.css"]) && on_frame.starts_with(&["base.css"]) && on_frame.ends_with(&["viewer.css"]));
        for file in fs::read_dir(root().join("www")).unwrap() {
            let name = file.unwrap().file_name().to_string_lossy().into_owned();
            assert!(!name.ends_with(".css") || on_page.contains(&&*name) || on_frame.contains(&&*name), "{name}");
        }
    }
}
