//! Filters for lines of JSON, for scripts and for verification.

use std::io::{BufRead, Write};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use glasscage_core::graph::{self, Normalization};
use glasscage_core::table::Table;
use glasscage_engine::lm::{Edit, LanguageModel, Pass, ScoreRequest, check_known};
use glasscage_model::gguf::Gguf;
use glasscage_model::tokenizer::{TokenId, Tokenizer};
use glasscage_text::given::kept;
use glasscage_text::sentences::sentences;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::models::{BackendArgument, load, open, parts_to_name};
use super::output::parse_line;

#[derive(Deserialize)]
struct TextLine {
    text: String,
}

#[derive(Deserialize)]
struct GraphLine {
    table: Table,
    n_prompt: usize,
    output: Vec<usize>,
    #[serde(default, alias = "normalisation")]
    normalization: Normalization,
}

#[derive(Deserialize)]
struct ScoreLine {
    ids: Option<Vec<TokenId>>,
    text: Option<String>,
    #[serde(default)]
    replace: Vec<[usize; 2]>,
}

pub fn tokenize(model: &Path) -> Result<(), String> {
    let gguf = pollster::block_on(Gguf::read(&open(model)?)).map_err(|error| parts_to_name(model).unwrap_or(error.to_string()))?;
    let tokenizer = Tokenizer::from_metadata(&gguf.metadata).map_err(|error| error.to_string())?;
    filter(|TextLine { text }| {
        let ids: Vec<TokenId> = tokenizer.encode(&text).iter().map(|token| token.id).collect();
        Ok(json!({ "ids": ids, "ids_special": tokenizer.encode_with_special(&text) }))
    })
}

pub fn split() -> Result<(), String> {
    filter(|TextLine { text }| {
        let (numbers, given): (Vec<usize>, String) = kept(&text).unzip();
        let code_points = |byte: usize| given[..byte].chars().count();
        // The range in the original text. A sentence has at least one character.
        let of_text = |span: &Range<usize>| [numbers[code_points(span.start)], numbers[code_points(span.end) - 1] + 1];
        Ok(json!({ "sentences": sentences(&given).iter().map(of_text).collect::<Vec<_>>() }))
    })
}

pub fn graph() -> Result<(), String> {
    filter(|mut line: GraphLine| {
        let GraphLine { table, n_prompt, output, normalization } = &mut line;
        if table.n_prompt() != *n_prompt {
            return Err(format!(
                "a table of {} rows with n_prompt {n_prompt} has {} columns",
                table.n_generated(),
                table.n_generated().saturating_add(*n_prompt)
            ));
        }
        if let Some(row) = output.iter().find(|&&row| row >= table.n_generated()) {
            return Err(format!("output {row} is not a row of the table"));
        }
        output.sort_unstable();
        output.dedup();
        let adjacency = graph::normalize(table, *normalization);
        Ok(json!({
            "adjacency": adjacency.to_rectangle(0.0),
            "influence": graph::total_influence(&adjacency).to_rectangle(0.0),
            "context_attribution": graph::context_attribution(&adjacency, output),
            "row_attribution": graph::row_attribution(&adjacency, output),
            "zero_rows": graph::zero_rows(&adjacency),
        }))
    })
}

pub fn score(model: &Path, backend: BackendArgument) -> Result<(), String> {
    let mut session = load(model, backend)?;
    filter(|ScoreLine { ids, text, replace }| {
        let tokens = match (ids, text) {
            (Some(ids), None) => ids,
            (None, Some(text)) => {
                let bos = session.tokenizer.bos().filter(|_| session.tokenizer.adds_bos());
                bos.into_iter().chain(session.tokenizer.encode(&text).iter().map(|token| token.id)).collect()
            }
            _ => return Err("give either \"ids\" or \"text\"".into()),
        };
        let ids = replaced(tokens, &replace, session.tokenizer.eos())?;
        Ok(json!({ "logprobs": log_probs(&mut session.lm, &ids)?, "ids": ids }))
    })
}

/// `tokens` with the end token in each of the ranges.
fn replaced(tokens: Vec<TokenId>, ranges: &[[usize; 2]], end_token: TokenId) -> Result<Vec<TokenId>, String> {
    let mut edits = Vec::new();
    for &[start, end] in ranges {
        if start > end || end > tokens.len() {
            return Err(format!("[{start}, {end}] is not a range of the {} tokens", tokens.len()));
        }
        edits.push(Edit::new(start, &vec![end_token; end - start]));
    }
    Ok(Pass { edits }.apply(&tokens))
}

/// ln p of every token after the first.
fn log_probs(lm: &mut impl LanguageModel, tokens: &[TokenId]) -> Result<Vec<f64>, String> {
    check_known(lm.config(), tokens).map_err(|error| error.to_string())?;
    let mut log_probs = Vec::new();
    if tokens.len() > 1 {
        let request = ScoreRequest::new(tokens, 1..tokens.len(), &[]);
        let score = lm.score(&request, async |_, readout| {
            log_probs = readout.log_probs.clone();
            ControlFlow::Continue(())
        });
        pollster::block_on(score).map_err(|error| error.to_string())?;
    }
    Ok(log_probs)
}

/// Reads one JSON value per line, and writes one per line. Stops at the first error.
pub fn filter<I: DeserializeOwned, O: Serialize>(mut transform: impl FnMut(I) -> Result<O, String>) -> Result<(), String> {
    let mut output = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let at_line = |error: String| format!("line {}: {error}", number + 1);
        let line = line.map_err(|error| at_line(error.to_string()))?;
        let line = if number == 0 { line.trim_start_matches('\u{feff}') } else { &line };
        if line.trim().is_empty() {
            continue;
        }
        let input = parse_line(line, number + 1)?;
        let transformed = transform(input).map_err(at_line)?;
        let written = serde_json::to_writer(&mut output, &transformed).map_err(std::io::Error::from).and_then(|()| writeln!(output));
        match written.and_then(|()| output.flush()) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(|error| error.to_string())?,
        }
    }
    Ok(())
}
