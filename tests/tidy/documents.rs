//! Checks the parts of documents that quote other files: paths, links, labels of the page, figures, sizes.

use std::collections::BTreeSet;
use std::path::Path;

use glasscage::explanation::METHODS;
use glasscage::lesson::{Lesson, to_fragment};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::workspace;

/// Paths of recipes, for files that a reader is to make.
const TO_MAKE: [&str; 3] = ["crates/attribution/src/probability.rs", "public/locales/fr.json", "public/lessons/fr.json"];
/// Documents in which bold words are labels of the page, except these and names of methods.
const WITH_LABELS: [&str; 8] = [
    "docs/command-line.md",
    "docs/embedding.md",
    "docs/lessons.md",
    "docs/models.md",
    "docs/privacy.md",
    "docs/reading-the-numbers.md",
    "docs/start.md",
    "docs/teaching.md",
];
const NO_LABELS: [&str; 17] = [
    "T",
    "A",
    "Y",
    "total (CAGE)",
    "direct (row)",
    "Attn × IG",
    "Pictures carry the explanation",
    "Guess first.",
    "Choose an answer.",
    "A link as QR code",
    "Hide parts of the page",
    "Languages",
    "A model for your own problems",
    "Before a download",
    "A download",
    "Models stay",
    "A model that does not load",
];
/// Words of documents that quote the limit of a size, by the name of the size.
const QUOTED_LIMITS: [(&str, &str, &str); 4] = [
    ("page", "docs/lessons.md", "a page of at most LIMIT kB"),
    ("engine", "docs/deploying.md", "at most LIMIT kB with brotli"),
    ("frame", "docs/embedding.md", "at most LIMIT kB (brotli), once for all frames"),
    ("frame", "docs/embedding.md", "loads the program (at most LIMIT kB, brotli)"),
];
/// Words of a document that quote figures of `docs/results`, in the order of [`Figure`]s.
type Quote = (&'static str, &'static str, &'static [Figure]);
/// A figure as quoted, its file, the beginning of its row, and its column.
type Figure = [&'static str; 4];

const CAGE_AND_ROW: &str = "cage-and-row.csv";
const OTHER_METHODS: &str = "other-methods.csv";
const REAL_MODELS: &str = "real-models.csv";
const QUOTES: &[Quote] = &[
    ("README.md", "misses 8.8 % of the relevant", &[["8.8 %", REAL_MODELS, "built-in-arithmetic,100,\"CAGE, pairs\",", "missed"]]),
    ("README.md", "(Pert.) and misses 25.4 %", &[["25.4 %", REAL_MODELS, "built-in-arithmetic,100,\"CAGE, pert\",", "missed"]]),
    (
        "docs/results.md",
        "(RISE 0.63 against 0.61 in arithmetic with unrelated sentences)",
        &[
            ["0.63", CAGE_AND_ROW, "arithmetic-1-4-steps-unrelated,100,pert,mean,none,none,full,row,", "rise"],
            ["0.61", CAGE_AND_ROW, "arithmetic-1-4-steps-unrelated,100,,,,,,random order,", "rise"],
        ],
    ),
    (
        "docs/results.md",
        "(0.459 and 0.458 against 0.435)",
        &[
            ["0.459", CAGE_AND_ROW, "arithmetic-5-6-steps-unrelated,100,pert,mean,none,none,full,cage,", "rise"],
            ["0.458", CAGE_AND_ROW, "arithmetic-5-6-steps-unrelated,100,clp,mean,none,none,full,cage,", "rise"],
            ["0.435", CAGE_AND_ROW, "arithmetic-5-6-steps-unrelated,100,,,,,,relevant first,", "rise"],
        ],
    ),
    (
        "docs/results.md",
        "lists of facts (0.61 on relevant) and look-ups (0.63), then in arithmetic with rivals (0.72)",
        &[
            ["0.61", CAGE_AND_ROW, "facts-of-9,40,ig,mean,none,none,full,cage,", "on_relevant"],
            ["0.63", CAGE_AND_ROW, "look-up-2-hops,60,ig,mean,none,none,full,cage,", "on_relevant"],
            ["0.72", CAGE_AND_ROW, "arithmetic-1-4-steps-rival,50,ig,mean,none,none,full,cage,", "on_relevant"],
        ],
    ),
    (
        "docs/results.md",
        "Attention is weaker (0.57 against 0.54)",
        &[
            ["0.57", CAGE_AND_ROW, "everyday,50,attention,mean,none,none,full,cage,", "rise"],
            ["0.54", CAGE_AND_ROW, "everyday,50,reagent,mean,none,none,full,cage,", "rise"],
        ],
    ),
    (
        "docs/results.md",
        "misses 1.3 %, 4.5 % and 1.1 %, and AC is 2 to 5 times as high (0.65, 0.63, 0.80 instead of 0.31, 0.12, 0.39)",
        &[
            ["1.3 %", OTHER_METHODS, "arithmetic-1-4-steps-unrelated,1000,\"CAGE, pairs\",", "missed"],
            ["4.5 %", OTHER_METHODS, "everyday,1000,\"CAGE, pairs\",", "missed"],
            ["1.1 %", OTHER_METHODS, "look-up-2-hops,1000,\"CAGE, pairs\",", "missed"],
            ["0.65", OTHER_METHODS, "arithmetic-1-4-steps-unrelated,1000,\"CAGE, pairs\",", "ac"],
            ["0.63", OTHER_METHODS, "everyday,1000,\"CAGE, pairs\",", "ac"],
            ["0.80", OTHER_METHODS, "look-up-2-hops,1000,\"CAGE, pairs\",", "ac"],
            ["0.31", OTHER_METHODS, "arithmetic-1-4-steps-unrelated,1000,\"CAGE, pert\",", "ac"],
            ["0.12", OTHER_METHODS, "everyday,1000,\"CAGE, pert\",", "ac"],
            ["0.39", OTHER_METHODS, "look-up-2-hops,1000,\"CAGE, pert\",", "ac"],
        ],
    ),
];

#[test]
fn paths_in_documents_exist() {
    let files: BTreeSet<String> =
        workspace::output(std::process::Command::new("git").args(["ls-files", "-z"])).split('\0').map(str::to_owned).collect();
    let roots: BTreeSet<&str> = files.iter().filter_map(|file| Some(file.split_once('/')?.0)).collect();
    let is_path = |text: &&str| {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        is_plain && !text.contains("NAME") && text.split_once('/').is_some_and(|(root, _)| roots.contains(root))
    };
    let is_there =
        |path: &str| files.contains(path) || files.iter().any(|file| file.starts_with(&format!("{}/", path.trim_end_matches('/'))));
    let missing = documents().into_iter().flat_map(|(document, text)| {
        let paths = text.split('`').skip(1).step_by(2).filter(is_path).filter(|path| !TO_MAKE.contains(path) && !is_there(path));
        paths.map(|path| format!("{document}: {path}")).collect::<Vec<_>>()
    });
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for (document, text) in documents() {
        let folder = Path::new(&document).parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).filter(|link| !link.contains(':')) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { document.clone() } else { folder.join(path).display().to_string() };
            let exists = Path::new(env!("CARGO_MANIFEST_DIR")).join(&target).exists();
            let has_anchor = anchor.is_empty() || workspace::read(&target).is_some_and(|text| anchors(&text).contains(anchor));
            if !exists || !has_anchor {
                broken.push(format!("{document}: {link}"));
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// The page links to sections of the documentation site, whose pages have the names of the documents.
#[test]
fn help_links_lead_to_sections() {
    let code = workspace::read("src/app/views/layout/help_link.rs").expect("the links");
    let summary = workspace::read("docs/SUMMARY.md").expect("the table of contents");
    let links: Vec<&str> = code.split('"').skip(1).step_by(2).filter(|text| text.contains(".html")).collect();
    assert!(!links.is_empty());
    for link in links {
        let (page, anchor) = link.split_once('#').unwrap_or((link, ""));
        let document = page.replace(".html", ".md");
        assert!(summary.contains(&format!("]({document})")), "docs/SUMMARY.md has no {document}");
        let text = workspace::read(&format!("docs/{document}")).expect("a document");
        assert!(anchor.is_empty() || anchors(&text).contains(anchor), "{link}");
    }
}

#[test]
fn labels_in_documents_are_those_of_the_page() {
    let page: Value = serde_json::from_str(&workspace::read("src/app/i18n/en.json").expect("the catalog")).expect("JSON");
    let is_known = |words: &str| {
        page.get(words).is_some()
            || NO_LABELS.contains(&words)
            || METHODS.iter().any(|method| method.name == words)
            || words.starts_with('[')
    };
    let unknown = WITH_LABELS.into_iter().flat_map(|document| {
        let text = prose(&workspace::read(document).expect("a document"));
        let bold = text.split("**").skip(1).step_by(2).map(in_one_line);
        bold.filter(|words| !is_known(words)).map(|words| format!("{document}: {words}")).collect::<Vec<_>>()
    });
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn quoted_figures_are_those_of_the_tables() {
    for (document, words, figures) in QUOTES {
        let text = in_one_line(&workspace::read(document).expect("a document"));
        assert!(text.contains(words), "{document} no longer says: {words}");
        let mut rest = *words;
        for figure in *figures {
            let after = rest.find(figure[0]).map(|start| start + figure[0].len());
            rest = after.map(|after| &rest[after..]).unwrap_or_else(|| panic!("{words}: {}", figure[0]));
            assert_eq!(rounded(figure), figure[0], "{figure:?}");
        }
    }
}

/// The value of the table with the digits and the unit of the quoted figure.
fn rounded([figure, file, row, column]: &Figure) -> String {
    let table = workspace::read(&format!("docs/results/{file}")).expect("a table");
    let head = fields(table.lines().next().expect("a head"));
    let line = fields(table.lines().find(|line| line.starts_with(row)).unwrap_or_else(|| panic!("{file}: no row {row}")));
    let at = head.iter().position(|name| name == column).unwrap_or_else(|| panic!("{file}: no column {column}"));
    let value: f64 = line[at].parse().expect("a number");
    let number = figure.strip_suffix(" %");
    let decimals = number.unwrap_or(figure).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if number.is_some() { format!("{:.decimals$} %", 100.0 * value) } else { format!("{value:.decimals$}") }
}

/// The fields of a line of CSV. Commas between quotation marks belong to a field.
fn fields(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let separated = parts.map(|(i, part)| if i % 2 == 0 { part.replace(',', "\n") } else { part.to_owned() });
    separated.collect::<String>().split('\n').map(str::to_owned).collect()
}

#[test]
fn documents_count_the_models_of_the_list() {
    let registry: Value = serde_json::from_str(&workspace::read("public/models/registry.json").expect("the list")).expect("JSON");
    let models = registry["models"].as_array().expect("a list");
    let count = |field: &str| models.iter().filter(|model| model.get(field).is_some()).count();
    let (all, untested, hashed) = (models.len(), count("untried"), count("sha256"));
    let text = in_one_line(&prose(&workspace::read("docs/models.md").expect("a document")));
    assert!(text.contains(&format!("Of the {all} models in the list, {untested} were not tested")), "{all}, {untested}");
    assert!(text.contains(&format!("the SHA-256 of {hashed} of its {all} models")), "{hashed}, {all}");
    let security = workspace::read("docs/security.md").expect("a document");
    assert!(security.contains(&format!("({hashed} of {all}, and Glasscage Standard)")), "{hashed}, {all}");
}

#[test]
fn readme_counts_the_methods() {
    let numbers = ["Eight", "Nine", "Ten", "Eleven", "Twelve"];
    let words = format!("[{} methods](docs/reading-the-numbers.md#methods)", numbers[METHODS.len() - 8]);
    assert!(workspace::read("README.md").expect("a document").contains(&words), "README.md does not say: {words}");
}

#[test]
fn training_page_counts_templates() {
    let files = workspace::tracked(&["txt"]).into_iter().filter(|file| file.starts_with("training/templates/"));
    let text: String = files.map(|file| workspace::read(&file).expect("a tracked file") + "\n").collect();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let count = |is_counted: fn(&&&str) -> bool| {
        let n = lines.iter().filter(is_counted).count();
        format!("{},{:03}", n / 1000, n % 1000)
    };
    let (blocks, wordings) = (count(|line| line.starts_with('>')), count(|line| !line.starts_with(['>', '?'])));
    let words = format!("{blocks} blocks with {wordings} wordings");
    assert!(workspace::read("training/README.md").expect("a document").contains(&words), "{words}");
}

#[test]
fn documents_list_the_lessons_of_the_gallery() {
    let gallery: Value = serde_json::from_str(&workspace::read("public/gallery/index.json").expect("the gallery")).expect("JSON");
    let text = workspace::read("docs/lessons.md").expect("a document");
    for lesson in gallery["lessons"].as_array().expect("a list") {
        let row = format!("| {} | {} |", lesson["title"].as_str().expect("a title"), lesson["about"].as_str().expect("a text"));
        assert!(text.contains(&row), "docs/lessons.md has no row: {row}");
    }
}

/// Lengths of links without the page's address, rounded outward to hundreds.
#[test]
fn documents_quote_lengths_of_lesson_links() {
    let lessons = workspace::tracked(&["json"]).into_iter().filter(|file| file.starts_with("public/gallery/lesson-"));
    let lessons: Vec<Lesson> =
        lessons.map(|file| Lesson::from_json(&workspace::read(&file).expect("a tracked file")).expect("a lesson")).collect();
    let text = in_one_line(&workspace::read("docs/lessons.md").expect("a document"));
    for is_short in [true, false] {
        let lengths = lessons.iter().filter(|lesson| (lesson.explanations.len() == 1) == is_short).map(|lesson| to_fragment(lesson).len());
        let lengths: Vec<usize> = lengths.collect();
        let grouped = |hundreds: usize| format!("{},{}00", hundreds / 10, hundreds % 10);
        let least = grouped(lengths.iter().min().expect("a lesson") / 100);
        let most = grouped(lengths.iter().max().expect("a lesson").div_ceil(100));
        assert!(text.contains(&format!("{least} to {most} characters")), "docs/lessons.md does not say: {least} to {most} characters");
    }
}

#[test]
fn sizes_in_documents_have_the_limits_of_the_build() {
    let code = workspace::read("xtask/src/sizes.rs").expect("the limits");
    let text = workspace::read("docs/speed.md").expect("a document");
    let limits: Vec<(&str, &str)> = code.split("(\"").skip(1).filter_map(|row| row.split_once(')')?.0.split_once("\", self.")).collect();
    assert_eq!(limits.len(), 4, "rows of `Sizes::rows`: {limits:?}");
    for (name, limit) in limits {
        let limit = limit.rsplit_once(", ").expect("a limit").1;
        let is_row = |line: &str| line.starts_with(&format!("| {name} |")) && line.ends_with(&format!("| {limit} kB |"));
        assert!(text.lines().any(is_row), "docs/speed.md: the limit of {name} is {limit} kB");
        for (_, document, words) in QUOTED_LIMITS.into_iter().filter(|(of, _, _)| *of == name) {
            let words = words.replace("LIMIT", limit);
            let text = in_one_line(&workspace::read(document).expect("a document"));
            assert!(text.contains(&words), "{document} does not say: {words}");
        }
    }
    let test_of_file = workspace::read("tests/page/embed.rs").expect("a test");
    let embedding = workspace::read("docs/embedding.md").expect("a document");
    assert!(test_of_file.contains("let limit = 900_000 + 20_000;") && embedding.contains("| at most 900 kB, and the explanation |"));
}

#[test]
fn results_name_the_model_in_the_repository() {
    let model = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models/demo.gguf")).expect("the model");
    let hash: String = Sha256::digest(&model).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    assert!(workspace::read("docs/results.md").expect("a document").contains(&format!("{hash}... today")), "{hash}");
}

/// Operators copy the policy of the page into the settings of their host.
#[test]
fn recipes_have_the_policy_of_the_page() {
    let page = workspace::read("index.html").expect("the page");
    let policy = page.split_once("content=\"default-src").and_then(|(_, rest)| rest.split_once('"')).expect("a policy").0;
    let policy = in_one_line(&format!("default-src{policy}"));
    let text = workspace::read("docs/deploying.md").expect("a document");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("default-src")).collect();
    assert!(!lines.is_empty());
    assert_eq!(lines.into_iter().filter(|line| !line.contains(&policy)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn privacy_page_lists_all_storage_keys() {
    let code = ["src/app/state/storage_keys.rs", "www/engine_loader.js"];
    let text = workspace::read("docs/privacy.md").expect("a document");
    let keys = code.iter().flat_map(|file| {
        let code = workspace::read(file).expect("a source");
        code.split('"').skip(1).step_by(2).filter(|text| text.starts_with("glasscage")).map(str::to_owned).collect::<Vec<_>>()
    });
    let keys: Vec<String> = keys.collect();
    assert!(keys.len() > 10, "{keys:?}");
    assert_eq!(keys.into_iter().filter(|key| !text.contains(&format!("`{key}`"))).collect::<Vec<_>>(), Vec::<String>::new());
}

/// The documents for readers, without blocks of code.
fn documents() -> Vec<(String, String)> {
    let files = workspace::tracked(&["md"]).into_iter().filter(|file| !file.starts_with("tests/"));
    files.map(|file| (prose(&workspace::read(&file).expect("a tracked file")), file)).map(|(text, file)| (file, text)).collect()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The names by which links reach the headings of a document, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim().to_lowercase());
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings.map(|heading| heading.chars().filter(is_kept).collect::<String>().replace(' ', "-")).collect()
}
