//! Attributions from other programs, to compare with ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::super::output::parse_line;

/// One line of the file.
#[derive(Deserialize)]
struct Line {
    /// 0-based number of the problem in its file.
    item: usize,
    /// Name of the method in the tables.
    method: String,
    #[serde(flatten)]
    given: ExternalAttribution,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ExternalAttribution {
    /// One number per prompt sentence.
    pub attribution: Vec<f64>,
    /// CPU time of this attribution.
    pub cpu_seconds: Option<f64>,
}

/// The attributions of one problem, by method.
pub type External = BTreeMap<String, ExternalAttribution>;

/// The attributions of a file, by problem, and the SHA-256 of the file.
#[derive(Default)]
pub struct Attributions {
    by_item: BTreeMap<usize, External>,
    pub sha256: Option<String>,
}

impl Attributions {
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let by_item = parse(text.trim_start_matches('\u{feff}')).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { by_item, sha256: Some(format!("{:x}", Sha256::digest(&text))) })
    }

    /// The largest number of a problem. `None` without attributions.
    pub fn last_item(&self) -> Option<usize> {
        self.by_item.keys().next_back().copied()
    }

    /// The attributions of a problem. Errors if one does not have a number for each of the `n_prompt` prompt sentences.
    pub fn of(&self, item: usize, n_prompt: usize) -> Result<External, String> {
        let external = self.by_item.get(&item).cloned().unwrap_or_default();
        match external.iter().find(|(_, given)| given.attribution.len() != n_prompt) {
            Some((method, given)) => {
                Err(format!("item {item}: {method} has {} numbers for {n_prompt} prompt sentences", given.attribution.len()))
            }
            None => Ok(external),
        }
    }
}

fn parse(text: &str) -> Result<BTreeMap<usize, External>, String> {
    let mut by_item: BTreeMap<usize, External> = BTreeMap::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let Line { item, method, given } = parse_line(line, n + 1)?;
        if given.attribution.iter().any(|share| *share < 0.0) {
            return Err(format!(
                "line {}: {method} has a negative number, but the metrics need shares; replace negative numbers by 0, for example",
                n + 1
            ));
        }
        if by_item.entry(item).or_default().insert(method.clone(), given).is_some() {
            return Err(format!("line {}: item {item} has {method} twice", n + 1));
        }
    }
    Ok(by_item)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"item": 3, "method": "b", "attribution": [0.5, 0.5]}
{"item": 3, "method": "a", "attribution": [1, 0], "cpu_seconds": 2.5}
"#;

    #[test]
    fn attributions_are_found_by_item_and_length_checked() {
        let attributions = Attributions { by_item: parse(FILE).unwrap(), sha256: None };
        let a = ExternalAttribution { attribution: vec![1.0, 0.0], cpu_seconds: Some(2.5) };
        let b = ExternalAttribution { attribution: vec![0.5, 0.5], cpu_seconds: None };
        assert_eq!(attributions.of(3, 2), Ok(External::from([("a".into(), a), ("b".into(), b)])));
        assert_eq!(attributions.of(4, 2), Ok(External::new()));
        assert_eq!(attributions.of(3, 5), Err("item 3: a has 2 numbers for 5 prompt sentences".into()));
    }

    #[test]
    fn invalid_attribution_is_rejected_with_line() {
        assert_eq!(parse(&FILE.replace("\"a\"", "\"b\"")).unwrap_err(), "line 2: item 3 has b twice");
        assert!(parse(r#"{"item": 3, "method": "a", "attribution": [null]}"#).unwrap_err().starts_with("line 1, column "));
        assert!(parse(r#"{"item": 3, "method": "a", "attribution": [1, -1]}"#).unwrap_err().contains("negative"));
    }
}
