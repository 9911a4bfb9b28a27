//! The last answer, remembered.

use glasscage_core::explanation::{AnswerStop, AnswerWarning, Sampling};
use glasscage_model::tokenizer::TokenId;

/// A generated answer with all its inputs. The same inputs and seed give the same answer.
pub struct GeneratedAnswer {
    pub context: Vec<TokenId>,
    pub sampling: Sampling,
    pub max_tokens: usize,
    /// Maximum length of the thinking section, in tokens.
    pub thought_limit: usize,
    pub tokens: Vec<TokenId>,
    pub stop: AnswerStop,
    /// Result of the answer classifier, once it has run.
    pub warning: Option<Option<AnswerWarning>>,
}
