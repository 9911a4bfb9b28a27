//! Reads the problems of a data set: prompt, answer and known facts.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use glasscage_text::given::given_text;
use glasscage_text::sentences::sentences;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::super::output::parse_line;

/// The sentence that the paper inserts to check whether it gets attribution.
const DISTRACTOR: &str = "Unrelated sentence.";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Problems of the built-in model: JSON lines {"prompt", "answer", "relevant"}. If the answer only repeats sentences of the prompt, all
    /// of its sentences are explained, otherwise the last one
    Demo,
    /// The paper's Math: JSON [{"question"}], a distractor put after each sentence but the last
    Math,
    /// The paper's Facts: JSON [`{"prompt", "target", "claim_ids", "generation_indices", "indices_to_explain"}`]
    Facts,
    /// MoreHopQA: JSON [{"question", "context"}]
    Morehopqa,
}

/// One problem.
pub struct Item {
    pub prompt: String,
    /// The answer to explain, instead of one that the model writes.
    pub given: Option<String>,
    /// The expected answer of the model.
    pub expected: Option<String>,
    pub output: Output,
    /// 0-based prompt sentences that the answer needs. For [`Output::Listed`], the sentences that the answer repeats replace them.
    pub relevant: Option<Vec<usize>>,
    /// Number of sentences of the prompt and of the given answer, if the data set states it.
    pub n_prompt: Option<usize>,
    pub n_given: Option<usize>,
}

/// The generated sentences to explain.
#[derive(Clone)]
pub enum Output {
    Last,
    Rows(Vec<usize>),
    /// All, in an answer that repeats prompt sentences. The repeated sentences and the request at the end are relevant.
    Listed,
}

#[derive(Deserialize)]
struct DemoItem {
    prompt: String,
    answer: String,
    relevant: Vec<usize>,
}

#[derive(Deserialize)]
struct MathItem {
    question: String,
}

#[derive(Deserialize)]
struct FactsItem {
    prompt: String,
    target: String,
    generation_indices: Vec<usize>,
    indices_to_explain: Vec<usize>,
    claim_ids: Vec<u64>,
}

#[derive(Deserialize)]
struct MoreHopQaItem {
    question: String,
    context: Vec<(String, Vec<String>)>,
    #[serde(flatten)]
    _rest: Map<String, Value>,
}

/// The problems in a file, in its order, and the SHA-256 of the file.
pub struct Problems {
    pub items: Vec<Item>,
    pub sha256: String,
}

pub fn read(task: Task, path: &Path) -> Result<Problems, String> {
    let file = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let text = file.trim_start_matches('\u{feff}');
    let items = match task {
        Task::Demo => lines::<DemoItem>(text),
        Task::Math => list::<MathItem>(text),
        Task::Facts => list::<FactsItem>(text),
        Task::Morehopqa => list::<MoreHopQaItem>(text),
    };
    let items: Vec<Item> = items.map_err(|error| format!("{}: {error}", path.display()))?.into_iter().map(Item::with_given_texts).collect();
    if let Some(n) = items.iter().position(Item::repeats_relevant) {
        return Err(format!("{}: item {n} names a relevant sentence twice", path.display()));
    }
    Ok(Problems { items, sha256: format!("{:x}", Sha256::digest(&file)) })
}

impl Item {
    /// Removes byte order marks, and converts line ends to line feeds.
    fn with_given_texts(self) -> Self {
        let text = |text: Option<String>| text.as_deref().map(given_text);
        Self { prompt: given_text(&self.prompt), given: text(self.given), expected: text(self.expected), ..self }
    }

    fn repeats_relevant(&self) -> bool {
        let mut relevant = self.relevant.clone().unwrap_or_default();
        relevant.sort_unstable();
        relevant.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// One item per line.
fn lines<T: DeserializeOwned + Into<Item>>(text: &str) -> Result<Vec<Item>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(n, line)| parse_line(line, n + 1).map(T::into)).collect()
}

fn list<T: DeserializeOwned + Into<Item>>(text: &str) -> Result<Vec<Item>, String> {
    let items: Vec<T> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(items.into_iter().map(T::into).collect())
}

impl From<DemoItem> for Item {
    fn from(item: DemoItem) -> Self {
        let parts = |text: &str| -> Vec<String> { sentences(text).into_iter().map(|span| text[span].trim().to_owned()).collect() };
        let given = parts(&item.prompt);
        let lists = parts(&item.answer).iter().all(|sentence| given.contains(sentence));
        Self {
            prompt: item.prompt,
            given: None,
            expected: Some(item.answer),
            output: if lists { Output::Listed } else { Output::Last },
            relevant: Some(item.relevant),
            n_prompt: None,
            n_given: None,
        }
    }
}

impl From<MathItem> for Item {
    fn from(item: MathItem) -> Self {
        let parts: Vec<&str> = sentences(&item.question).into_iter().map(|span| &item.question[span]).collect();
        let relevant = (0..parts.len()).map(|i| 2 * i).collect();
        let prompt = parts.join(&format!(" {DISTRACTOR} "));
        let n_prompt = Some(2 * parts.len() - 1);
        Self { prompt, given: None, expected: None, output: Output::Last, relevant: Some(relevant), n_prompt, n_given: None }
    }
}

impl From<FactsItem> for Item {
    fn from(mut item: FactsItem) -> Self {
        item.indices_to_explain.sort_unstable();
        item.indices_to_explain.dedup();
        let relevant = item.indices_to_explain.iter().filter_map(|&row| item.generation_indices.get(row).copied()).collect();
        Self {
            prompt: item.prompt,
            given: Some(item.target),
            expected: None,
            output: Output::Rows(item.indices_to_explain),
            relevant: Some(relevant),
            // The claims and the request.
            n_prompt: Some(item.claim_ids.len() + 1),
            n_given: Some(item.generation_indices.len()),
        }
    }
}

impl From<MoreHopQaItem> for Item {
    fn from(item: MoreHopQaItem) -> Self {
        let context: Vec<String> = item.context.into_iter().map(|(_, sentences)| sentences.concat()).collect();
        let prompt = format!("{}\n{}", context.join("\n"), item.question);
        Self { prompt, given: None, expected: None, output: Output::Last, relevant: None, n_prompt: None, n_given: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distractors_go_between_the_sentences_of_a_question() {
        let item = Item::from(MathItem { question: "Ann has 3 figs. She eats one.  How many are left?".into() });
        assert_eq!(item.prompt, "Ann has 3 figs. Unrelated sentence. She eats one. Unrelated sentence. How many are left?");
        assert_eq!(item.relevant, Some(vec![0, 2, 4]));
    }

    #[test]
    fn of_facts_those_are_relevant_that_are_explained() {
        let facts = FactsItem {
            prompt: "..".into(),
            target: "..".into(),
            generation_indices: vec![1, 4, 8],
            indices_to_explain: vec![0, 1],
            claim_ids: vec![7; 9],
        };
        assert_eq!(Item::from(facts).relevant, Some(vec![1, 4]));
    }
}
