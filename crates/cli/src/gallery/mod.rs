//! `glasscage gallery`: explains the page's example prompts beforehand, for its gallery and its lessons.

mod explained;
mod folder;
mod lessons;
mod texts;

use std::fs;
use std::path::PathBuf;

use clap::Args;
use glasscage_protocol::request::Question;
use serde::Deserialize;
use serde_json::{Value, json};

use super::models::{BackendArgument, load};
use super::output;
use explained::{explained, slug, without_tokens};
use folder::{INDEX, NewFolder, WELCOME};
use lessons::LessonSource;
use texts::{SMOLLM2, STANDARD};

#[derive(Args)]
pub struct Arguments {
    /// A GGUF file
    #[arg(long, default_value = "public/models/demo.gguf")]
    model: PathBuf,
    /// File with the page's examples
    #[arg(long, default_value = "public/models/demo-examples.json")]
    examples: PathBuf,
    /// GGUF file of SmolLM2-135M-Instruct, which explains ordinary texts and three lessons; without it, their explanations in the folder
    /// stay as they are
    #[arg(long)]
    ordinary_model: Option<PathBuf>,
    /// First part of Glasscage Standard, which explains problems in ordinary words; without it, their explanations in the folder stay as
    /// they are
    #[arg(long)]
    standard_model: Option<PathBuf>,
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
    let load_on_cpu = |model: &PathBuf| load(model, BackendArgument::Cpu);
    let mut ordinary_session = arguments.ordinary_model.as_ref().map(load_on_cpu).transpose()?;
    let mut standard_session = arguments.standard_model.as_ref().map(load_on_cpu).transpose()?;
    let ordinary = SMOLLM2.explained_by(ordinary_session.as_mut(), &arguments.out, &folder)?;
    let standard = STANDARD.explained_by(standard_session.as_mut(), &arguments.out, &folder)?;
    let mut session = load_on_cpu(&arguments.model)?;
    let mut welcome = ordinary.first.or(standard.first);
    let mut entries = [ordinary.entries, standard.entries].concat();
    for (number, example) in examples.iter().enumerate() {
        let mut document = without_tokens(explained(&mut session, &Question::greedy(&example.prompt))?);
        welcome.get_or_insert_with(|| document.to_json() + "\n");
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
        let file = format!("lesson-{}.json", source.name);
        lesson_entries.push(json!({ "title": source.title, "about": source.about, "file": file }));
        let lesson = match (source.asks_ordinary_model, &mut ordinary_session) {
            (false, _) => source.explained_by(&mut session, &questions)?,
            (true, Some(session)) => source.explained_by(session, &questions)?,
            (true, None) => source.kept_from(&arguments.out.join(&file))?,
        };
        folder.write(&file, &(lesson.to_json() + "\n"))?;
    }
    if let Some(welcome) = welcome {
        folder.write(WELCOME, &welcome)?;
    }
    let index = json!({ "explanations": entries, "lessons": lesson_entries });
    folder.write(INDEX, &(serde_json::to_string_pretty(&index).map_err(|error| error.to_string())? + "\n"))?;
    folder.finish()?;
    output::print(&format!("{} explanations and {} lessons in {}\n", entries.len(), lesson_entries.len(), arguments.out.display()))
}
