//! The choice of the model, and where the engine finds the model.

use serde::{Deserialize, Serialize};

use crate::app::i18n::t;
use crate::worker::engine::protocol::ModelSource;

/// The model that the visitor chose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelChoice {
    #[default]
    BuiltIn,
    /// Local files with this name. The engine reads them in place. After a reload, the visitor must open them again.
    Files(String),
    /// A model in the browser's storage, with this id.
    #[serde(rename = "Kept")]
    Stored { id: String, name: String },
    /// A downloaded model that is only in memory, at an object URL of this tab.
    Memory { address: String, name: String },
}

impl ModelChoice {
    /// Name of the built-in model in documents.
    pub const BUILT_IN: &str = "Glasscage demo";

    /// JSON that is stored when the choice is not remembered.
    pub const NONE: &str = "null";

    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn => t!("Built-in model"),
            Self::Files(name) | Self::Stored { name, .. } | Self::Memory { name, .. } => name,
        }
    }

    /// Where the engine finds the model. `built_in` is the address of the built-in model.
    pub fn source(&self, built_in: &str) -> ModelSource {
        match self {
            Self::BuiltIn => ModelSource::Url(built_in.to_owned()),
            Self::Files(_) => ModelSource::Files,
            Self::Stored { id, .. } => ModelSource::Stored(id.clone()),
            Self::Memory { address, .. } => ModelSource::Url(address.clone()),
        }
    }

    /// JSON for the next visit. `None` unless the model is stored or consists of local files that can be opened again.
    pub fn to_json(&self) -> Option<String> {
        let is_remembered = matches!(self, Self::Stored { .. } | Self::Files(_));
        is_remembered.then(|| serde_json::to_string(self).expect("plain data"))
    }

    /// The stored model that was chosen on the last visit, else the built-in model.
    pub fn from_json(json: &str) -> Self {
        serde_json::from_str(json).ok().filter(|choice| matches!(choice, Self::Stored { .. })).unwrap_or_default()
    }

    /// Name of the local files of the last visit. Browsers do not read them again without the visitor.
    pub fn files_from_json(json: &str) -> Option<String> {
        if let Ok(Self::Files(name)) = serde_json::from_str(json) { Some(name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_visit_chooses_only_stored_models() {
        let stored = ModelChoice::Stored { id: "ab".into(), name: "Qwen".into() };
        assert_eq!(ModelChoice::from_json(&stored.to_json().unwrap()), stored);
        assert_eq!(ModelChoice::from_json(r#"{"Kept":{"id":"ab","name":"Qwen"}}"#), stored, "as earlier versions wrote it");
        assert_eq!(ModelChoice::Memory { address: "blob:1".into(), name: "Qwen".into() }.to_json(), None);
        let files = ModelChoice::Files("mine.gguf".into()).to_json().unwrap();
        assert_eq!(
            (ModelChoice::from_json(&files), ModelChoice::files_from_json(&files)),
            (ModelChoice::BuiltIn, Some("mine.gguf".into()))
        );
        for other in [r#"{"Files":"mine.gguf"}"#, "{}", "", ModelChoice::NONE] {
            assert_eq!(ModelChoice::from_json(other), ModelChoice::BuiltIn);
        }
    }
}
