//! Known small models, as data: `public/models/registry.json`.

use serde::Deserialize;

use super::download_spec::{DownloadSpec, FileSpec};

/// One model. Uncertain facts are omitted and taken from the server's response.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RegistryEntry {
    pub name: String,
    /// GGUF `general.architecture`.
    pub architecture: String,
    /// Number of parameters, in millions.
    pub parameters_millions: u64,
    pub quantization: String,
    /// Size of the file.
    pub bytes: Option<u64>,
    pub sha256: Option<String>,
    pub license: String,
    /// Context length of the model, in tokens.
    pub context_length: u64,
    /// Keys and values of one token, in bytes.
    pub bytes_per_token: u64,
    /// One sentence about its use.
    pub about: String,
    /// Whether this model is untested here. Its description then comes from the publisher.
    #[serde(default)]
    pub untried: bool,
    pub address: String,
}

impl RegistryEntry {
    pub fn spec(&self) -> DownloadSpec {
        let file = FileSpec { address: self.address.clone(), bytes: self.bytes, sha256: self.sha256.clone(), object_url: None };
        DownloadSpec { name: self.name.clone(), files: vec![file] }
    }
}

#[derive(Deserialize)]
struct Registry {
    models: Vec<RegistryEntry>,
}

/// The models of the file. Empty if it is not a registry.
pub fn parse(json: &str) -> Vec<RegistryEntry> {
    serde_json::from_str(json).map(|registry: Registry| registry.models).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::address::file_address;

    #[test]
    fn every_known_model_has_an_address_of_hugging_face() {
        let models = parse(include_str!("../../../public/models/registry.json"));
        let addresses: HashSet<&str> = models.iter().map(|model| model.address.as_str()).collect();
        assert!(!models.is_empty() && addresses.len() == models.len(), "no model is listed twice");
        for model in &models {
            assert_eq!(file_address(&model.address).as_ref(), Ok(&model.address), "{}", model.name);
            assert!(model.address.starts_with("https://huggingface.co/"), "{}", model.name);
        }
    }

    #[test]
    fn registry_entries_keep_listed_facts_in_spec() {
        let models = parse(include_str!("../../../public/models/registry.json"));
        for model in &models {
            let spec = model.spec();
            let [file] = &spec.files[..] else { panic!("{} is one file", model.name) };
            assert_eq!((&spec.name, &file.address, file.bytes, &file.sha256), (&model.name, &model.address, model.bytes, &model.sha256));
        }
    }

    #[test]
    fn something_else_is_no_registry() {
        assert!(parse("<!doctype html>").is_empty());
    }
}
