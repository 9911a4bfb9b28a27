//! The folder of an evaluation: the parameters that all records share, and the records, one file per shard.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::output;
use super::derivations::Derivations;
use super::items::Task;
use super::record::Record;

/// Parameters that all records of a folder share. Files are identified by their SHA-256.
#[derive(Serialize)]
pub struct Experiment {
    pub model: String,
    /// The file of problems.
    pub data: String,
    /// The format of the problems.
    pub task: Task,
    pub methods: Vec<String>,
    #[serde(skip_serializing_if = "Derivations::is_all")]
    pub derivations: Derivations,
    /// The masked language model, if one is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked_lm: Option<String>,
    /// The file of attributions from another program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributions: Option<String>,
    pub seed: u64,
    pub max_tokens: usize,
}

/// Creates the folder, or checks that its records belong to the same experiment. Also checks that its tables can be written.
pub fn agree(folder: &Path, experiment: &Experiment) -> Result<(), String> {
    let path = folder.join("run.json");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(failed)?;
    if path.exists() {
        let earlier = serde_json::from_slice::<Value>(&fs::read(&path).map_err(failed)?).unwrap_or_default();
        let differing = differing(&earlier, &json!(experiment));
        if !differing.is_empty() {
            return Err(format!(
                "{} has records of another run, which differs in {}; choose another --out",
                folder.display(),
                differing.join(", ")
            ));
        }
    } else if !records(folder)?.is_empty() {
        return Err(format!("{} has records, but no run.json that says of what; choose another --out", folder.display()));
    } else {
        output::write(&path, serde_json::to_string_pretty(experiment).map_err(|error| error.to_string())?)?;
    }
    TABLES.iter().try_for_each(|name| output::check_writable(&folder.join(name)))
}

/// The parameters in which two experiments differ.
fn differing(earlier: &Value, now: &Value) -> Vec<String> {
    let names: BTreeSet<&String> = [earlier, now].into_iter().filter_map(Value::as_object).flat_map(Map::keys).collect();
    names.into_iter().filter(|name| earlier.get(name) != now.get(name)).cloned().collect()
}

/// The tables, as Markdown and as CSV.
pub const TABLES: [&str; 2] = ["results.md", "results.csv"];

/// Opens a file of records for appending. Drops a last line that was cut off.
pub fn reopen(path: &Path) -> Result<File, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let length = if path.exists() { whole_lines(&fs::read(path).map_err(failed)?).len() } else { 0 };
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    file.set_len(length as u64).map_err(failed)?;
    Ok(file)
}

/// The records of all shards, ordered by problem, with one record per problem. Empty if the folder does not exist.
pub fn records(folder: &Path) -> Result<Vec<Record>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut by_item = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let at_path = |error: &dyn std::fmt::Display| format!("{}, among the records of --out: {error}", path.display());
            let bytes = fs::read(&path).map_err(|error| at_path(&error))?;
            for line in whole_lines(&bytes).split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let record: Record = serde_json::from_slice(line).map_err(|error| at_path(&error))?;
                by_item.entry(record.item).or_insert(record);
            }
        }
    }
    Ok(by_item.into_values().collect())
}

/// Drops an unfinished last line. Either writing was interrupted, or another shard is writing it.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_last_line_is_dropped() {
        assert_eq!(whole_lines("{}\n{\"a\": \"\u{fc}".as_bytes().split_last().unwrap().1), b"{}\n");
        assert_eq!([whole_lines(b"{}\n"), whole_lines(b"{"), whole_lines(b"")], [&b"{}\n"[..], b"", b""]);
    }
}
