//! The last answer, remembered.

use crate::explanation::{AnswerStop, Sampling};
use crate::model::tokenizer::TokenId;

/// An answer that was generated to its end, with all that it depends on: the same seed gives the same answer.
pub struct GeneratedAnswer {
    pub context: Vec<TokenId>,
    pub sampling: Sampling,
    pub max_tokens: usize,
    pub tokens: Vec<TokenId>,
    pub stop: AnswerStop,
}
