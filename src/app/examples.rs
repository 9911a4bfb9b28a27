//! Prompts that show what the built-in model can do.

use serde::Deserialize;

/// Path of the examples, next to the model that they were made for.
pub const PATH: &str = "models/demo-examples.json";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Example {
    pub title: String,
    pub prompt: String,
    /// The prompt sentences that the answer needs (0-based).
    #[serde(default)]
    pub relevant: Vec<usize>,
    /// The end of the right answer, if the model's answer is wrong.
    #[serde(default)]
    pub right: Option<String>,
}

#[derive(Deserialize)]
struct ExampleFile {
    examples: Vec<Example>,
}

/// Parses the examples. Returns an empty list if the text is not a file of examples.
pub fn parse(json: &str) -> Vec<Example> {
    serde_json::from_str(json).map(|file: ExampleFile| file.examples).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_read_and_other_files_give_none() {
        let json = r#"{"examples": [{"title": "Scarves", "task": "sum", "prompt": "Robin...", "relevant": [0, 2], "right": "49"}]}"#;
        let example = Example { title: "Scarves".into(), prompt: "Robin...".into(), relevant: vec![0, 2], right: Some("49".into()) };
        assert_eq!(parse(json), [example]);
        assert!(parse("<!doctype html>").is_empty());
    }
}
