//! Guesses of a tokenizer, and entries that it could not use. They change results, so the page shows them next to the model's name.

use glasscage_message::ToMessage;

/// Something in the metadata that is missing or is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
pub enum TokenizerNotice {
    #[error("the model file does not name its rules for splitting text (tokenizer.ggml.pre); the default rules are a guess")]
    NoPreTokenizer,
    #[error("the model file names token {id} by {key}, but there are only {tokens} tokens, so it counts as not named")]
    NoSuchToken { key: &'static str, id: i128, tokens: usize },
}
