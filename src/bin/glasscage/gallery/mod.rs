//! `glasscage gallery`: explains the page's example prompts beforehand, for its gallery and its lessons.

mod lessons;

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use glasscage::engine::Engine;
use glasscage::explanation::Document;
use glasscage::request::Question;
use glasscage::session::{ExplainResult, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use super::models::{BackendArgument, load};
use super::output;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long, default_value = "public/models/demo.gguf")]
    model: PathBuf,
    /// File with the page's examples
    #[arg(long, default_value = "public/models/demo-examples.json")]
    examples: PathBuf,
    /// Output folder. An earlier gallery there is replaced
    #[arg(long, default_value = "public/gallery")]
    out: PathBuf,
}

#[derive(Deserialize)]
struct ExampleFile {
    examples: Vec<Example>,
}

#[derive(Deserialize)]
struct Example {
    title: String,
    task: String,
    prompt: String,
    /// The right answer, where the model gives another one.
    right: Option<String>,
}

/// The explanation that the page opens with: the first example.
const WELCOME: &str = "welcome.json";

pub fn gallery(arguments: &Arguments) -> Result<(), String> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let json = fs::read_to_string(&arguments.examples).map_err(|error| failed(&arguments.examples, &error))?;
    let ExampleFile { examples } = serde_json::from_str(&json).map_err(|error| failed(&arguments.examples, &error))?;
    let mut session = load(&arguments.model, BackendArgument::Cpu)?;
    if arguments.out.exists() {
        fs::remove_dir_all(&arguments.out).map_err(|error| failed(&arguments.out, &error))?;
    }
    fs::create_dir_all(&arguments.out).map_err(|error| failed(&arguments.out, &error))?;
    let mut entries: Vec<Value> = Vec::new();
    for (number, example) in examples.iter().enumerate() {
        let mut document = explained(&mut session, &Question::greedy(&example.prompt))?;
        if number == 0 {
            let path = arguments.out.join(WELCOME);
            fs::write(&path, document.to_json() + "\n").map_err(|error| failed(&path, &error))?;
        }
        if example.task == "facts" {
            document.output = (0..document.generation.sentences.len()).collect();
        }
        let file = format!("{:02}-{}.json", number + 1, slug(&example.title));
        let path = arguments.out.join(&file);
        fs::write(&path, document.to_json() + "\n").map_err(|error| failed(&path, &error))?;
        let question = document.prompt.sentence_texts().last().map(|last| last.trim().to_owned()).unwrap_or_default();
        let about = match &example.right {
            Some(right) => format!("The model gets this one wrong: the answer is {right}. {question}"),
            None => question,
        };
        entries.push(json!({ "title": example.title, "about": about, "file": file }));
    }
    let prompt_of = |title: &str| examples.iter().find(|example| example.title == title).map(|example| example.prompt.clone());
    let mut lessons: Vec<Value> = Vec::new();
    for source in lessons::sources()? {
        let questions = source.questions(prompt_of)?;
        let explanations = questions.iter().map(|question| explained(&mut session, question)).collect::<Result<Vec<_>, _>>()?;
        let file = format!("lesson-{}.json", source.name);
        lessons.push(json!({ "title": source.title, "about": source.about, "file": file }));
        let path = arguments.out.join(file);
        fs::write(&path, source.with(explanations)?.to_json() + "\n").map_err(|error| failed(&path, &error))?;
    }
    let path = arguments.out.join("index.json");
    let index =
        serde_json::to_string_pretty(&json!({ "explanations": entries, "lessons": lessons })).map_err(|error| failed(&path, &error))?;
    fs::write(&path, index + "\n").map_err(|error| failed(&path, &error))?;
    output::print(&format!("{} explanations and {} lessons in {}\n", entries.len(), lessons.len(), arguments.out.display()))
}

fn explained(session: &mut Session<Engine>, question: &Question) -> Result<Document, String> {
    let outcome = pollster::block_on(session.explain(question, &mut async |_| ControlFlow::Continue(())));
    match outcome.map_err(|problem| problem.to_string())? {
        ExplainResult::Explained(document) => Ok(*document),
        _ => Err(format!("not explained: {}", question.prompt)),
    }
}

/// "Three facts, of nine" as "three-facts-of-nine".
fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_file_names() {
        assert_eq!(slug("Three facts, of nine"), "three-facts-of-nine");
    }
}
