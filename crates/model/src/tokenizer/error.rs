//! Errors in the tokenizer of a model file.

use glasscage_message::ToMessage;

use super::token::TokenId;
use crate::gguf::WrongType;

/// Why the metadata do not describe a working tokenizer.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum TokenizerError {
    #[error("the model file contains no tokenizer: {0} is missing")]
    Missing(&'static str),
    #[error("the tokenizer of this model is of type “{0}”, which is not supported; supported are gpt2 and llama")]
    Model(String),
    #[error("this model splits text by the rules “{name}”, which are not supported; supported are {known}")]
    PreTokenizer { name: String, known: String },
    #[error("the tokenizer of this model is damaged: {key} has {found} entries for {tokens} tokens")]
    Length { key: &'static str, found: usize, tokens: usize },
    #[error("the tokenizer of this model is damaged: tokens {first} and {second} have the same text")]
    Duplicate { first: TokenId, second: TokenId },
    #[error("the tokenizer of this model is damaged: the text of token {0} is too long")]
    TooLong(TokenId),
    #[error("the tokenizer of this model is damaged: it has too many tokens")]
    TooMany,
    #[error("the tokenizer of this model is damaged: entry {0} of its merges is not two tokens that make a third")]
    Merge(usize),
    #[error("the tokenizer of this model is damaged: it has no token <0x{0:02X}>")]
    NoByte(u8),
    #[error("the tokenizer of this model is damaged: token {0} is marked as a byte but is not one")]
    NotAByte(TokenId),
    #[error("the model file asks for a token at the beginning of a text, but does not state which")]
    NoBeginning,
    #[error("the model file does not state which token ends a text")]
    NoEnd,
    #[error("the tokenizer of this model is damaged: {0}")]
    Build(String),
    #[error(transparent)]
    WrongType(#[from] WrongType),
}
