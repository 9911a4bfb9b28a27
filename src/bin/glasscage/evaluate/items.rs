//! What is asked: the problems of a data set, as prompt, answer and what is known about them.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use glasscage::text::sentences::sentences;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The sentence that the paper inserts to see whether it gets attribution.
const DISTRACTOR: &str = "Unrelated sentence.";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// Problems of the built-in model: JSON lines {"prompt", "answer", "relevant"}
    Demo,
    /// The paper's Math: JSON [{"question"}], a distractor put after each sentence but the last
    Math,
    /// The paper's Facts: JSON [{"prompt", "target", "generation_indices", "indices_to_explain"}]
    Facts,
    /// MoreHopQA: JSON [{"question", "context"}]
    Morehopqa,
}

/// One problem.
pub struct Item {
    pub prompt: String,
    /// Explained instead of an answer that the model writes.
    pub given: Option<String>,
    /// What the model should answer.
    pub expected: Option<String>,
    pub output: Output,
    /// The prompt sentences that the answer needs, 0-based; with [`Output::Listed`] those that it repeats come instead.
    pub relevant: Option<Vec<usize>>,
    /// How many sentences the data set counts in the prompt and in the given answer, where it does.
    pub n_prompt: Option<usize>,
    pub n_given: Option<usize>,
}

/// The generated sentences to explain.
#[derive(Clone)]
pub enum Output {
    Last,
    Rows(Vec<usize>),
    /// All, in an answer that repeats prompt sentences: those that it repeats, and the request at the end, are relevant.
    Listed,
}

#[derive(Deserialize)]
struct Demo {
    prompt: String,
    answer: String,
    relevant: Vec<usize>,
}

#[derive(Deserialize)]
struct Math {
    question: String,
}

#[derive(Deserialize)]
struct Facts {
    prompt: String,
    target: String,
    generation_indices: Vec<usize>,
    indices_to_explain: Vec<usize>,
    claim_ids: Vec<u64>,
}

#[derive(Deserialize)]
struct MoreHopQa {
    question: String,
    context: Vec<(String, Vec<String>)>,
    #[serde(flatten)]
    _rest: Map<String, Value>,
}

/// The problems in a file, in its order.
pub fn read(task: Task, path: &Path) -> Result<Vec<Item>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let unreadable = |error: serde_json::Error| format!("{}: {error}", path.display());
    Ok(match task {
        Task::Demo => {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
            lines.map(|line| line.map(Demo::item)).collect::<Result<_, _>>().map_err(unreadable)?
        }
        Task::Math => serde_json::from_str::<Vec<Math>>(&text).map_err(unreadable)?.into_iter().map(Math::item).collect(),
        Task::Facts => serde_json::from_str::<Vec<Facts>>(&text).map_err(unreadable)?.into_iter().map(Facts::item).collect(),
        Task::Morehopqa => serde_json::from_str::<Vec<MoreHopQa>>(&text).map_err(unreadable)?.into_iter().map(MoreHopQa::item).collect(),
    })
}

impl Demo {
    fn item(self) -> Item {
        let lists = !self.answer.contains("The answer is");
        Item {
            prompt: self.prompt,
            given: None,
            expected: Some(self.answer),
            output: if lists { Output::Listed } else { Output::Last },
            relevant: Some(self.relevant),
            n_prompt: None,
            n_given: None,
        }
    }
}

impl Math {
    fn item(self) -> Item {
        let parts: Vec<&str> = sentences(&self.question).into_iter().map(|span| &self.question[span]).collect();
        let relevant = (0..parts.len()).map(|i| 2 * i).collect();
        let prompt = parts.join(&format!(" {DISTRACTOR} "));
        let n_prompt = Some(2 * parts.len() - 1);
        Item { prompt, given: None, expected: None, output: Output::Last, relevant: Some(relevant), n_prompt, n_given: None }
    }
}

impl Facts {
    fn item(self) -> Item {
        let relevant = self.indices_to_explain.iter().filter_map(|&row| self.generation_indices.get(row).copied()).collect();
        Item {
            prompt: self.prompt,
            given: Some(self.target),
            expected: None,
            output: Output::Rows(self.indices_to_explain),
            relevant: Some(relevant),
            // The claims and the request.
            n_prompt: Some(self.claim_ids.len() + 1),
            n_given: Some(self.generation_indices.len()),
        }
    }
}

impl MoreHopQa {
    fn item(self) -> Item {
        let context: Vec<String> = self.context.into_iter().map(|(_, sentences)| sentences.concat()).collect();
        let prompt = format!("{}\n{}", context.join("\n"), self.question);
        Item { prompt, given: None, expected: None, output: Output::Last, relevant: None, n_prompt: None, n_given: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distractors_go_between_the_sentences_of_a_question() {
        let item = Math { question: "Ann has 3 figs. She eats one.  How many are left?".into() }.item();
        assert_eq!(item.prompt, "Ann has 3 figs. Unrelated sentence. She eats one. Unrelated sentence. How many are left?");
        assert_eq!(item.relevant, Some(vec![0, 2, 4]));
    }

    #[test]
    fn of_facts_those_are_relevant_that_are_explained() {
        let facts = Facts {
            prompt: "..".into(),
            target: "..".into(),
            generation_indices: vec![1, 4, 8],
            indices_to_explain: vec![0, 1],
            claim_ids: vec![7; 9],
        };
        assert_eq!(facts.item().relevant, Some(vec![1, 4]));
    }
}
