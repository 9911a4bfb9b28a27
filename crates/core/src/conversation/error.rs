//! Errors of conversations.

use glasscage_message::ToMessage;

/// Why a text cannot be read as a conversation that a model can answer. Turns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, ToMessage)]
pub enum ConversationError {
    #[error("this text is not a conversation: it must start with a turn such as \u{201c}User:\u{201d}, and have at least two speakers")]
    NoTurns,
    #[error("the conversation is not valid JSON: {0}")]
    Json(String),
    #[error("turn {turn} of the conversation is empty")]
    EmptyTurn { turn: usize },
    #[error("turn {turn} of the conversation contains something other than text")]
    NotText { turn: usize },
    #[error("turn {turn} of the conversation has text after its end")]
    AfterEnd { turn: usize },
    #[error("the conversation has the unknown role {0:?}")]
    UnknownRole(String),
    #[error("turn {turn} of the conversation is a system message, but only the first turn can be one")]
    SystemNotFirst { turn: usize },
    #[error("the conversation ends with an answer")]
    EndsWithAnswer,
    #[error("the conversation does not end with a turn of the user")]
    NoUserTurn,
}
