//! `glasscage gallery`: explains the page's example prompts beforehand, for its gallery and its lessons.

mod folder;
mod lessons;

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use glasscage_core::explanation::Document;
use glasscage_engine::Engine;
use glasscage_protocol::request::Question;
use glasscage_session::{ExplainResult, Session};
use serde::Deserialize;
use serde_json::{Value, json};

use super::models::{BackendArgument, load};
use super::output;
use folder::{INDEX, NewFolder, WELCOME};
use lessons::LessonSource;

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long, default_value = "public/models/demo.gguf")]
    model: PathBuf,
    /// File with the page's examples
    #[arg(long, default_value = "public/models/demo-examples.json")]
    examples: PathBuf,
    /// The folder of the gallery: made, or replaced as a whole. A folder with anything else in it is refused
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
    /// The right answer, if the model gives another one.
    right: Option<String>,
}

pub fn gallery(arguments: &Arguments) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", arguments.examples.display());
    let json = fs::read_to_string(&arguments.examples).map_err(|error| failed(&error))?;
    let ExampleFile { examples } = serde_json::from_str(&json).map_err(|error| failed(&error))?;
    let prompt_of = |title: &str| examples.iter().find(|example| example.title == title).map(|example| example.prompt.clone());
    let asked = |source: LessonSource| Ok((source.questions(prompt_of)?, source));
    let lessons = lessons::sources()?.into_iter().map(asked).collect::<Result<Vec<_>, String>>()?;
    let folder = NewFolder::beside(&arguments.out)?;
    let mut session = load(&arguments.model, BackendArgument::Cpu)?;
    let mut entries: Vec<Value> = Vec::new();
    for (number, example) in examples.iter().enumerate() {
        let mut document = explained(&mut session, &Question::greedy(&example.prompt))?;
        if number == 0 {
            folder.write(WELCOME, &(document.to_json() + "\n"))?;
        }
        if example.task == "facts" {
            document.output = (0..document.generation.sentences.len()).collect();
        }
        let file = format!("{:02}-{}.json", number + 1, slug(&example.title));
        folder.write(&file, &(document.to_json() + "\n"))?;
        let question = document.prompt.sentence_texts().last().map(|last| last.trim().to_owned()).unwrap_or_default();
        let mut entry = json!({ "title": example.title, "about": question, "file": file });
        if let Some(right) = &example.right {
            entry["right"] = json!(right);
        }
        entries.push(entry);
    }
    let mut lesson_entries: Vec<Value> = Vec::new();
    for (questions, source) in lessons {
        let explanations = questions.iter().map(|question| explained(&mut session, question)).collect::<Result<Vec<_>, _>>()?;
        let file = format!("lesson-{}.json", source.name);
        lesson_entries.push(json!({ "title": source.title, "about": source.about, "file": file }));
        folder.write(&file, &(source.with(explanations)?.to_json() + "\n"))?;
    }
    let index = json!({ "explanations": entries, "lessons": lesson_entries });
    folder.write(INDEX, &(serde_json::to_string_pretty(&index).map_err(|error| error.to_string())? + "\n"))?;
    folder.finish()?;
    output::print(&format!("{} explanations and {} lessons in {}\n", entries.len(), lesson_entries.len(), arguments.out.display()))
}

fn explained(session: &mut Session<Engine>, question: &Question) -> Result<Document, String> {
    let outcome = pollster::block_on(session.explain(question, &mut async |_| ControlFlow::Continue(())));
    match outcome.map_err(|problem| problem.to_string())? {
        ExplainResult::Explained(document) => Ok(*document),
        _ => Err(format!("not explained: {}", question.prompt)),
    }
}

/// Converts "Three facts, of nine" to "three-facts-of-nine".
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
