//! `glasscage export`: converts an explanation to pictures, tables and links, and back.

use std::path::{Path, PathBuf};

use glasscage::explanation::{Document, Passage, to_fragment};
use glasscage::open::{Opened, open_any};
use glasscage::tables::{Contents, Format, table};
use resvg::tiny_skia::Pixmap;

use crate::cli::{complaint, glasscage};

const GALLERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/gallery/");

/// A new, empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("export").join(name);
    std::fs::remove_dir_all(&folder).ok();
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn explanation() -> (String, Document) {
    let file = format!("{GALLERY}05-five-or-six-steps.json");
    let document = Document::from_json(&std::fs::read_to_string(&file).unwrap()).unwrap();
    (file, document)
}

/// Exports, and returns the output on standard error.
fn export(arguments: &[&str], input: &str) -> String {
    let output = glasscage(&[&["export"], arguments].concat(), input);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    error
}

fn opened(file: &Path) -> Document {
    match open_any(&std::fs::read(file).unwrap()) {
        Ok(Opened::Explanation(document)) => *document,
        other => panic!("{}: {other:?}", file.display()),
    }
}

#[test]
fn explanation_survives_every_file_type() {
    let folder = folder("round");
    let (json, document) = explanation();
    let files = ["a.svg", "a.png", "b.json", "link.txt"].map(|name| folder.join(name));
    let names: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let to: Vec<&str> = names.iter().flat_map(|name| ["--to", name]).collect();
    assert_eq!(export(&[&[&*json, "--width", "480", "--scale", "1"], &to[..]].concat(), ""), "");
    for file in &files[..3] {
        assert_eq!(opened(file), document, "{}", file.display());
        let again = folder.join("again.json");
        export(&[file.to_str().unwrap(), "--to", again.to_str().unwrap()], "");
        assert_eq!(opened(&again), document, "{}", file.display());
    }
    assert_eq!(opened(&files[3]).table.n_sources(), document.table.n_sources());
    let png = std::fs::read(&files[1]).unwrap();
    assert_eq!(&png[16..20], 480_u32.to_be_bytes());
}

#[test]
fn png_shows_content_of_svg() {
    let folder = folder("png");
    let file = folder.join("a.png");
    let (json, document) = explanation();
    export(&[&json, "--to", file.to_str().unwrap(), "--scale", "1", "--dark", "--no-percentages"], "");
    let png = std::fs::read(&file).unwrap();
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    let svg = folder.join("a.svg");
    export(&[&json, "--to", svg.to_str().unwrap(), "--dark", "--no-percentages"], "");
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.contains(&format!("width=\"{}\" height=\"{}\"", size(16), size(20))));
    assert!(svg.contains(document.prompt.sentence(0).trim()) && svg.contains("#121212"), "dark");
    // Text adds thousands of gray pixels, which a picture without text lacks.
    assert!(png.len() > 25_000, "{}", png.len());
}

#[test]
fn tables_match_library() {
    let folder = folder("tables");
    let (json, document) = explanation();
    let cases = [
        ("shares", Contents::Shares),
        ("scores", Contents::Scores),
        ("derived", Contents::Derived),
        ("weights", Contents::Weights),
        ("influence", Contents::Influence),
    ];
    for (name, contents) in cases {
        for (ending, format) in [("csv", Format::Csv), ("md", Format::Markdown), ("tex", Format::Latex)] {
            let file = folder.join(format!("{name}.{ending}"));
            export(&[&json, "--table", name, "--to", file.to_str().unwrap()], "");
            assert_eq!(std::fs::read_to_string(file).unwrap(), table(&document, contents, format));
        }
    }
}

#[test]
fn explained_sentences_can_be_chosen_and_listed() {
    let folder = folder("output");
    let (json, document) = explanation();
    let file = folder.join("a.json");
    export(&[&json, "--output", "3,2", "--to", file.to_str().unwrap()], "");
    assert_eq!(opened(&file).output, [1, 2]);
    let listed = glasscage(&["export", file.to_str().unwrap(), "--list"], "");
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(listed.lines().count(), document.table.n_sources());
    assert_eq!(listed.lines().filter(|line| line.starts_with('*')).count(), 2, "{listed}");
    assert!(listed.contains(&format!("*    G2  {}", document.generation.sentence(1).trim())), "{listed}");
    export(&[file.to_str().unwrap(), "--output", "last", "--to", file.to_str().unwrap()], "");
    assert_eq!(opened(&file).output, [document.generation.sentences.len() - 1]);
}

#[test]
fn links_and_standard_input_are_read() {
    let folder = folder("link");
    let (json, document) = explanation();
    let link = format!("https://example.org/#{}", to_fragment(&document));
    let file = folder.join("a.txt");
    export(&[&link, "--to", file.to_str().unwrap(), "--page", "https://example.org/page#old"], "");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, format!("https://example.org/page#{}\n", to_fragment(&document)));
    let svg = folder.join("a.svg");
    export(&["-", "--to", svg.to_str().unwrap()], &std::fs::read_to_string(json).unwrap());
    assert_eq!(opened(&svg), document);
}

