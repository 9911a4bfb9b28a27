//! Errors of models and engines.

use glasscage_message::{Message, ToMessage};
use glasscage_model::config::ConfigError;
use glasscage_model::gguf::GgufError;
use glasscage_model::tensors::TensorsError;
use glasscage_model::tokenizer::TokenId;

/// Why an engine could not continue.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum LmError {
    #[error("prompt and answer have {tokens} tokens, {excess} more than the {limit} that this model can read", excess = tokens - limit)]
    TooLong { tokens: usize, limit: usize },
    #[error("the text has a token ({0}) that the model does not know")]
    UnknownToken(TokenId),
    #[error("the model returned a value that is not a number (NaN); its file may be damaged")]
    NotFinite,
    #[error("the model returned an impossible probability; this device computes incorrectly")]
    Impossible,
    #[error("this method reads attention, and some layers of this model have none")]
    WithoutAttention,
    /// The visitor pressed Stop while the engine computed.
    #[error("it was stopped")]
    Stopped,
    #[error("the engine failed: {0}")]
    Engine(Message),
    #[error("this browser or machine gives no access to a GPU")]
    NoGpu,
    #[error("the GPU stopped working: {0}")]
    DeviceLost(String),
    /// A repeated self-test failed. With its result.
    #[error("{0}")]
    FaultyGpu(Message),
    #[error("the GPU does not have enough memory: {megabytes} MB were in use", megabytes = bytes / 1_000_000)]
    OutOfGpuMemory { bytes: u64 },
}

impl LmError {
    /// Whether something failed. A stop by the visitor is not a failure.
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::Stopped)
    }
}

/// Why a model could not be loaded.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum LoadError {
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Tensors(#[from] TensorsError),
    #[error("there is not enough memory for this model")]
    TooLarge,
    #[error("the weights could not be read: {0}")]
    Weights(Message),
    #[error(transparent)]
    Engine(#[from] LmError),
}
