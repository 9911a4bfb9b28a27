//! Static hosts with the rules of the recipes in `docs/deploying.md`. What a host adds to its recipe is from its documentation.

#![allow(dead_code, reason = "every test file uses another part")]

type NamesAndValues = Vec<(String, String)>;

/// How a host serves a folder.
#[derive(Debug)]
pub struct Host {
    pub name: &'static str,
    /// Headers of every file: names in lower case.
    pub headers: NamesAndValues,
    /// Media types that the recipe sets, by ending: `.wasm`.
    pub types: NamesAndValues,
    /// Whether `NAME.html` redirects to `NAME`, and `index.html` to its folder.
    pub hides_endings: bool,
    /// Largest file that the host takes, in bytes.
    pub largest_file: u64,
}

/// The hosts of all recipes, except nginx (which the recipe was run with) and hosts that only copy files.
pub fn hosts() -> Vec<Host> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deploying.md")).expect("the recipes");
    let (apache, types) = of_htaccess(block(&page, "Apache", "apache"));
    let pages = || of_headers_file(block(&page, "Netlify and Cloudflare Pages", "text"));
    assert!(block(&page, "GitHub Pages", "sh network").contains("touch dist/.nojekyll"), "Jekyll would change files");
    let ten_minutes = || vec![("cache-control".to_owned(), "max-age=600".to_owned())];
    let host = |name, headers| Host { name, headers, types: Vec::new(), hides_endings: false, largest_file: u64::MAX };
    vec![
        Host { types, ..host("Apache", apache) },
        host("Caddy", of_caddyfile(block(&page, "Caddy", "caddy"))),
        host("Netlify", pages()),
        Host { hides_endings: true, largest_file: 25 << 20, ..host("Cloudflare Pages", pages()) },
        Host { largest_file: 100 << 20, ..host("GitHub Pages", ten_minutes()) },
        host("GitLab Pages", ten_minutes()),
    ]
}

/// The first block of code in this language below a heading.
fn block<'a>(page: &'a str, heading: &str, language: &str) -> &'a str {
    let section = page.split("\n### ").find(|section| section.lines().next() == Some(heading));
    let section = section.unwrap_or_else(|| panic!("no recipe for {heading}"));
    let code = section.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("```"));
    code.unwrap_or_else(|| panic!("the recipe for {heading} has no block of {language}")).0
}

/// Headers of a file `_headers`, in which one rule is for all paths.
fn of_headers_file(text: &str) -> NamesAndValues {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("/*"), "the only path of the rules");
    lines.map(|line| header(line.strip_prefix("  ").and_then(|line| line.split_once(": ")), line)).collect()
}

/// Headers and media types of a file `.htaccess`.
fn of_htaccess(text: &str) -> (NamesAndValues, NamesAndValues) {
    let (mut headers, mut types) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("Header", rest)) => headers.push(header(rest.strip_prefix("always set ").and_then(|rest| rest.split_once(' ')), line)),
            Some(("AddType", rest)) => {
                let (kind, ending) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                types.push((ending.to_owned(), kind.to_owned()));
            }
            Some(("AddOutputFilterByType", _)) => {}
            _ => panic!("unknown directive: {line}"),
        }
    }
    (headers, types)
}

/// Headers of a Caddyfile with one site.
fn of_caddyfile(text: &str) -> NamesAndValues {
    let directives: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('\t')).collect();
    assert!(directives.contains(&"file_server") && directives.iter().any(|line| line.starts_with("root ")), "{text}");
    // A name that begins with @ is for some files only.
    let headers = directives.into_iter().filter(|line| !line.starts_with("header @"));
    let headers = headers.filter_map(|line| Some((line, line.strip_prefix("header ")?)));
    headers.map(|(line, rest)| header(rest.split_once(' '), line)).collect()
}

/// A header with its name in lower case and its value without quotation marks.
fn header(parts: Option<(&str, &str)>, line: &str) -> (String, String) {
    let (name, value) = parts.unwrap_or_else(|| panic!("not a header: {line}"));
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    (name.to_ascii_lowercase(), unquoted.unwrap_or(value).to_owned())
}
