//! Errors in a model's sizes and settings.

use glasscage_message::{Message, ToMessage};

use crate::arch;
use crate::gguf::{GgufError, WrongType};
use crate::tokenizer::TokenizerError;

/// Why a model cannot run.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum ConfigError {
    #[error("this model’s architecture ({0}) is not supported; supported are {names}", names = arch::names())]
    Architecture(String),
    #[error("the model file does not state its architecture")]
    NoArchitecture,
    #[error("the model file does not state {0}")]
    Missing(String),
    #[error("the model file cannot be used: {0}")]
    Impossible(Message),
    #[error("this model scales positions by {0:?}, which is not supported")]
    RopeScaling(String),
    #[error("the model file cannot be used: {key} is {value}, which is not valid")]
    Absurd { key: String, value: f64 },
    #[error("the model file cannot be used: a value of rope_freqs.weight is {value}, which is not valid")]
    RopeFactor { value: f32 },
    #[error("this version does not support the setting {0} of this model file")]
    Setting(String),
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    #[error(transparent)]
    Gguf(#[from] GgufError),
}

impl From<WrongType> for ConfigError {
    fn from(error: WrongType) -> Self {
        Self::Gguf(error.into())
    }
}
