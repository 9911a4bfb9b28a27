//! Errors in a GGUF file.

use glasscage_message::{Message, ToMessage};

use super::metadata::WrongType;
use crate::quant;
use crate::source::SourceError;

/// Why a GGUF file cannot be read.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum GgufError {
    #[error("this is not a GGUF model file")]
    NotGguf,
    #[error("this GGUF file has version {0}; versions 2 and 3 are supported")]
    Version(u32),
    #[error("the file ends in the middle of its header; it may be cut off")]
    Truncated,
    #[error("the file is cut off: tensor {name} ends at byte {end}, the file at byte {size}")]
    CutOff { name: String, end: u64, size: u64 },
    #[error("the header of this file is damaged: {0}")]
    Damaged(Message),
    #[error("tensor {name} has a type ({id}) that is not supported; supported are {names}", names = quant::names())]
    TensorType { name: String, id: u32 },
    #[error("this is part {number} of {of} of a split model; all parts have to be opened together")]
    Split { number: u64, of: u64 },
    #[error("the model has no tensor {0}")]
    MissingTensor(String),
    #[error("the header of this file is damaged: the key {0} occurs twice")]
    RepeatedKey(String),
    #[error("the file is damaged: tensor {0} has a weight that is not a number")]
    NotFinite(String),
    #[error(transparent)]
    WrongType(#[from] WrongType),
    #[error(transparent)]
    Source(#[from] SourceError),
}
