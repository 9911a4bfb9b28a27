//! Which model answers, and where the engine finds it.

use serde::{Deserialize, Serialize};

use super::browser;
use crate::worker::client::ModelSource;

const BUILT_IN_MODEL: &str = "models/demo.gguf";
const KEY: &str = "glasscage.model";

/// The model that the visitor chose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Choice {
    #[default]
    BuiltIn,
    /// Local files of this name; read in place, and gone after a reload.
    Files(String),
    /// In the browser's storage, under this id.
    Kept { id: String, name: String },
    /// Downloaded, but only in memory: an address of this tab.
    Memory { address: String, name: String },
}

impl Choice {
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn => "Built-in model",
            Self::Files(name) | Self::Kept { name, .. } | Self::Memory { name, .. } => name,
        }
    }

    pub fn source(&self) -> ModelSource {
        match self {
            Self::BuiltIn => ModelSource::Url(browser::absolute(BUILT_IN_MODEL).unwrap_or_else(|| BUILT_IN_MODEL.into())),
            Self::Files(_) => ModelSource::Files,
            Self::Kept { id, .. } => ModelSource::Kept(id.clone()),
            Self::Memory { address, .. } => ModelSource::Url(address.clone()),
        }
    }

    /// The choice of the last visit, where it is still there.
    pub fn remembered() -> Self {
        browser::kept(KEY).map(|json| Self::parse(&json)).unwrap_or_default()
    }

    pub fn remember(&self) {
        let json = self.survives().then(|| serde_json::to_string(self).expect("plain data"));
        browser::keep(KEY, json.as_deref());
    }

    fn survives(&self) -> bool {
        matches!(self, Self::Kept { .. })
    }

    fn parse(json: &str) -> Self {
        serde_json::from_str(json).ok().filter(Self::survives).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_in_the_storage_is_chosen_again_on_the_next_visit() {
        let kept = Choice::Kept { id: "ab".into(), name: "Qwen".into() };
        assert_eq!(Choice::parse(&serde_json::to_string(&kept).unwrap()), kept);
        let file = serde_json::to_string(&Choice::Files("mine.gguf".into())).unwrap();
        for other in [&file, "{}", ""] {
            assert_eq!(Choice::parse(other), Choice::BuiltIn);
        }
    }
}
