//! `glasscage export`: writes an explanation as a picture, a page, a table or a link.

mod raster;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use glasscage_core::explanation::{Document, PlacedUnit, title, to_fragment};
use glasscage_core::figure::{self, Labels};
use glasscage_core::html;
use glasscage_core::open::{Opened, open_any};
use glasscage_core::tables::{self, Contents, Format};

use super::explain::parse_output;
use super::output;

#[derive(Args)]
pub struct Arguments {
    /// An explanation: its JSON, a picture or page that contains it (SVG, PNG, HTML), a file with a link, a link, or - for standard input
    input: String,
    /// File to write, by its ending: .svg, .png, .html, .csv, .md, .tex, .json, or .txt for a link. Repeat for several
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    to: Vec<PathBuf>,
    /// Print the sentences with their numbers
    #[arg(long)]
    list: bool,
    /// Generated sentences to explain: "last", or 1-based numbers such as 1,3. Default: those of the document
    #[arg(long)]
    output: Option<String>,
    /// Contents of a table
    #[arg(long, value_enum, default_value = "shares")]
    table: Table,
    /// Width of a picture in CSS pixels
    #[arg(long, default_value_t = 800)]
    width: u32,
    /// Draw a picture on a dark background
    #[arg(long)]
    dark: bool,
    /// Draw a picture without the columns of percentages
    #[arg(long)]
    no_percentages: bool,
    /// Draw the edges of a picture that carry this percentage of the influence
    #[arg(long, value_name = "PERCENT", default_value_t = 90, value_parser = clap::value_parser!(u8).range(0..=100))]
    edges: u8,
    /// Date of the explanation, for the last line of a picture
    #[arg(long)]
    date: Option<String>,
    /// Pixels of a PNG per CSS pixel
    #[arg(long, default_value_t = 2.0)]
    scale: f32,
    /// Font file for PNG, in addition to the installed fonts. Repeat for several
    #[arg(long, value_name = "FILE")]
    font: Vec<PathBuf>,
    /// Viewer for an HTML file: explanation.html of a built page (cargo xtask serve --release)
    #[arg(long, value_name = "FILE", default_value = "dist/explanation.html")]
    viewer: PathBuf,
    /// Address of the page that a link leads to. Without it a link begins with #
    #[arg(long, value_name = "ADDRESS", default_value = "")]
    page: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Table {
    /// Each sentence with its text and its influence
    Shares,
    /// T: the scores as measured, in the unit of the method: nats per token
    Scores,
    /// S: the derived scores, from which the graph is made: T summed, compressed and weighted as the document says; without a unit where
    /// they are compressed
    Derived,
    /// A: the weights of the edges
    Weights,
    /// Y: the influence along all paths
    Influence,
}

/// Content of a file, chosen by its ending.
#[derive(Clone, Copy)]
enum Kind {
    Svg,
    Png,
    Html,
    Table(Format),
    Json,
    Link,
}

pub fn export(arguments: &Arguments) -> Result<(), String> {
    let kinds = arguments.to.iter().map(|file| kind(file)).collect::<Result<Vec<_>, _>>()?;
    if !(arguments.scale > 0.0 && arguments.scale <= 16.0) {
        return Err(format!("--scale {}: it is above 0 and at most 16", arguments.scale));
    }
    arguments.to.iter().try_for_each(|file| output::check_writable(file))?;
    let mut document = open(&arguments.input)?;
    if let Some(output) = &arguments.output {
        document.output = rows(output, document.generation.sentences.len())?;
    }
    for (file, kind) in arguments.to.iter().zip(kinds) {
        output::write(file, contents(&document, kind, arguments)?)?;
    }
    if arguments.list { output::print(&list(&document)) } else { Ok(()) }
}

fn kind(file: &Path) -> Result<Kind, String> {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    match &*ending {
        "svg" => Ok(Kind::Svg),
        "png" => Ok(Kind::Png),
        "html" => Ok(Kind::Html),
        "csv" => Ok(Kind::Table(Format::Csv)),
        "md" => Ok(Kind::Table(Format::Markdown)),
        "tex" => Ok(Kind::Table(Format::Latex)),
        "json" => Ok(Kind::Json),
        "txt" => Ok(Kind::Link),
        _ => Err(format!("--to {}: the ending is none of .svg, .png, .html, .csv, .md, .tex, .json and .txt", file.display())),
    }
}

/// Opens the explanation in a file, a link or standard input.
fn open(input: &str) -> Result<Document, String> {
    let is_link = input.starts_with('#') || input.contains("://");
    let bytes = if is_link { input.as_bytes().to_vec() } else { output::read(Path::new(input))? };
    let name = if is_link { "the link" } else { input };
    match open_any(&bytes).map_err(|error| format!("{name}: {error}"))? {
        Opened::Explanation(document) => Ok(*document),
        Opened::Lesson(_) => Err(format!("{name}: this is a lesson; one explanation at a time can be exported")),
    }
}

/// The rows to explain.
fn rows(output: &str, n_generated: usize) -> Result<Vec<usize>, String> {
    let rows = parse_output(output)?;
    match rows.last() {
        Some(&last) if last >= n_generated => Err(format!("--output {output}: the answer has only {n_generated} sentences")),
        Some(_) => Ok(rows),
        None => Ok(vec![n_generated - 1]),
    }
}

fn contents(document: &Document, kind: Kind, arguments: &Arguments) -> Result<Vec<u8>, String> {
    let table = match arguments.table {
        Table::Shares => Contents::Shares,
        Table::Scores => Contents::Scores,
        Table::Derived => Contents::Derived,
        Table::Weights => Contents::Weights,
        Table::Influence => Contents::Influence,
    };
    Ok(match kind {
        Kind::Svg => figure::svg(document, &options(arguments)).into_bytes(),
        Kind::Png => picture(document, arguments)?,
        Kind::Html => page(document, &arguments.viewer)?.into_bytes(),
        Kind::Table(format) => tables::table(document, table, format).into_bytes(),
        Kind::Json => (document.to_json() + "\n").into_bytes(),
        Kind::Link => {
            let page = arguments.page.split('#').next().unwrap_or_default();
            format!("{page}#{}\n", to_fragment(document)).into_bytes()
        }
    })
}

/// The standalone HTML file.
fn page(document: &Document, viewer: &Path) -> Result<String, String> {
    let name = viewer.display();
    let page = fs::read_to_string(viewer).map_err(|error| format!("cannot read {name}, the viewer that --viewer names: {error}"))?;
    html::with_document(&page, document, &title(document)).map_err(|error| format!("{name}: {error}"))
}

fn options(arguments: &Arguments) -> figure::Options {
    figure::Options {
        width: f64::from(arguments.width),
        is_dark: arguments.dark,
        has_percentages: !arguments.no_percentages,
        edge_share: f64::from(arguments.edges) / 100.0,
        date: arguments.date.clone(),
        labels: Labels::ENGLISH,
    }
}

/// A PNG that contains the document.
fn picture(document: &Document, arguments: &Arguments) -> Result<Vec<u8>, String> {
    let svg = figure::svg(document, &options(arguments));
    let (png, missing) = raster::draw(&svg, arguments.scale, &arguments.font)?;
    if !missing.is_empty() {
        output::say(&(notice(&missing) + "\n"));
    }
    figure::png_with_document(&png, document).map_err(|error| error.to_string())
}

/// Warns about characters that the PNG does not show, or shows as boxes. `missing` has the first one of each line.
fn notice(missing: &BTreeSet<char>) -> String {
    let some: String = missing.iter().take(10).collect();
    format!("no installed font has {some}, so the PNG shows boxes or nothing there. Name a font file with --font, or export to SVG")
}

/// Each sentence with its number, in the order of the text. Explained sentences have an asterisk before it.
fn list(document: &Document) -> String {
    let texts = document.source_texts();
    let explained = document.explained();
    let line = |PlacedUnit { source, row, .. }: PlacedUnit| {
        let mark = if row.is_some_and(|row| explained.contains(&row)) { "*" } else { " " };
        format!("{mark} {:>5}  {}\n", document.label(source), texts[source].split_whitespace().collect::<Vec<_>>().join(" "))
    };
    document.units_in_order().into_iter().map(line).collect()
}
