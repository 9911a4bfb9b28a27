//! Explanations of texts in ordinary words, by models other than the built-in one.

use std::fs;
use std::path::Path;

use glasscage_engine::Engine;
use glasscage_library::standard;
use glasscage_protocol::request::Question;
use glasscage_session::Session;
use serde::Deserialize;
use serde_json::{Value, json};

use super::explained::{explained, slug, without_tokens};
use super::folder::{INDEX, NewFolder};

/// The texts that one model explains.
pub struct Texts {
    model: &'static str,
    /// Start of the names of these explanations. Other files of the gallery start with a digit, `lesson-` or `welcome`.
    prefix: &'static str,
    /// The texts in the order of the page. Answers are greedy, and no answer is edited.
    json: &'static str,
}

/// Ordinary texts, for a model of general use.
pub const SMOLLM2: Texts = Texts { model: "SmolLM2-135M-Instruct", prefix: "smollm2-", json: include_str!("smollm2.json") };
/// Problems in ordinary words.
pub const STANDARD: Texts = Texts { model: standard::NAME, prefix: "standard-", json: include_str!("standard.json") };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    title: String,
    /// One sentence about what a reader can check in the explanation.
    about: String,
    /// The text and a question about it.
    prompt: String,
    /// The right answer, if the model gives another one.
    right: Option<String>,
}

/// Entries of the index, and the explanation of the first one as JSON.
#[derive(Default)]
pub struct Explanations {
    pub entries: Vec<Value>,
    pub first: Option<String>,
}

impl Texts {
    /// Writes the explanations into `folder`: made by `session`, or without one those of an older gallery.
    pub fn explained_by(&self, session: Option<&mut Session<Engine>>, old: &Path, folder: &NewFolder) -> Result<Explanations, String> {
        match session {
            Some(session) => self.explain(session, folder),
            None => self.keep(old, folder),
        }
    }

    fn explain(&self, session: &mut Session<Engine>, folder: &NewFolder) -> Result<Explanations, String> {
        let texts: Vec<Text> = serde_json::from_str(self.json).map_err(|error| format!("texts for {}: {error}", self.model))?;
        let mut explanations = Explanations::default();
        for Text { title, about, prompt, right } in texts {
            let document = without_tokens(explained(session, &Question::greedy(&prompt))?);
            let file = format!("{}{}.json", self.prefix, slug(&title));
            let mut entry = json!({ "title": title, "about": format!("{}: {about}", self.model), "file": file });
            if let Some(right) = right {
                entry["right"] = json!(right);
            }
            explanations.add(entry, document.to_json() + "\n", folder)?;
        }
        Ok(explanations)
    }

    /// Copies nothing if `old` is not a gallery.
    fn keep(&self, old: &Path, folder: &NewFolder) -> Result<Explanations, String> {
        let mut explanations = Explanations::default();
        let index: Option<Value> = fs::read(old.join(INDEX)).ok().and_then(|json| serde_json::from_slice(&json).ok());
        for entry in index.iter().filter_map(|index| index["explanations"].as_array()).flatten() {
            if let Some(file) = entry["file"].as_str().filter(|file| file.starts_with(self.prefix)) {
                let json =
                    fs::read_to_string(old.join(file)).map_err(|error| format!("cannot read {file} in {}: {error}", old.display()))?;
                explanations.add(entry.clone(), json, folder)?;
            }
        }
        Ok(explanations)
    }
}

impl Explanations {
    fn add(&mut self, entry: Value, json: String, folder: &NewFolder) -> Result<(), String> {
        folder.write(entry["file"].as_str().unwrap_or_default(), &json)?;
        self.entries.push(entry);
        self.first.get_or_insert(json);
        Ok(())
    }
}
