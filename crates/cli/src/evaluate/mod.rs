//! `glasscage evaluate`: makes the tables of the paper with our own engine. Resumes after an interruption.

mod derivations;
mod external;
mod folder;
mod items;
mod record;
mod scoring;
mod table;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use glasscage_attribution::{AttributionMethod, method};
use glasscage_core::explanation::{METHODS, MethodId};
use glasscage_text::sentences::sentences;

use super::models::{BackendArgument, load, masked_lm_for};
use super::output;
use derivations::Derivations;
use external::Attributions;
use folder::Experiment;
use items::{Problems, Task};
use record::Record;
use scoring::Trial;

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
    /// How to derive a graph from each table. Alternatives take most of the time of the deletion test
    #[arg(long, value_enum, default_value = "all")]
    derivations: Derivations,
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

pub fn evaluate(arguments: &Arguments) -> Result<(), String> {
    let ids: Vec<String> = arguments.methods.iter().map(|id| id.trim().to_owned()).collect();
    if let Some(id) = ids.iter().enumerate().find_map(|(at, id)| ids[..at].contains(id).then_some(id)) {
        return Err(format!("--methods names {id} twice"));
    }
    let methods: Vec<&AttributionMethod> = ids.iter().map(|id| known_method(id)).collect::<Result<_, _>>()?;
    let Problems { items, sha256 } = items::read(arguments.task, &arguments.data)?;
    let attributions = arguments.attributions.as_deref().map(Attributions::read).transpose()?.unwrap_or_default();
    let Shard { number, count } = arguments.shard;
    let n_items = items.len().min(arguments.limit.unwrap_or(usize::MAX));
    let wanted: Vec<usize> = (0..n_items).filter(|i| i % count == number - 1).collect();
    let masked_lm = masked_lm_for(&methods, arguments.masked_lm.as_deref())?;
    let done: BTreeSet<usize> = folder::records(&arguments.out)?.iter().map(|record| record.item).collect();
    let mut session = load(&arguments.model, arguments.backend)?;
    let experiment = Experiment {
        model: session.loaded_model().model.sha256,
        data: sha256,
        task: arguments.task,
        methods: ids,
        derivations: arguments.derivations,
        masked_lm: masked_lm.as_ref().map(|loaded| loaded.sha256.clone()),
        attributions: attributions.sha256.clone(),
        seed: arguments.seed,
        max_tokens: arguments.max_tokens,
    };
    session.masked_lm = masked_lm.map(|loaded| loaded.model);
    for &i in &wanted {
        attributions.of(i, sentences(&items[i].prompt).len())?;
    }
    if let Some(item) = attributions.last_item().filter(|&item| item >= items.len()) {
        return Err(format!(
            "there are attributions of item {item}, but the last item is {} (items count from 0)",
            items.len().saturating_sub(1)
        ));
    }
    folder::agree(&arguments.out, &experiment)?;
    let path = arguments.out.join(format!("records-{number}-of-{count}.jsonl"));
    let mut file = folder::reopen(&path)?;
    let remaining: Vec<usize> = wanted.iter().copied().filter(|i| !done.contains(i)).collect();
    let began = Instant::now();
    for (n, &i) in remaining.iter().enumerate() {
        let trial = Trial {
            item: &items[i],
            methods: &methods,
            derivations: arguments.derivations,
            max_tokens: arguments.max_tokens,
            seed: arguments.seed.wrapping_add(i as u64),
        };
        let outcome = scoring::outcome(&mut session, &trial, |n_prompt| attributions.of(i, n_prompt))?;
        let line = serde_json::to_string(&Record { item: i, outcome }).map_err(|error| error.to_string())?;
        writeln!(file, "{line}").map_err(|error| output::cannot_write(&path, &error))?;
        let left = began.elapsed().as_secs_f64() / (n + 1) as f64 * (remaining.len() - n - 1) as f64;
        output::say(&format!("\r{} of {}, {left:.0} s left   ", n + 1, remaining.len()));
    }
    let n_before = wanted.len() - remaining.len();
    output::say(&format!("\r{n_before} problems done before, {} now, in {:.0} s\n", remaining.len(), began.elapsed().as_secs_f64()));
    let records = folder::records(&arguments.out)?;
    let markdown = table::markdown(&records);
    for (name, text) in folder::TABLES.iter().zip([&markdown, &table::csv(&records)]) {
        output::write(&arguments.out.join(name), text)?;
    }
    output::print(&markdown)
}

fn known_method(id: &str) -> Result<&'static AttributionMethod, String> {
    let ids: Vec<_> = METHODS.iter().map(|method| method.id).collect();
    MethodId::named(id).map(method).ok_or_else(|| format!("there is no method {id:?}; there are {}", ids.join(", ")))
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    match parts {
        Some((number, count)) if (1..=count).contains(&number) => Ok(Shard { number, count }),
        _ => Err("a shard is given as 2/3: the second of three".into()),
    }
}