#[test]
fn right_to_left_text_stays_in_column() {
    let folder = folder("right");
    let [json, png] = ["a.json", "a.png"].map(|name| folder.join(name).display().to_string());
    let (_, mut document) = explanation();
    let text = "\u{643}\u{645} \u{62a}\u{641}\u{627}\u{62d}\u{629} \u{628}\u{642}\u{64a}\u{62a}\u{61f}";
    let n = document.prompt.sentences.len();
    let spans: Vec<_> = (0..n).map(|k| k * text.len()..(k + 1) * text.len()).collect();
    document.prompt = Passage::new(&text.repeat(n), &spans, vec![5; n]).into();
    std::fs::write(&json, document.to_json()).unwrap();
    export(&[&json, "--to", &png, "--scale", "1", "--no-percentages", "--output", "1"], "");
    let picture = Pixmap::load_png(png).unwrap();
    // Text is darker than highlights. The first sentence is near the top, and its column ends 25 pixels before the edge.
    let is_dark = |x: u32, y: u32| picture.pixel(x, y).is_some_and(|pixel| pixel.red() < 60);
    let n_dark =
        |columns: std::ops::Range<u32>| columns.flat_map(|x| (100..125).map(move |y| (x, y))).filter(|&(x, y)| is_dark(x, y)).count();
    assert_eq!(n_dark(776..800), 0);
    assert!(n_dark(700..776) > 50, "{}", n_dark(700..776));
}

#[test]
fn characters_without_font_are_reported() {
    let folder = folder("letters");
    let file = folder.join("a.json");
    // A private-use character, which fonts do not contain.
    let (json, _) = explanation();
    let text = std::fs::read_to_string(json).unwrap().replacen("Pia has", "\u{10fffd}ia has", 1);
    std::fs::write(&file, text).unwrap();
    let said = export(&[file.to_str().unwrap(), "--scale", "1", "--to", folder.join("a.png").to_str().unwrap()], "");
    assert!(said.contains('\u{10fffd}') && said.contains("--font") && said.lines().count() == 1, "{said}");
}

#[test]
fn export_error_is_one_line() {
    let folder = folder("refused");
    let (json, _) = explanation();
    let to = |name: &str| folder.join(name).display().to_string();
    let refused = |arguments: &[&str]| complaint(&[&["export"], arguments].concat(), "");
    assert!(refused(&[&json]).contains("--to"));
    assert!(refused(&[&json, "--to", &to("a.bmp")]).contains(".svg, .png"));
    assert!(refused(&[&json, "--to", "/nowhere/a.svg"]).contains("/nowhere/a.svg"));
    assert!(refused(&[&json, "--to", &to("a.svg"), "--output", "99"]).contains("only 7 sentences"));
    assert!(refused(&[&json, "--to", &to("a.csv"), "--table", "magic"]).contains("magic"));
    assert!(refused(&[&json, "--to", &to("a.png"), "--scale", "0"]).contains("--scale 0"));
    assert!(refused(&[&json, "--to", &to("a.png"), "--scale", "16", "--width", "4000"]).contains("too large"));
    assert!(refused(&[&json, "--to", &to("a.png"), "--font", &json]).contains("not a font"));
    assert!(refused(&["/nowhere.json", "--to", &to("a.svg")]).contains("/nowhere.json"));
    assert!(refused(&[&format!("{GALLERY}index.json"), "--to", &to("a.svg")]).contains("not an explanation document"));
    assert!(
        refused(&[concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--to", &to("a.svg")]).contains("not an explanation or a lesson")
    );
    assert!(refused(&[&format!("{GALLERY}lesson-methods-disagree.json"), "--to", &to("a.svg")]).contains("a lesson"));
    assert!(refused(&["https://example.org/#g3.AAAA", "--to", &to("a.svg")]).contains("damaged"));
    let icon = concat!(env!("CARGO_MANIFEST_DIR"), "/www/icon-192.png");
    assert!(refused(&[icon, "--to", &to("a.svg")]).contains("contains no explanation"));
}

#[test]
fn html_export_needs_viewer() {
    let (file, document) = explanation();
    let folder = folder("html");
    let (page, viewer) = (folder.join("a.html"), folder.join("viewer.html"));
    std::fs::write(
        &viewer,
        "<!doctype html><title>GLASSCAGE_TITLE</title>\
        <script type=\"application/json\" id=\"document\">GLASSCAGE_DOCUMENT</script>",
    )
    .unwrap();
    let arguments = [&file, "--to", page.to_str().unwrap(), "--viewer"];
    export(&[&arguments[..], &[viewer.to_str().unwrap()]].concat(), "");
    assert_eq!(opened(&page), document);
    let words = complaint(&[&["export"], &arguments[..], &["nowhere.html"]].concat(), "");
    assert!(words.contains("--viewer"), "{words}");
}
