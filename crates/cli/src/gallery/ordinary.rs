//! Explanations of ordinary texts by SmolLM2-135M-Instruct, a model of general use.

use std::fs;
use std::path::Path;

use glasscage_engine::Engine;
use glasscage_protocol::request::Question;
use glasscage_session::Session;
use serde::Deserialize;
use serde_json::{Value, json};

use super::explained::{explained, slug, without_tokens};
use super::folder::{INDEX, NewFolder};

/// The texts in the order of the page. Answers are greedy, and no answer is edited.
const TEXTS: &str = include_str!("texts.json");
const MODEL: &str = "SmolLM2-135M-Instruct";
/// Start of the names of these explanations. Other files of the gallery start with a digit, `lesson-` or `welcome`.
const PREFIX: &str = "smollm2-";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    title: String,
    /// One sentence about what a reader can check in the explanation.
    about: String,
    /// The text and a question about it.
    prompt: String,
}

/// Entries of the index, and the explanation of the first one as JSON.
#[derive(Default)]
pub struct Ordinary {
    pub entries: Vec<Value>,
    pub first: Option<String>,
}

impl Ordinary {
    /// Explains the texts with this model, and writes the explanations into `folder`.
    pub fn explained_by(session: &mut Session<Engine>, folder: &NewFolder) -> Result<Self, String> {
        let texts: Vec<Text> = serde_json::from_str(TEXTS).map_err(|error| format!("texts.json: {error}"))?;
        let mut ordinary = Self::default();
        for Text { title, about, prompt } in texts {
            let document = without_tokens(explained(session, &Question::greedy(&prompt))?);
            let file = format!("{PREFIX}{}.json", slug(&title));
            let entry = json!({ "title": title, "about": format!("{MODEL}: {about}"), "file": file });
            ordinary.add(entry, document.to_json() + "\n", folder)?;
        }
        Ok(ordinary)
    }

    /// Copies the explanations of an older gallery into `folder`. Copies nothing if `old` is not a gallery.
    pub fn kept_from(old: &Path, folder: &NewFolder) -> Result<Self, String> {
        let mut ordinary = Self::default();
        let index: Option<Value> = fs::read(old.join(INDEX)).ok().and_then(|json| serde_json::from_slice(&json).ok());
        for entry in index.iter().filter_map(|index| index["explanations"].as_array()).flatten() {
            if let Some(file) = entry["file"].as_str().filter(|file| file.starts_with(PREFIX)) {
                let json =
                    fs::read_to_string(old.join(file)).map_err(|error| format!("cannot read {file} in {}: {error}", old.display()))?;
                ordinary.add(entry.clone(), json, folder)?;
            }
        }
        Ok(ordinary)
    }

    fn add(&mut self, entry: Value, json: String, folder: &NewFolder) -> Result<(), String> {
        folder.write(entry["file"].as_str().unwrap_or_default(), &json)?;
        self.entries.push(entry);
        self.first.get_or_insert(json);
        Ok(())
    }
}
