//! Known small models, as data: `public/models/registry.json`.

use serde::Deserialize;

use super::messages::{Part, Wanted};

/// One model that is known to work. What is not certain is left out and taken from the server's answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Known {
    pub name: String,
    /// GGUF `general.architecture`.
    pub architecture: String,
    /// In millions.
    pub parameters_millions: u64,
    pub quantization: String,
    /// Of the file.
    pub bytes: Option<u64>,
    pub sha256: Option<String>,
    pub license: String,
    /// The longest text that the model was made for, in tokens.
    pub context_length: u64,
    /// Keys and values of one token, in bytes.
    pub bytes_per_token: u64,
    /// What it is good for, in a sentence.
    pub about: String,
    pub address: String,
}

impl Known {
    pub fn wanted(&self) -> Wanted {
        let part = Part { address: self.address.clone(), bytes: self.bytes, sha256: self.sha256.clone(), local: None };
        Wanted { name: self.name.clone(), parts: vec![part] }
    }
}

#[derive(Deserialize)]
struct Registry {
    models: Vec<Known>,
}

/// The models of the file, or none where it is something else.
pub fn parse(json: &str) -> Vec<Known> {
    serde_json::from_str(json).map(|registry: Registry| registry.models).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::address::file_address;

    #[test]
    fn every_known_model_has_an_address_of_hugging_face() {
        let models = parse(include_str!("../../public/models/registry.json"));
        assert_eq!(models.len(), 4);
        for known in models {
            assert_eq!(file_address(&known.address).as_ref(), Ok(&known.address), "{}", known.name);
            assert!(known.address.starts_with("https://huggingface.co/"), "{}", known.name);
        }
    }

    #[test]
    fn something_else_is_no_registry() {
        assert!(parse("<!doctype html>").is_empty());
    }
}
