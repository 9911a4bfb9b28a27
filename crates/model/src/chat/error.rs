//! Errors of chat templates.

use crate::gguf::WrongType;
use glasscage_message::ToMessage;
use glasscage_template::JinjaError;

/// Why a prompt could not be rendered in the chat template.
#[derive(Debug, thiserror::Error, ToMessage)]
pub enum ChatError {
    #[error("the chat template of this model cannot be used: {0}")]
    Template(#[from] JinjaError),
    #[error("the chat template of this model cannot be used: {0}")]
    NoText(#[from] WrongType),
    #[error("the chat template of this model does not repeat the prompt word for word")]
    NotVerbatim,
    /// The template repeats other prompts in full.
    #[error("the chat template of this model takes “{0}” out of this prompt")]
    TakesOut(String),
    /// The template renders other prompts.
    #[error("the chat template of this model refuses this prompt: {0}")]
    RefusesPrompt(JinjaError),
    #[error("this model has no chat template, so it cannot read a conversation")]
    NoTemplate,
    /// The template renders the conversation only without its system message, or leaves that message out.
    #[error("the chat template of this model has no place for a system message")]
    NoSystem,
    /// The template repeats a prompt alone.
    #[error("the chat template of this model does not repeat every turn of the conversation word for word")]
    NotEveryTurn,
    /// The template renders a prompt alone.
    #[error("the chat template of this model refuses this conversation: {0}")]
    RefusesConversation(JinjaError),
    #[error("the prompt has {tokens} tokens, more than the {limit} that fit")]
    TooLong { tokens: usize, limit: usize },
    #[error("the prompt has at least {fewest} tokens, more than the {limit} that fit")]
    FarTooLong { fewest: usize, limit: usize },
}
