//! `glasscage evaluate`: the tables of the paper, from our own engine. Interrupted, it goes on where it was.

mod external;
mod items;
mod record;
mod scoring;
mod table;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use glasscage::attribution::{AttributionMethod, METHODS, method};
use serde::{Deserialize, Serialize};

use super::models::{BackendArgument, load, load_masked_lm};
use external::Attributions;
use items::Task;
use record::Record;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long)]
    model: PathBuf,
    /// File with the problems
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Format of the problems
    #[arg(long, value_enum)]
    task: Task,
    /// Attribution methods, separated by commas; they share forward passes
    #[arg(long, value_delimiter = ',', default_value = "pert,clp")]
    methods: Vec<String>,
    /// Folder with config.json, tokenizer.json and model.safetensors of a RoBERTa model; method reagent-mlm needs it
    #[arg(long, value_name = "FOLDER", required_if_eq("methods", "reagent-mlm"))]
    masked_lm: Option<PathBuf>,
    /// Attributions from another program, to compare: JSON lines {"item": 0-based, "method", "attribution": [number per prompt sentence]},
    /// with `cpu_seconds` if known
    #[arg(long, value_name = "FILE")]
    attributions: Option<PathBuf>,
    /// Evaluate only the first N problems
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Part of the problems: 2/3 evaluates every third one, from the second. Shards in one folder make one table
    #[arg(long, default_value = "1/1", value_parser = parse_shard)]
    shard: Shard,
    /// Seed of the random deletion orders
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Maximum answer length in tokens
    #[arg(long, default_value_t = 256)]
    max_tokens: usize,
    /// Engine that computes
    #[arg(long, value_enum, default_value = "cpu")]
    backend: BackendArgument,
    /// Folder for records and tables
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy)]
struct Shard {
    number: usize,
    count: usize,
}

/// What all records of a folder have in common.
#[derive(PartialEq, Serialize, Deserialize)]
struct Experiment {
    /// SHA-256 of the file.
    model: String,
    data: String,
    methods: Vec<String>,
    /// SHA-256 of the file of attributions made elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attributions: Option<String>,
    seed: u64,
    max_tokens: usize,
}

pub fn evaluate(arguments: &Arguments) -> Result<(), String> {
    let methods: Vec<&AttributionMethod> = arguments.methods.iter().map(|id| known_method(id)).collect::<Result<_, _>>()?;
    let items = items::read(arguments.task, &arguments.data)?;
    let attributions = arguments.attributions.as_deref().map(Attributions::read).transpose()?.unwrap_or_default();
    let mut session = load(&arguments.model, arguments.backend)?;
    session.masked_lm = arguments.masked_lm.as_deref().map(load_masked_lm).transpose()?;
    let experiment = Experiment {
        model: session.loaded_model().model.sha256,
        data: arguments.data.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        methods: arguments.methods.clone(),
        attributions: attributions.sha256.clone(),
        seed: arguments.seed,
        max_tokens: arguments.max_tokens,
    };
    agree(&arguments.out, &experiment)?;
    let Shard { number, count } = arguments.shard;
    let path = arguments.out.join(format!("records-{number}-of-{count}.jsonl"));
    let (mut file, done) = reopen(&path)?;
    let wanted = (0..items.len().min(arguments.limit.unwrap_or(usize::MAX))).filter(|i| i % count == number - 1);
    let remaining: Vec<usize> = wanted.filter(|i| !done.contains(i)).collect();
    let began = Instant::now();
    for (n, &i) in remaining.iter().enumerate() {
        let external = |n_prompt| attributions.of(i, n_prompt);
        let seed = arguments.seed.wrapping_add(i as u64);
        let outcome = scoring::outcome(&mut session, &items[i], &methods, external, arguments.max_tokens, seed)?;
        let line = serde_json::to_string(&Record { item: i, outcome }).map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        let left = began.elapsed().as_secs_f64() / (n + 1) as f64 * (remaining.len() - n - 1) as f64;
        eprint!("\r{} of {}, {:.0} s left   ", n + 1, remaining.len(), left);
    }
    eprintln!("\r{} problems done before, {} now, in {:.0} s", done.len(), remaining.len(), began.elapsed().as_secs_f64());
    let records = all_records(&arguments.out)?;
    let (markdown, csv) = (table::markdown(&records), table::csv(&records));
    for (name, text) in [("results.md", &markdown), ("results.csv", &csv)] {
        fs::write(arguments.out.join(name), text).map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    super::output::print(&markdown)
}

fn known_method(id: &str) -> Result<&'static AttributionMethod, String> {
    let ids: Vec<_> = METHODS.iter().map(|method| method.id).collect();
    method(id).ok_or_else(|| format!("there is no method {id:?}; there are {}", ids.join(", ")))
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    match parts {
        Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
        _ => Err("a shard is given as 2/3: the second of three".into()),
    }
}

/// Makes the folder, or checks that its records are of the same experiment.
fn agree(folder: &Path, experiment: &Experiment) -> Result<(), String> {
    let path = folder.join("run.json");
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(failed)?;
    if !path.exists() {
        return fs::write(&path, serde_json::to_string_pretty(experiment).map_err(|error| error.to_string())?).map_err(failed);
    }
    match serde_json::from_str::<Experiment>(&fs::read_to_string(&path).map_err(failed)?) {
        Ok(earlier) if earlier == *experiment => Ok(()),
        _ => Err(format!(
            "{} has records of another model, data set, method, seed or file of attributions; choose another --out",
            folder.display()
        )),
    }
}

/// The file of records, at its end, and the problems in it. A last line that was cut off is dropped.
fn reopen(path: &Path) -> Result<(File, BTreeSet<usize>), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let text = if path.exists() { fs::read_to_string(path).map_err(failed)? } else { String::new() };
    let whole = text.rfind('\n').map_or(0, |last| last + 1);
    let done = parse(path, &text[..whole])?.iter().map(|record| record.item).collect();
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    file.set_len(whole as u64).map_err(failed)?;
    Ok((file, done))
}

fn all_records(folder: &Path) -> Result<Vec<Record>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut records = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            // Another shard may be at its last line.
            records.extend(parse(&path, &text[..text.rfind('\n').map_or(0, |last| last + 1)])?);
        }
    }
    records.sort_by_key(|record| record.item);
    Ok(records)
}

fn parse(path: &Path, lines: &str) -> Result<Vec<Record>, String> {
    lines.lines().map(serde_json::from_str).collect::<Result<_, _>>().map_err(|error| format!("{}: {error}", path.display()))
}
