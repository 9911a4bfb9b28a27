//! The last answer, remembered.

use crate::explanation::{AnswerStop, AnswerWarning, Sampling};
use crate::model::tokenizer::TokenId;

/// An answer that was generated to its end, with all that it depends on: the same seed gives the same answer.
pub struct GeneratedAnswer {
    pub context: Vec<TokenId>,
    pub sampling: Sampling,
    pub max_tokens: usize,
    /// The longest thought, in tokens.
    pub thought_limit: usize,
    pub tokens: Vec<TokenId>,
    pub stop: AnswerStop,
    /// What the model's own check says of it, once it was asked.
    pub warning: Option<Option<AnswerWarning>>,
}
