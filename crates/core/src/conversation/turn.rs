//! A turn of a conversation.

use crate::explanation::Speaker;

/// A turn with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTurn {
    pub speaker: Speaker,
    /// Without white space at its ends.
    pub content: String,
}
